"""The AstrBot flavour: published AstrBot plugins, unmodified, in one process and one event loop.

The package `astrbot` holds what plugins import; this package loads them, takes their events through filters
and handlers, and answers the host's callbacks of turns."""

from callgate_worker.flavours.astrbot.flavour import AstrBot

FLAVOUR = AstrBot()
