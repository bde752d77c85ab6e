"""OneBot."""
