"""The answer of the model. The host runs the turn; its texts come here to be decorated and sent, its tool
calls and hooks come back as steps under the event's reference."""

from __future__ import annotations

import copy
import json
import logging
import uuid
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

from callgate_worker import host, language
from callgate_worker.flavours.astrbot.runtime import Runtime

logger = logging.getLogger("astrbot")

_FIELDS = ("prompt", "system_prompt", "contexts", "model")


async def run(runtime: Runtime, event: Any) -> AsyncGenerator[None]:
    """Yields after each text that is set as the event's result, to be delivered."""
    from astrbot import texts
    from astrbot.core.message.message_event_result import MessageChain
    from astrbot.core.pipeline.context_utils import call_event_hook
    from astrbot.core.star.star_handler import EventType

    request = event.get_extra("provider_request")
    if request is None and not _says_something(event):
        return
    if await call_event_hook(event, EventType.OnWaitingLLMRequestEvent):
        return
    wanted = event.get_extra("selected_provider")
    if isinstance(wanted, str) and wanted and wanted not in runtime.context.provider_manager.inst_map:
        await event.send(MessageChain().message(language.say(texts.PROVIDER_NOT_THERE, id=wanted)))
        return
    turn = Turn(runtime, event)
    try:
        # A handler of this very message may have brought a tool.
        await runtime.catalogue.tell()
        async with aclosing(turn.answers(request)) as answers:
            async for _ in answers:
                yield
    except host.HostError as error:
        logger.error("the turn of %s failed: %s", event.unified_msg_origin, error)
        said = await turn.personas_words() or language.say(texts.TURN_FAILED, error=error)
        await event.send(MessageChain().message(said))
    finally:
        turn.close()


def _says_something(event: Any) -> bool:
    from astrbot.core.message.components import File, Image, Record, Reply, Video

    kinds = (Image, File, Record, Video, Reply)
    return bool(event.message_str.strip()) or any(isinstance(part, kinds) for part in event.get_messages())


class Turn:
    """What the host may call back while a turn runs."""

    def __init__(self, runtime: Runtime, event: Any) -> None:
        from astrbot.core.agent.runs import RUNS, Run
        from astrbot.core.astr_agent_context import AgentContextWrapper, AstrAgentContext
        from astrbot.core.astr_agent_hooks import MAIN_AGENT_HOOKS

        self.event = event
        self.apart = False
        self.manager = runtime.context.provider_manager.llm_tools
        self._settings = runtime.context.get_config()["provider_settings"]
        limit = int(self._settings.get("tool_call_timeout", 120))
        context = AgentContextWrapper(
            context=AstrAgentContext(context=runtime.context, event=event), tool_call_timeout=limit
        )
        # Two turns may run under one event: `yield event.request_llm()` and then the ordinary answer.
        ref = (
            event.callgate_ref
            if event.callgate_ref not in RUNS
            else f"{event.callgate_ref}+{uuid.uuid4().hex[:8]}"
        )
        self.run = Run(ref, context, MAIN_AGENT_HOOKS)
        TURNS[ref] = self

    def close(self) -> None:
        TURNS.pop(self.run.ref, None)
        self.run.close()

    async def answers(self, request: Any) -> AsyncGenerator[None]:
        from astrbot import texts

        stream = host.stream(
            "turn_run",
            ref=self.run.ref,
            session=self.event.unified_msg_origin,
            row=self.event.get_extra("callgate_row"),
            request=self._asked(request),
            hooks=["request"] if self._listens() else [],
            tool_timeout=self.run.context.tool_call_timeout,
            last_words=texts.LAST_STEP,
        )
        answered = False
        try:
            async for item in stream:
                if item.get("type") == "end":
                    # Coming back for more told the host that the answer is out.
                    continue
                answered = bool(item.get("final"))
                async with aclosing(self._said(item)) as said:
                    async for _ in said:
                        yield
                if not answered and (self.event.is_stopped() or self.event.get_extra("agent_stop_requested")):
                    return
            ended = stream.result or {}
            if not answered and ended.get("role") == "err" and ended.get("stop") != "cancelled":
                async with aclosing(self._said(ended)) as said:
                    async for _ in said:
                        yield
        finally:
            if answered:
                # Said is said: a stopped event does not keep the turn from being recorded.
                async for _ in stream:
                    pass
            await stream.aclose()

    def _listens(self) -> bool:
        """Tools are always wanted back: they get this event, not one made up for the call."""
        from astrbot.core.star.star_handler import EventType, star_handlers_registry

        points = (EventType.OnLLMRequestEvent, EventType.OnAgentBeginEvent)
        return bool(self.manager.func_list) or any(
            star_handlers_registry.get_handlers_by_event_type(point, plugins_name=self.event.plugins_name)
            for point in points
        )

    async def _said(self, item: dict[str, Any]) -> AsyncGenerator[None]:
        from astrbot import texts
        from astrbot.core.message.message_event_result import (
            MessageChain,
            MessageEventResult,
            ResultContentType,
        )
        from astrbot.core.provider.hosted import response

        reply = response({**item, "role": item.get("role") or "assistant", "tool_calls": None})
        content = ResultContentType.LLM_RESULT
        if reply.role == "err":
            content = ResultContentType.GENERAL_RESULT
            said = await self.personas_words() or reply.completion_text or language.say(texts.MODEL_SILENT)
            chain = MessageChain().message(said)
        else:
            if self._streams():
                # It was seen as it came, so that it is kept as it is; hooks only hear of it.
                await self.event.send(MessageChain().message(reply.completion_text or ""))
                content = ResultContentType.STREAMING_FINISH
            if item.get("final"):
                await self.run._hook("on_agent_done", reply)
                if self.event.is_stopped():
                    # What its hooks have set is said instead.
                    return
            chain = reply.result_chain or MessageChain().message(reply.completion_text or "")
        self.event.set_result(MessageEventResult(chain=chain.chain, result_content_type=content))
        yield
        self.event.clear_result()

    def _streams(self) -> bool:
        """Compat(astrbot): where a stream was chosen, hooks cannot change an answer any more. It need not be chosen
        here: words are shown as they come in any case."""
        chosen = self.event.get_extra("enable_streaming")
        return bool(self._settings.get("streaming_response") if chosen is None else chosen)

    async def personas_words(self) -> str | None:
        """What the persona says where the model fails."""
        personas = self.run.context.context.context.persona_manager
        live = self.event.get_extra("provider_request")
        chosen = personas.get_persona_v3_by_id(
            getattr(getattr(live, "conversation", None), "persona_id", None)
        )
        chosen = chosen or await personas.get_default_persona_v3(self.event.unified_msg_origin)
        return (chosen.get("custom_error_message") or "").strip() or None

    def _asked(self, request: Any) -> dict[str, Any] | None:
        """What the host does not know: a plugin's own request, a message that lost its wake prefix, a model
        that a handler chose for this message alone."""
        chosen = self.event.get_extra("selected_provider")
        model = {"model": chosen} if isinstance(chosen, str) and chosen else {}
        if request is not None:
            # Compat(astrbot): without a conversation there is no persona, no history and none of the registered
            # tools, and nothing of it is kept.
            self.apart = request.conversation is None
            if not self.apart and request.func_tool:
                request.func_tool.merge(self._registered())
            given = {name: value for name, value in self._data(request).items() if value}
            if self.apart:
                given.setdefault("tools", [])
            else:
                given.pop("contexts", None)
            return {"own": True, "apart": self.apart, **model, **given}
        said = self.event.message_str
        prompt = {} if said == self.event.message_obj.message_str.strip() else {"prompt": said}
        return {**prompt, **model} or None

    def _data(self, request: Any) -> dict[str, Any]:
        data = {name: getattr(request, name) for name in _FIELDS}
        data["images"] = [_url(one) for one in request.image_urls or []]
        data["extra_user_content_parts"] = [_part(one) for one in request.extra_user_content_parts or []]
        data["tools"] = self.run.offer(request.func_tool)
        data["conversation"] = request.conversation.cid if request.conversation else None
        return data

    def _registered(self) -> Any:
        """Every tool that a chat of this session has."""
        tools = self.manager.get_full_tool_set()
        for tool in [one for one in tools if not one.active]:
            tools.remove_tool(tool.name)
        return tools

    async def request(self, request: dict[str, Any]) -> dict[str, Any]:
        """All on_llm_request hooks over one live request, then on_agent_begin; what changed goes back."""
        from astrbot.core.pipeline.context_utils import call_event_hook
        from astrbot.core.star.star_handler import EventType

        live = self._live(request)
        before = copy.deepcopy(self._data(live))
        self.event.set_extra("provider_request", live)
        if await call_event_hook(self.event, EventType.OnLLMRequestEvent, live):
            return {"stop": True}
        self.run.see(await self._messages(live))
        await self.run._hook("on_agent_begin")
        after = self._data(live)
        return {name: value for name, value in after.items() if name == "tools" or value != before[name]}

    def _live(self, request: dict[str, Any]) -> Any:
        from astrbot.core.agent.message import ContentPart
        from astrbot.core.agent.tool import ToolSet
        from astrbot.core.db.po import Conversation
        from astrbot.core.provider.entities import ProviderRequest

        contexts = request.get("contexts") or []
        live = ProviderRequest(
            prompt=request.get("prompt"),
            session_id=self.event.unified_msg_origin,
            image_urls=list(request.get("images") or []),
            extra_user_content_parts=[
                ContentPart._read(one) for one in request.get("extra_user_content_parts") or []
            ],
            contexts=json.loads(contexts) if isinstance(contexts, str) else contexts,
            system_prompt=request.get("system_prompt") or "",
            model=self.event.get_extra("selected_model"),
        )
        tools = self._tools(request.get("tools") or [])
        live.func_tool = ToolSet(tools) if tools else None
        if conversation := request.get("conversation"):
            live.conversation = Conversation(
                platform_id=self.event.get_platform_id(),
                user_id=self.event.unified_msg_origin,
                cid=conversation["id"],
                history=json.dumps(live.contexts),
                title=conversation.get("title"),
                persona_id=conversation.get("persona"),
                created_at=conversation.get("created_at") or 0,
                updated_at=conversation.get("updated_at") or 0,
            )
        return live

    async def _messages(self, live: Any) -> list[dict[str, Any]]:
        system = [{"role": "system", "content": live.system_prompt}] if live.system_prompt else []
        return [*system, *live.contexts, await live.assemble_context()]

    def _tools(self, offered: list[Any]) -> list[Any]:
        """The live tools of what the host offers: this request's own, those of this worker as they are now
        (guarded, as in any chat), and stand-ins for the host's other methods."""
        from astrbot.core.provider.func_tool_manager import guarded
        from callgate_worker.flavours.astrbot.catalogue import REPORTED, HostTool

        own = {tool.name: tool for tool in self.run.tools.values()}
        tools = []
        for row in (one if isinstance(one, dict) else {"name": one} for one in offered):
            name = row["name"]
            known = self.manager.get_func(name) or self.manager.get_func(name.rpartition("__")[2])
            if name in own:
                tools.append(own[name])
            elif isinstance(known, HostTool):
                tools.append(known)
            elif known is not None:
                tools += [guarded(known, self.manager)] if known.active else []
            elif name not in REPORTED:
                tools.append(HostTool.of(row))
        if not own and not self.apart:
            # Registered since the plugin was loaded: the host has not heard of them.
            new = [
                tool
                for tool in self.manager.func_list
                if tool.name not in REPORTED and tool.active and not isinstance(tool, HostTool)
            ]
            tools += [guarded(tool, self.manager) for tool in new]
        # Compat(astrbot): in the order in which they were registered, others after them.
        place = {tool.name: number for number, tool in enumerate(self.manager.func_list)}
        return sorted(tools, key=lambda tool: place.get(tool.name, len(place)))


TURNS: dict[str, Turn] = {}


def _part(part: Any) -> dict[str, Any]:
    return part if isinstance(part, dict) else part.model_dump_for_context()


def _url(source: str) -> str:
    if source.startswith("base64://"):
        return f"data:image/jpeg;base64,{source.removeprefix('base64://')}"
    return source
