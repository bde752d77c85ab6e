"""The host's models in the shape plugins call them."""
