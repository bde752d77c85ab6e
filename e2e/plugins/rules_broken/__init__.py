"""Every rule broken once; it loads all the same."""

from nekro_agent.api.plugin import NekroPlugin, SandboxMethodType
from nekro_agent.api.schemas import AgentCtx

plugin = NekroPlugin(
    name="Rules broken",
    module_name="rules_broken",
    description="What check warns about",
    version="1.0.0",
    author="callgate",
    url="https://example.invalid/callgate",
)


@plugin.mount_sandbox_method(SandboxMethodType.TOOL, "not_async")
def not_async(_ctx: AgentCtx) -> str:
    """Not `async def`.

    Returns:
        str: A text.
    """
    return "still called"


@plugin.mount_sandbox_method(SandboxMethodType.TOOL, "other_context")
async def other_context(ctx: AgentCtx) -> None:
    """The context has another name."""


@plugin.mount_sandbox_method(SandboxMethodType.TOOL, "unannotated")
async def unannotated(_ctx: AgentCtx, word) -> None:
    """A parameter without its type.

    Args:
        word: A word.
    """


@plugin.mount_sandbox_method(SandboxMethodType.TOOL, "undocumented")
async def undocumented(_ctx: AgentCtx) -> None:
    return None


@plugin.mount_sandbox_method(SandboxMethodType.TOOL, "late_summary")
async def late_summary(_ctx: AgentCtx) -> None:
    """
    The summary is not in the first line.
    """


@plugin.mount_sandbox_method(SandboxMethodType.TOOL, "wrong_args")
async def wrong_args(_ctx: AgentCtx, told: str, untold: str) -> None:
    """Args that do not match.

    Args:
        _ctx (AgentCtx): Nobody passes it.
        told (str): Described.
        invented (str): There is no such parameter.
    """


@plugin.mount_sandbox_method(SandboxMethodType.TOOL, "no_returns")
async def no_returns(_ctx: AgentCtx) -> str:
    """The result is not described."""
    return ""


@plugin.mount_sandbox_method(SandboxMethodType.AGENT, "agentGivesDict")
async def agent_gives_dict(_ctx: AgentCtx) -> dict:
    """An agent method gives text.

    Returns:
        dict: Not a text.
    """
    return {"a": 1}


@plugin.mount_sandbox_method(SandboxMethodType.BEHAVIOR, "behavior_gives_bool")
async def behavior_gives_bool(_ctx: AgentCtx) -> bool:
    """A behavior method gives text.

    Returns:
        bool: Not a text.
    """
    return True


@plugin.mount_sandbox_method(SandboxMethodType.MULTIMODAL_AGENT, "multimodal_gives_int")
async def multimodal_gives_int(_ctx: AgentCtx) -> int:
    """A multimodal method gives parts.

    Returns:
        int: No parts.
    """
    return 1
