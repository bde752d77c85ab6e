"""Who is signed in, for routes of plugins."""
