"""Plugins that sleep: a chat sees only their brief until one is activated for some rounds."""

from typing import Literal

from callgate_worker import host
from pydantic import BaseModel, ValidationError

from nekro_agent.core.config import config
from nekro_agent.schemas.agent_ctx import AgentCtx
from nekro_agent.services.plugin.base import NekroPlugin

DEFAULT_ACTIVE_ROUNDS = 3
MAX_ACTIVE_ROUNDS = 20
PluginActivationStrategy = Literal["auto", "allow_sleep", "forbid_sleep"]
_OWNER, _NAME = "nekro.activation", "module_rounds"


class PluginActivationState(BaseModel):
    """Rounds left for each awakened plugin of a chat."""

    module_rounds: dict[str, int] = {}


def get_plugin_activation_strategy(module_name: str) -> PluginActivationStrategy:
    return config.PLUGIN_ACTIVATION_STRATEGIES.get(module_name, "auto")


def plugin_supports_sleep(plugin: NekroPlugin) -> bool:
    return bool(plugin.sleep_brief)


def is_sleep_effective(plugin: NekroPlugin) -> bool:
    """Compat(nekro): a plugin sleeps only where it says so and has a brief."""
    strategy = get_plugin_activation_strategy(plugin.module_name)
    if plugin.allow_sleep is False or strategy == "forbid_sleep" or not plugin_supports_sleep(plugin):
        return False
    return strategy == "allow_sleep" or plugin.allow_sleep is True


async def get_activation_state(chat_key: str) -> PluginActivationState:
    stored = await host.call("data_get", plugin=_OWNER, chat=chat_key, user="", name=_NAME)
    try:
        return PluginActivationState.model_validate_json(stored or "{}")
    except ValidationError:
        return PluginActivationState()


async def save_activation_state(chat_key: str, state: PluginActivationState) -> None:
    value = state.model_dump_json()
    await host.call("data_set", plugin=_OWNER, chat=chat_key, user="", name=_NAME, value=value)


def normalize_rounds(rounds: int | None) -> int:
    return min(max(1, rounds or DEFAULT_ACTIVE_ROUNDS), MAX_ACTIVE_ROUNDS)


async def activate_module_for_chat(chat_key: str, module_name: str, rounds: int | None = None) -> int:
    return await _set_rounds(chat_key, module_name, rounds, add=False)


async def extend_module_for_chat(chat_key: str, module_name: str, rounds: int | None = None) -> int:
    return await _set_rounds(chat_key, module_name, rounds, add=True)


async def _set_rounds(chat_key: str, module_name: str, rounds: int | None, *, add: bool) -> int:
    state = await get_activation_state(chat_key)
    before = state.module_rounds.get(module_name, 0)
    total = min(normalize_rounds(rounds) + (before if add else 0), MAX_ACTIVE_ROUNDS)
    state.module_rounds[module_name] = total
    await save_activation_state(chat_key, state)
    return total


def get_plugin_brief(plugin: NekroPlugin) -> str:
    return plugin.sleep_brief or plugin.description


async def render_plugin_prompt_for_agent(
    plugin: NekroPlugin, ctx: AgentCtx, rounds_left: int | None = None
) -> str:
    """All that a model should know of a plugin it has just awakened."""
    told = [f"{plugin.name} ({plugin.module_name})"]
    if rounds_left is not None:
        told[0] += f", rounds left: {rounds_left}"
    told += [await plugin.render_inject_prompt(ctx), await plugin.render_sandbox_methods_prompt(ctx)]
    return "\n".join(part for part in told if part)


async def sleeping(plugins: list[NekroPlugin], ctx: AgentCtx) -> set[str]:
    """The keys of those asleep in this chat; each awake one has a round less afterwards."""
    from nekro_agent.services.plugin.collector import plugin_collector

    sleepers = [plugin for plugin in plugins if is_sleep_effective(plugin)]
    # Nobody sleeps where nothing could wake them.
    if not sleepers or plugin_collector.get_method("activate_plugin") is None:
        return set()
    state = await get_activation_state(ctx.chat_key)
    awake = {it.module_name: state.module_rounds.get(it.module_name, 0) for it in sleepers}
    left = {name: rounds - 1 for name, rounds in awake.items() if rounds > 1}
    if left != state.module_rounds:
        await save_activation_state(ctx.chat_key, PluginActivationState(module_rounds=left))
    return {plugin.key for plugin in sleepers if awake[plugin.module_name] <= 0}
