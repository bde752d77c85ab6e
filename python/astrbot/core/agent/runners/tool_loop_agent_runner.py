"""A loop of model and tools. The host runs it (`agent_loop`) and calls the tools back here."""

from __future__ import annotations

import time
import uuid
from collections.abc import AsyncGenerator
from typing import Any

from astrbot import texts
from astrbot.core.agent.hooks import BaseAgentRunHooks
from astrbot.core.agent.message import Message
from astrbot.core.agent.response import AgentResponse, AgentStats
from astrbot.core.agent.run_context import ContextWrapper, TContext
from astrbot.core.agent.runs import Run
from astrbot.core.message.message_event_result import MessageChain
from astrbot.core.provider.entities import LLMResponse, ProviderRequest
from astrbot.core.provider.hosted import plain, response
from callgate_worker import host

from .base import AgentState, BaseAgentRunner


class ToolLoopAgentRunner(BaseAgentRunner[TContext]):
    """`reset`, then `step_until_done`: a model that fails ends in an answer of role `err`, not in a raise."""

    async def reset(
        self,
        provider: Any,
        request: ProviderRequest,
        run_context: ContextWrapper[TContext],
        tool_executor: Any = None,
        agent_hooks: BaseAgentRunHooks[TContext] | None = None,
        streaming: bool = False,
        **options: Any,
    ) -> None:
        self.provider = provider
        self.req = request
        self.run_context = run_context
        self.agent_hooks = agent_hooks or BaseAgentRunHooks()
        self.streaming = streaming
        self.stats = AgentStats()
        self.final_llm_resp: LLMResponse | None = None
        self._state = AgentState.IDLE
        self._stopped = False

    def done(self) -> bool:
        return self._state in (AgentState.DONE, AgentState.ERROR)

    def get_final_llm_resp(self) -> LLMResponse | None:
        return self.final_llm_resp

    def request_stop(self) -> None:
        self._stopped = True

    def was_aborted(self) -> bool:
        return self._stopped

    async def step(self) -> AsyncGenerator[AgentResponse, None]:
        async for answer in self.step_until_done(1):
            yield answer

    async def step_until_done(self, max_step: int) -> AsyncGenerator[AgentResponse, None]:
        self._state = AgentState.RUNNING
        self.stats.start_time = time.time()
        run = Run(f"loop-{uuid.uuid4().hex}", self.run_context, self.agent_hooks)
        stream = host.stream("agent_loop", **await self._asked(run, max_step))
        try:
            async for piece in stream:
                if (delta := _delta(piece)) is not None:
                    yield AgentResponse("streaming_delta", {"chain": delta})
            ended = stream.result
        finally:
            await stream.aclose()
            run.close()
            self.stats.end_time = time.time()
        run.see(ended.get("messages"))
        self._state = AgentState.DONE
        if ended.get("ended"):
            return
        final = self.final_llm_resp = response(ended)
        if final.usage:
            self.stats.token_usage = final.usage
        if final.role == "err":
            self._state = AgentState.ERROR
        else:
            await run._hook("on_agent_done", final)
        chain = final.result_chain
        yield AgentResponse("err" if final.role == "err" else "llm_result", {"chain": chain})

    async def _asked(self, run: Run, max_step: int) -> dict[str, Any]:
        event = getattr(self.run_context.context, "event", None)
        asked = self.req
        messages = [plain(message) for message in asked.contexts or []]
        if asked.prompt is not None or asked.image_urls or asked.extra_user_content_parts:
            messages.append(_in_parts(plain(await asked.assemble_context())))
        if asked.system_prompt:
            messages.insert(0, {"role": "system", "content": asked.system_prompt})
        run.see(messages)
        await run._hook("on_agent_begin")
        return {
            "ref": run.ref,
            "event": getattr(event, "callgate_ref", None),
            "session": getattr(event, "unified_msg_origin", None),
            "model": asked.model or self.provider.provider_config["id"],
            "messages": [
                plain(message) for message in self.run_context.messages if isinstance(message, Message)
            ],
            "tools": run.offer(asked.func_tool),
            "max_steps": max_step,
            "last_words": texts.LAST_STEP,
            "tool_timeout": self.run_context.tool_call_timeout,
            "stream": self.streaming,
        }


def _delta(piece: dict[str, Any]) -> MessageChain | None:
    """Words and thoughts as they come; what has a type is a whole text."""
    if "type" in piece:
        return None
    if thought := piece.get("reasoning"):
        return MessageChain(type="reasoning").message(thought)
    return MessageChain().message(piece["text"]) if piece.get("text") else None


def _in_parts(message: dict[str, Any]) -> dict[str, Any]:
    """Compat(astrbot): in a loop the user's text is a list of one part, in a plain request it is text."""
    if isinstance(message["content"], str):
        message["content"] = [{"type": "text", "text": message["content"]}]
    return message
