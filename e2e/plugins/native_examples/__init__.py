"""One method of each kind, and what else a plugin can do."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from callgate import (
    Context,
    Message,
    Signal,
    State,
    agent,
    behavior,
    command,
    config,
    method,
    multimodal_agent,
    on_message,
    prompt,
    tool,
)

from .shelves import SHELVES

state = State()


@dataclass
class Settings:
    """Settings of the examples.

    Args:
        excerpt: Characters of a message that its report repeats.
        tone: How the prompt speaks.
    """

    excerpt: int = 30
    tone: Literal["plain", "warm"] = "plain"


settings = config(Settings)


@method
def add(a: int, b: int) -> int:
    """Add two whole numbers.

    Args:
        a: One of them.
        b: The other.

    Returns:
        Their sum.

    Example:
        print(add(2, 3))
    """
    return a + b


@tool(title="The time", effect="pure")
def time_now() -> datetime:
    """Tell the date and time.

    Returns:
        A datetime, not a text.

    Example:
        print(time_now().year)
    """
    return datetime.now()


@agent
async def search_shelves(query: str) -> str:
    """Look a word up, and think again about what was found.

    Args:
        query: The word.

    Returns:
        What the shelves say, or that they say nothing.

    Example:
        search_shelves("tea")
    """
    found = [text for word, text in SHELVES.items() if query.lower() in word]
    return "\n".join(found) or f"Nothing about '{query}' stands on the shelves."


@behavior
async def tell(ctx: Context, text: str) -> str:
    """Send a text to the chat we are in.

    Args:
        text: The text.

    Returns:
        Whether it went out.

    Example:
        tell("Hello!")
    """
    await ctx.send(text)
    return f"Sent '{text[: settings.excerpt]}'."


@multimodal_agent
def dot(topic: str) -> list[dict[str, Any]]:
    """Draw a picture about something, and look at it.

    Args:
        topic: What to draw.

    Returns:
        A text and the picture.

    Example:
        dot("a dot")
    """
    return [
        {"type": "text", "text": f"A picture about '{topic}'."},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}},
    ]


@behavior
async def prefer(ctx: Context, name: str, value: str) -> str:
    """Keep what the person we talk to prefers.

    Args:
        name: Of the preference.
        value: What they prefer.

    Returns:
        What was kept.

    Example:
        prefer("theme", "dark")
    """
    await ctx.user_state.set(name, value)
    await state.set("kept", await state.get("kept", 0) + 1)
    return f"{ctx.user.id} prefers {value} as {name}."


@tool
async def preference(ctx: Context, name: str) -> str | None:
    """Tell what the person we talk to prefers.

    Args:
        name: Of the preference.

    Returns:
        What they prefer, or None.

    Example:
        print(preference("theme"))
    """
    return await ctx.user_state.get(name)


@command("kept", aliases=("k",), operator=True)
async def kept(times: int = 1) -> str:
    """How many preferences were kept."""
    return f"{(await state.get('kept', 0)) * times} kept"


@on_message
async def heard(ctx: Context, message: Message) -> Signal | None:
    return Signal.NO_TURN if message.text.startswith("psst") else None


@prompt
async def told(ctx: Context) -> str:
    return f"Speak in a {settings.tone} tone."
