"""Tools, agents and their messages."""
