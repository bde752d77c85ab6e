"""Matrix, with a homeserver and clients that others wrote: Synapse and matrix-nio."""
