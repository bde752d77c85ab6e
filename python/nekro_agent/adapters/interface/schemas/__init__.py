"""Messages on their way to and from a platform."""
