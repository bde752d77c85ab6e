"""Commands of OneBot plugins."""
