"""One sandbox method of each kind, written the way Nekro Agent's plugins are."""

import datetime
from typing import Any, Dict, List, Optional

from nekro_agent.api import message
from nekro_agent.api.plugin import ConfigBase, NekroPlugin, SandboxMethodType
from nekro_agent.api.schemas import AgentCtx
from pydantic import Field

plugin = NekroPlugin(
    name="Examples",
    module_name="nekro_examples",
    description="One method of each kind",
    version="1.0.0",
    author="callgate",
    url="https://example.invalid/callgate",
)


@plugin.mount_config()
class ExamplesConfig(ConfigBase):
    """Settings of the examples."""

    EXCERPT: int = Field(default=30, title="Characters of a message that its report repeats")


config: ExamplesConfig = plugin.get_config(ExamplesConfig)

SHELVES = {"tea": "Green tea is brewed at 80 degrees.", "coffee": "Coffee wants 93 degrees."}
DOT = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk"
    "+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


@plugin.mount_sandbox_method(
    method_type=SandboxMethodType.TOOL,
    name="calculate_sum",
    description="Adds two whole numbers.",
)
async def my_sum_function(_ctx: AgentCtx, num1: int, num2: int) -> int:
    """Add two whole numbers.

    Args:
        num1 (int): One of them.
        num2 (int): The other.

    Returns:
        int: Their sum.

    Example:
        ```python
        print(my_sum_function(2, 3))
        ```
    """
    return num1 + num2


@plugin.mount_sandbox_method(SandboxMethodType.TOOL, "get_current_time", "Tells the time.")
async def get_time(_ctx: AgentCtx) -> str:
    """Tell the date and time.

    Returns:
        str: In ISO 8601.

    Example:
        ```python
        print(get_time())
        ```
    """
    return datetime.datetime.now().isoformat()


@plugin.mount_sandbox_method(
    SandboxMethodType.AGENT, "search_knowledge_base", "Looks a word up on our shelves."
)
async def search_kb(_ctx: AgentCtx, query: str) -> str:
    """Look a word up, and think again about what was found.

    Args:
        query (str): The word.

    Returns:
        str: What the shelves say, or that they say nothing.

    Example:
        ```python
        search_kb("tea")
        ```
    """
    found = [text for word, text in SHELVES.items() if query.lower() in word]
    if not found:
        return f"Nothing about '{query}' stands on the shelves."
    lines = "\n".join(found)
    return f"The shelves say about '{query}':\n{lines}"


@plugin.mount_sandbox_method(
    SandboxMethodType.BEHAVIOR, "send_channel_message", "Sends a text to this chat."
)
async def send_chat_message(_ctx: AgentCtx, text_to_send: str) -> str:
    """Send a text to the chat we are in.

    Args:
        text_to_send (str): The text.

    Returns:
        str: Whether it went out.

    Example:
        ```python
        send_chat_message("Hello!")
        ```
    """
    try:
        await message.send_text(_ctx.from_chat_key, text_to_send, _ctx)
    except Exception as error:
        return f"Failed to send message: {error}"
    return f"Message '{text_to_send[: config.EXCERPT]}...' has been successfully sent."


@plugin.mount_sandbox_method(
    SandboxMethodType.MULTIMODAL_AGENT,
    "generate_image_and_comment",
    "Draws a picture and says what it shows.",
)
async def generate_image_with_comment(_ctx: AgentCtx, topic: str) -> List[Dict[str, Any]]:
    """Draw a picture about something, and look at it.

    Args:
        topic (str): What to draw.

    Returns:
        List[Dict[str, Any]]: A text and the picture.

    Example:
        ```python
        generate_image_with_comment("a dot")
        ```
    """
    return [
        {"type": "text", "text": f"A picture about '{topic}'."},
        {"type": "image_url", "image_url": {"url": DOT}},
    ]


@plugin.mount_sandbox_method(
    SandboxMethodType.TOOL, "get_user_preference", "Tells what somebody prefers."
)
async def get_user_preference(
    _ctx: AgentCtx, user_id: str, preference_key: str
) -> Optional[str]:
    """Tell what somebody prefers.

    Preferences are kept for each person, whatever the chat.

    Args:
        user_id (str): Whose preference.
        preference_key (str): Which one, such as "theme" or "language".

    Returns:
        Optional[str]: The preference, or None if there is none.

    Example:
        ```python
        theme = get_user_preference(user_id="user_123", preference_key="theme")
        if theme:
            print(f"User's theme is: {theme}")
        else:
            print("No theme is known.")
        ```
    """
    return await plugin.store.get(user_key=user_id, store_key=preference_key)


@plugin.mount_sandbox_method(SandboxMethodType.TOOL, "where_am_i", "Tells chat and sender.")
async def where_am_i(_ctx: AgentCtx) -> Dict[str, Optional[str]]:
    """Tell in which chat and for whom the code runs.

    Returns:
        Dict[str, Optional[str]]: `chat` and `user`.

    Example:
        ```python
        print(where_am_i()["chat"])
        ```
    """
    return {"chat": _ctx.from_chat_key, "user": _ctx.from_user_id}


@plugin.mount_cleanup_method()
async def clean_up() -> None:
    """Nothing is left open."""


async def not_mounted(_ctx: AgentCtx) -> str:
    """An ordinary function: nobody but this file can call it."""
    return "unreachable"
