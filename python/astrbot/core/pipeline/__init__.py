"""The event's way through plugins; the way itself is the flavour's (`callgate_worker.flavours.astrbot`)."""
