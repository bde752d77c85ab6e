"""NAME: what this plugin is for, in one line.

A typed function with a docstring becomes a method. Its kind decides what the result does:

    the AI's code goes on with the value ............................. @tool
    the AI reads the text and thinks again at once ................... @agent
    the text is noted in the chat, for the AI and for people ......... @behavior
    the AI looks at pictures or sound and thinks again at once ....... @multimodal_agent
"""

from dataclasses import dataclass
from typing import Any

from callgate import Context, agent, behavior, command, config, multimodal_agent, prompt, tool


@dataclass
class Settings:
    """Kept in config.toml; `callgate plugin config NAME` shows and changes them.

    Args:
        greeting: How people are greeted.
    """

    greeting: str = "Hello"


settings = config(Settings)


@tool
def count_words(text: str) -> dict[str, int]:
    """Count how often each word occurs.

    Args:
        text: Any text.

    Returns:
        Words and how often they occur.

    Example:
        print(count_words("to be or not to be")["to"])
    """
    counted: dict[str, int] = {}
    for word in text.lower().split():
        counted[word] = counted.get(word, 0) + 1
    return counted


@agent
async def look_up_note(ctx: Context, name: str) -> str:
    """Look up what was noted, and think again with it.

    Args:
        name: Under which name it was noted.

    Returns:
        What was noted, or that nothing was.

    Example:
        look_up_note("birthday")
    """
    noted = await ctx.state.get(name)
    return f"{name}: {noted}" if noted else f"Nothing is noted under {name}."


@behavior
async def write_note(ctx: Context, name: str, text: str) -> str:
    """Note something for this chat. It lasts.

    Args:
        name: Under which name.
        text: What to note.

    Returns:
        What was noted.

    Example:
        write_note("birthday", "3 May")
    """
    await ctx.state.set(name, text)
    return f"Noted {name}."


@multimodal_agent
def dot(colour: str = "red") -> list[dict[str, Any]]:
    """Look at a dot.

    Args:
        colour: Of the dot.

    Returns:
        A text and a picture.

    Example:
        dot("red")
    """
    picture = f"<svg xmlns='http://www.w3.org/2000/svg'><circle r='9' fill='{colour}'/></svg>"
    return [
        {"type": "text", "text": f"A {colour} dot."},
        {"type": "image_url", "image_url": {"url": f"data:image/svg+xml;utf8,{picture}"}},
    ]


@command("greet")
def greet(name: str = "you") -> str:
    """Greet somebody: /greet Ada"""
    return f"{settings.greeting}, {name}!"


@prompt
def told() -> str:
    return f"People here like to be greeted with {settings.greeting!r}."
