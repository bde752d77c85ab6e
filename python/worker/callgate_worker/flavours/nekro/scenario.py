"""Steps that only scenarios use: one plugin's injection, prompt block, cleanup, and code in the worker."""

import asyncio
import json
import textwrap
from typing import Any

from nekro_agent.models.db_chat_channel import DBChatChannel, DefaultPreset
from nekro_agent.models.db_chat_message import DBChatMessage
from nekro_agent.models.db_exec_code import DBExecCode
from nekro_agent.models.db_plugin_data import DBPluginData
from nekro_agent.models.db_preset import DBPreset
from nekro_agent.models.db_recurring_timer_job import DBRecurringTimerJob
from nekro_agent.models.db_user import DBUser
from nekro_agent.schemas.agent_ctx import AgentCtx
from nekro_agent.schemas.chat_message import ChatMessage
from nekro_agent.schemas.signal import MsgSignal
from nekro_agent.services.plugin.base import NekroPlugin
from nekro_agent.services.plugin.collector import plugin_collector

_MODELS = (
    DBChatChannel, DBChatMessage, DBExecCode, DBPluginData, DBPreset, DBRecurringTimerJob, DBUser,
    DefaultPreset, ChatMessage, MsgSignal, AgentCtx,
)


def _known(plugin: str) -> NekroPlugin:
    found = plugin_collector.get_plugin(plugin)
    if found is None:
        raise LookupError(f"the plugin {plugin} is not loaded")
    return found


async def inject(plugin: str, context: dict[str, Any]) -> str:
    return await _known(plugin).render_inject_prompt(AgentCtx.of_context(context))


async def prompt(plugin: str, context: dict[str, Any]) -> str:
    return await _known(plugin).render_sandbox_methods_prompt(AgentCtx.of_context(context))


async def cleanup(plugin: str) -> None:
    found = _known(plugin)
    if found.cleanup_method is not None:
        await found.cleanup_method()


async def run(plugin: NekroPlugin, context: dict[str, Any], source: str) -> str:
    """The body of an `async def`, run here; its result as Python writes it."""
    names = {
        "plugin": plugin,
        "ctx": AgentCtx.of_context(context),
        "asyncio": asyncio,
        "json": json,
        **{model.__name__: model for model in _MODELS},
    }
    body = f"async def step():\n{textwrap.indent(source, '    ')}"
    exec(compile(body, "<scenario>", "exec"), names)  # noqa: S102 -- the step of a scenario
    return repr(await names["step"]())
