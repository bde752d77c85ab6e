"""Commands that people type in a chat."""
