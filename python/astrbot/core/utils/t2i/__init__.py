"""Text and HTML rendered to pictures."""
