"""The steps of a message and of a turn: each runs the hooks of all enabled plugins.

A hook that raises or takes too long is logged and left out; the others count.
"""

import asyncio
import inspect
import time
from collections.abc import Callable
from typing import Any

from callgate_worker import host
from nekro_agent import chat_keys, parts, platforms, texts
from nekro_agent.core.logger import logger
from nekro_agent.schemas.agent_ctx import AgentCtx, WebhookRequest
from nekro_agent.schemas.chat_message import ChatMessage, ChatType, segments_from_list
from nekro_agent.schemas.signal import MsgSignal, merge
from nekro_agent.services.plugin.base import NekroPlugin
from nekro_agent.services.plugin.collector import plugin_collector
from nekro_agent.services.plugin.prompt_activation import get_plugin_brief, sleeping
from nekro_agent.services.plugin.task import task
from nekro_agent.services.timer.recurring_timer_service import recurring_timer_service
from nekro_agent.services.timer.timer_service import timer_service

from callgate_worker.flavours.nekro import commands, matchers

_PROMPT_LIMIT = 10.0
_MESSAGE_LIMIT = 120.0
# Where upstream has a platform of that name, a plugin may say that it does not support it.
_PLATFORMS = frozenset(
    "onebot_v11 web qqbot_openclaw discord telegram feishu wxwork wxwork_corp_app wechatpad "
    "wechat_openilink wechat_ilink_multi email minecraft bilibili_live sse".split()
)


async def call(
    plugin: str, method: str, positional: list[Any], named: dict[str, Any], context: dict[str, Any]
) -> Any:
    """A method, by its function's name or by the decorator's. The context is its first argument."""
    found = plugin_collector.get_plugin(plugin)
    if found is None:
        raise LookupError(f"the plugin {plugin} is not loaded")
    function = _method(found, method)
    result = function(AgentCtx.of_context(context), *positional, **named)
    return await result if inspect.isawaitable(result) else result


def _method(plugin: NekroPlugin, name: str) -> Callable[..., Any]:
    by_function = {method.func.__name__: method.func for method in plugin.sandbox_methods}
    by_title = {method.name: method.func for method in plugin.sandbox_methods}
    function = by_function.get(name) or by_title.get(name)
    if function is None:
        raise LookupError(f"{plugin.key} has no method {name}")
    return function


async def message(context: dict[str, Any], message: dict[str, Any], **_: Any) -> dict[str, Any]:
    """What the plugins say of a message. A command that waits for it takes it away."""
    platforms.met(chat_keys.platform_of(context["chat_key"]), message.get("self_id"))
    platforms.named(context["chat_key"], message.get("chat_name"))
    if await commands.take(context, message):
        return {"signal": MsgSignal.BLOCK_TRIGGER.name, "taken": True}
    if await matchers.hear(context, message):
        return {"signal": MsgSignal.BLOCK_TRIGGER.name, "taken": True}
    ctx, given = AgentCtx.of_context(context), chat_message(context, message)
    signal = await user_message(context, ctx, given)
    return {"signal": signal.name, "text": given.content_text}


async def user_message(context: dict[str, Any], ctx: AgentCtx, given: ChatMessage) -> MsgSignal:
    return await _signals("on_user_message_method", _active(context), ctx, given)


async def system_message(context: dict[str, Any], text: str, **_: Any) -> dict[str, Any]:
    ctx = AgentCtx.of_context(context)
    signal = await _signals("on_system_message_method", _active(context), ctx, text)
    return {"signal": signal.name}


def _active(context: dict[str, Any]) -> list[NekroPlugin]:
    """Those that hear of this session; the operator may have switched some off there."""
    off = context.get("off") or ()
    return [it for it in plugin_collector.get_all_active_plugins() if it.key not in off]


async def _signals(hook: str, plugins: list[NekroPlugin], *given: Any) -> MsgSignal:
    """One plugin after another, as they were loaded: a hook may change the message for the next."""
    said = []
    for plugin in plugins:
        function = getattr(plugin, hook)
        if function is not None:
            said += await _together([(plugin, hook, function, given)], _MESSAGE_LIMIT)
    return merge(said)


async def reset(context: dict[str, Any], **_: Any) -> None:
    ctx = AgentCtx.of_context(context)
    jobs: list[Job] = [
        (plugin, "reset", plugin.on_reset_method, (ctx,)) for plugin in _active(context) if plugin.on_reset_method
    ]
    await _together(jobs, _MESSAGE_LIMIT)


async def collect(context: dict[str, Any], **_: Any) -> dict[str, Any]:
    """For one round: the texts that go into the prompt, and the methods that are shown."""
    ctx = AgentCtx.of_context(context)
    plugins = _active(context)
    asleep = await sleeping(plugins, ctx)
    hidden = {it.key for it in plugins if not _supports(it, ctx)}
    shown = [it for it in plugins if it.key not in asleep | hidden]
    injecting = [it for it in shown if it.prompt_inject_method]
    choosing = [it for it in shown if it._collect_methods_func]
    adding = [(it, "prompt_inject", it.render_inject_prompt, (ctx,)) for it in injecting]
    picking = [(it, "collect_methods", it.collect_available_methods, (ctx,)) for it in choosing]
    prompts, chosen = await asyncio.gather(
        _together(adding, _PROMPT_LIMIT), _together(picking, _PROMPT_LIMIT)
    )
    told = [(it.key, str(text)) for it, text in zip(injecting, prompts, strict=True) if text]
    briefs = [(it.key, _brief(it)) for it in plugins if it.key in asleep - hidden]
    names = {key: [] for key in asleep | hidden}
    for plugin, picked in zip(choosing, chosen, strict=True):
        # A plugin whose choice failed shows what it always shows.
        if picked is not None:
            names[plugin.key] = [method.func.__name__ for method in picked]
    return {
        "prompts": [{"plugin": key, "text": text} for key, text in [*told, *briefs]],
        "methods": [{"plugin": key, "names": picked} for key, picked in names.items()],
    }


def _brief(plugin: NekroPlugin) -> str:
    return texts.SLEEPING.format(name=plugin.name, module=plugin.module_name, brief=get_plugin_brief(plugin))


def _supports(plugin: NekroPlugin, ctx: AgentCtx) -> bool:
    wanted = plugin.support_adapter
    return not wanted or ctx.adapter_key in wanted or ctx.adapter_key not in _PLATFORMS


async def webhook(plugin: str, endpoint: str, headers: dict[str, str], body: Any, **_: Any) -> None:
    """The plugin hears a request to its endpoint."""
    given = body if isinstance(body, dict) else {"body": body}
    request = WebhookRequest(headers={k.lower(): str(v) for k, v in headers.items()}, body=given)
    found = dict(plugin_collector.get_webhook_methods_by_endpoint(endpoint)).get(plugin)
    if found is None:
        raise LookupError(f"{plugin} has no webhook {endpoint}")
    await asyncio.wait_for(found(await AgentCtx.create_by_webhook(request)), _MESSAGE_LIMIT)


async def timer(name: str, payload: dict[str, Any], due: float, id: str, **_: Any) -> None:
    """A timer that the host kept is due."""
    if name == "recurring":
        await recurring_timer_service.due(payload["job_id"], due)
    else:
        await timer_service.due(payload, due, id)


async def tasks(action: str, type: str = "", id: str = "", **_: Any) -> Any:
    """Background tasks: `list` them, or `cancel` one."""
    if action == "list":
        return [_task_row(*key.split(":", 1)) for key in task.get_running_tasks()]
    if action == "cancel":
        return await task.cancel(type, id)
    raise ValueError(f"a task step is 'list' or 'cancel', not '{action}'")


def _task_row(task_type: str, task_id: str) -> dict[str, Any]:
    handle, state = task.get_handle(task_type, task_id), task.get_state(task_type, task_id)
    return {
        "type": task_type,
        "id": task_id,
        "chat_key": handle.chat_key if handle else "",
        "plugin": handle.plugin.key if handle and handle.plugin else "",
        "message": state.message if state else "",
        "progress": state.progress if state else None,
    }


def chat_message(context: dict[str, Any], given: dict[str, Any]) -> ChatMessage:
    """A message of the host in Nekro's form."""
    chat_key = context["chat_key"]
    user = {**(context.get("user") or {}), **(given.get("sender") or {})}
    name, kind = user.get("name") or user.get("id") or "", chat_keys.type_of(chat_key)
    content = given.get("parts") or [{"type": "text", "text": given.get("text") or ""}]
    segments = parts.to_segments(content, chat_key)
    text = given.get("text")
    return ChatMessage(
        message_id=str(given.get("id") or ""),
        sender_id=str(user.get("id") or ""),
        sender_name=name,
        sender_nickname=user.get("nickname") or name,
        adapter_key=chat_keys.adapter_of(chat_key),
        platform_userid=str(user.get("id") or ""),
        is_tome=int(bool(given.get("to_me"))),
        chat_key=chat_key,
        chat_type=ChatType(kind) if kind in ("group", "private") else ChatType.UNKNOWN,
        content_text=text if text is not None else "".join(it["text"] for it in segments),
        content_data=segments_from_list(segments),
        raw_cq_code=str(given.get("raw") or ""),
        ext_data={"ref_msg_id": given["reference"]} if given.get("reference") else {},
        send_timestamp=int(given.get("time") or time.time()),
    )


Job = tuple[NekroPlugin, str, Callable[..., Any], tuple[Any, ...]]


async def _together(jobs: list[Job], limit: float) -> list[Any]:
    """All at once, each in a task of its own, so that each has its plugin's name."""
    return list(await asyncio.gather(*(_guarded(job, limit) for job in jobs)))


async def _guarded(job: Job, limit: float) -> Any:
    """The result, or None for a hook that failed or took too long."""
    plugin, hook, function, given = job
    token = host.plugin.set(plugin.key)
    try:
        result = function(*given)
        return await asyncio.wait_for(result, limit) if inspect.isawaitable(result) else result
    except TimeoutError:
        logger.error(f"{plugin.key}: {hook} took longer than {limit:g} s and was given up")
    # Also one that calls `sys.exit`: it ends nobody but itself.
    except (Exception, SystemExit) as error:
        logger.opt(exception=error).error(f"{plugin.key}: {hook} failed: {error!r}")
    finally:
        host.plugin.reset(token)
    return None
