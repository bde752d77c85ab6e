"""A native plugin for the page's tests: bread that says how far it is, and waits to be taken out."""

import asyncio

from callgate import Context, tool

_taken_out = asyncio.Event()


@tool
async def bake(context: Context) -> str:
    """Bakes a loaf."""
    await context.progress(1, 3, "kneading")
    await _taken_out.wait()
    await context.progress(3, 3, "baked")
    return "a loaf"


@tool
def take_out() -> str:
    """Takes the loaf out of the oven."""
    _taken_out.set()
    return "out"
