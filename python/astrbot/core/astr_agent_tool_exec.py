"""Runs one tool: which callable, with what first argument, with a time limit on each of its results."""

from __future__ import annotations

import asyncio
import inspect
import traceback
import uuid
from collections.abc import AsyncGenerator, Callable
from typing import Any

from astrbot import logger, markers, texts
from astrbot.core.agent.handoff import HandoffTool
from astrbot.core.agent.message import Message
from astrbot.core.agent.result import CallToolResult, TextContent
from astrbot.core.agent.run_context import ContextWrapper
from astrbot.core.agent.tool import FunctionTool, ToolSet
from astrbot.core.agent.tool_executor import BaseFunctionToolExecutor
from astrbot.core.astr_agent_context import AstrAgentContext
from astrbot.core.message.message_event_result import MessageChain, MessageEventResult
from astrbot.core.provider.register import llm_tools
from callgate_worker import host

_background: set[asyncio.Task] = set()


class FunctionToolExecutor(BaseFunctionToolExecutor[AstrAgentContext]):
    @classmethod
    async def execute(
        cls, tool: FunctionTool, run_context: ContextWrapper[AstrAgentContext], **tool_args: Any
    ) -> AsyncGenerator[CallToolResult | None, None]:
        """Yields results; None means that the tool answered the user itself."""
        if isinstance(tool, HandoffTool):
            behind = tool_args.pop("background_task", False)
            work = _handoff(tool, run_context, tool_args)
            said = texts.HANDOFF_BACKGROUND
        else:
            behind = tool.is_background_task
            work = _local(tool, run_context, tool_args)
            said = texts.TOOL_BACKGROUND
        if not behind:
            async for result in work:
                yield result
            return
        task = uuid.uuid4().hex
        _start(_report(tool, run_context, work, task))
        agent = tool.agent.name if isinstance(tool, HandoffTool) else ""
        yield _text(said.format(task=task, agent=agent))


def _text(words: str) -> CallToolResult:
    return CallToolResult(content=[TextContent(type="text", text=words)])


def _start(work: Any) -> None:
    task = asyncio.create_task(work)
    _background.add(task)
    task.add_done_callback(_background.discard)


async def _report(tool: FunctionTool, run_context: ContextWrapper, work: AsyncGenerator, task: str) -> None:
    """Background work ends as a message to the session's own agent."""
    said = []
    try:
        async for result in work:
            said += [
                item.text for item in (result.content if result else ()) if isinstance(item, TextContent)
            ]
    except Exception as error:
        logger.exception("background task %s failed", task)
        said.append(markers.TOOL_ERROR.format(error=error))
    session = run_context.context.event.unified_msg_origin
    words = (
        f"[BackgroundTask] {tool.name} (task_id={task}) finished. Result: {' '.join(said) or 'no content'}"
    )
    await host.call("system_push", session=session, text=words, trigger=True)


async def _local(
    tool: FunctionTool, run_context: ContextWrapper[AstrAgentContext], tool_args: dict[str, Any]
) -> AsyncGenerator[CallToolResult | None, None]:
    event = run_context.context.event
    results = _results(run_context, *_callable(tool), tool_args)
    limit = run_context.tool_call_timeout
    while True:
        try:
            result = await asyncio.wait_for(anext(results), timeout=limit)
        except StopAsyncIteration:
            return
        except TimeoutError:
            raise Exception(markers.TOOL_TIMEOUT.format(name=tool.name, seconds=limit)) from None
        if result is None:
            answered = event.get_result()
            if answered and answered.chain:
                await event.send(MessageChain(chain=answered.chain, type="tool_direct_result"))
            yield None
        else:
            yield result if isinstance(result, CallToolResult) else _text(str(result))


def _callable(tool: FunctionTool) -> tuple[Callable[..., Any], bool]:
    """The function to run, and whether it takes the run's context (else the event)."""
    if tool.handler:
        return tool.handler, False
    overridden = getattr(type(tool), "call", FunctionTool.call) is not FunctionTool.call
    if overridden:
        return tool.call, True
    if hasattr(tool, "run"):
        return tool.run, False
    raise ValueError(texts.TOOL_NO_HANDLER)


async def _results(
    run_context: ContextWrapper[AstrAgentContext],
    function: Callable[..., Any],
    wants_context: bool,
    arguments: dict,
) -> AsyncGenerator[Any, None]:
    event = run_context.context.event
    try:
        begun = function(run_context if wants_context else event, **arguments)
    except ValueError as error:
        raise Exception(texts.TOOL_VALUE_ERROR.format(error=error)) from error
    except TypeError as error:
        raise Exception(texts.TOOL_MISMATCH.format(parameters=_signature(function))) from error
    except Exception as error:
        raise Exception(
            texts.TOOL_EXECUTION_ERROR.format(error=error, trace=traceback.format_exc())
        ) from error
    if inspect.isasyncgen(begun):
        yielded = False
        async for result in begun:
            yielded = True
            yield _seen(event, result)
        if not yielded:
            yield None
    elif inspect.iscoroutine(begun):
        yield _seen(event, await begun)


def _seen(event: Any, result: Any) -> Any:
    if isinstance(result, MessageEventResult):
        event.set_result(result)
        return None
    return result


def _signature(function: Callable[..., Any]) -> str:
    shown = []
    for parameter in list(inspect.signature(function).parameters.values())[1:]:
        hint = parameter.annotation
        word = parameter.name
        if hint is not inspect.Parameter.empty:
            word += f": {hint.__name__ if isinstance(hint, type) else hint}"
        if parameter.default is not inspect.Parameter.empty:
            word += f" = {parameter.default!r}"
        shown.append(word)
    return ", ".join(shown) or texts.TOOL_NO_PARAMETERS


async def _handoff(
    tool: HandoffTool, run_context: ContextWrapper[AstrAgentContext], tool_args: dict[str, Any]
) -> AsyncGenerator[CallToolResult, None]:
    context, event = run_context.context.context, run_context.context.event
    session = event.unified_msg_origin
    pictures = tool_args.get("image_urls")
    reply = await context.tool_loop_agent(
        event=event,
        chat_provider_id=tool.provider_id or await context.get_current_chat_provider_id(session),
        prompt=tool_args.get("input"),
        image_urls=[pictures] if isinstance(pictures, str) else list(pictures or []),
        system_prompt=tool.agent.instructions,
        tools=handoff_tools(tool.agent.tools),
        contexts=[_message(dialog) for dialog in tool.agent.begin_dialogs or []] or None,
        max_steps=int(context.get_config()["provider_settings"].get("max_agent_step", 30)),
        tool_call_timeout=run_context.tool_call_timeout,
        agent_hooks=tool.agent.run_hooks,
    )
    yield _text(reply.completion_text or "")


def _message(dialog: Any) -> Message:
    return dialog if isinstance(dialog, Message) else Message.model_validate(dialog)


def handoff_tools(wanted: list[str | FunctionTool] | None) -> ToolSet | None:
    """None: everything registered except other handoffs; a list: those, by name or as objects."""
    chosen = ToolSet()
    if wanted is None:
        for tool in llm_tools.get_full_tool_set():
            if tool.active and not isinstance(getattr(tool, "_wrapped", tool), HandoffTool):
                chosen.add_tool(tool)
    for item in wanted or ():
        tool = llm_tools.get_func(item) if isinstance(item, str) else item
        if tool is not None and tool.active:
            chosen.add_tool(tool)
    return chosen or None
