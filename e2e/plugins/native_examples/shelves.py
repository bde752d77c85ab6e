"""What the examples know."""

SHELVES = {"tea": "Green tea is brewed at 80 degrees.", "coffee": "Coffee wants 93 degrees."}
