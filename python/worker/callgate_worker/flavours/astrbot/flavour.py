"""The steps this flavour answers."""

from __future__ import annotations

import ast
import asyncio
import functools
import json
import logging
import textwrap
import uuid
from collections.abc import Awaitable, Callable
from types import SimpleNamespace
from typing import Any

from callgate_worker import host
from callgate_worker.flavour import Loaded, Source
from callgate_worker.flavours.astrbot.runtime import Runtime

logger = logging.getLogger("astrbot")


class AstrBot:
    name = "astrbot"

    def __init__(self) -> None:
        self._runtime: Runtime | None = None
        self._stars: dict[str, Any] = {}
        self._queue: asyncio.Task | None = None
        self._web: dict[str, Any] = {}
        self.steps = {
            "event": self._watched(self.event),
            "request": self._watched(self.request),
            "tool": self._watched(self.tool),
            "call": self._watched(self.call),
            "config_get": self.config_get,
            "config_set": self.config_set,
            "enabled": self.enabled,
            "disabled": self.disabled,
            "refresh": self.refresh,
            "settings": self.settings,
            "timer": self._watched(self.timer),
            "methods": self.methods,
            "run": self._watched(self.run),
        }

    def _watched(self, step: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
        """Plugin code runs in it: afterwards there may be other tools than before."""

        @functools.wraps(step)
        async def watched(**arguments: Any) -> Any:
            try:
                return await step(**arguments)
            finally:
                await self._started().catalogue.tell()

        return watched

    async def load(self, source: Source) -> Loaded:
        from callgate_worker.flavours.astrbot import loading

        runtime = self._started()
        await self.refresh()
        star, warnings = await loading.load(runtime, source)
        known = self._stars.get(star.name)
        if known is not None and known.root_dir_name != star.root_dir_name:
            warnings.append(f"another plugin is named {star.name} too and is replaced")
        self._stars[star.name] = star
        described = self._describe(star, warnings)
        runtime.catalogue.loaded(star)
        return described

    def _describe(self, star: Any, warnings: list[str]) -> Loaded:
        from callgate_worker.flavours.astrbot import catalogue

        return catalogue.loaded(star, warnings)

    async def unload(self, plugin: str) -> None:
        from callgate_worker.flavours.astrbot import loading

        if (star := self._stars.pop(plugin, None)) is not None:
            self._started().catalogue.unloaded(plugin)
            await loading.unload(star)

    def _started(self) -> Runtime:
        if self._runtime is None:
            self._runtime = Runtime()
            self._queue = asyncio.get_running_loop().create_task(self._drain())
        return self._runtime

    async def _drain(self) -> None:
        """Events that plugins put into the queue themselves, as live objects."""
        queue = self._started().context.get_event_queue()
        while True:
            event = await queue.get()
            task = asyncio.create_task(self._handle(event, {}))
            _tasks.add(task)
            task.add_done_callback(_tasks.discard)

    async def _handle(self, event: Any, facts: dict[str, Any]) -> None:
        from callgate_worker.flavours.astrbot import pipeline

        if not hasattr(event, "callgate_ref"):
            event.callgate_ref = f"own-{uuid.uuid4().hex}"
        await pipeline.handle(self._started(), event, facts)

    async def refresh(self) -> None:
        """Mirrors that cannot be renewed stay as they were: a check of a plugin has no models."""
        try:
            await self._started().refresh()
        except host.HostError as error:
            logger.warning("models, personas and settings are not known: %s", error)

    async def settings(self, settings: dict[str, Any], models: list[dict], personas: list[dict]) -> None:
        if self._runtime is not None:
            await self._runtime.renewed(settings, models, personas)

    async def timer(self, id: str, **_: Any) -> None:
        """A job's time has come."""
        await self._started().context.cron_manager.fire(id)

    async def event(
        self,
        ref: str,
        message: dict[str, Any],
        facts: dict[str, Any] | None = None,
        resume: str | None = None,
    ) -> dict[str, Any]:
        """A message through filters, handlers and, where AstrBot would answer, a turn. With `resume` all of
        that is done, in a process that has ended since: this is the answer, to be decorated and sent."""
        from callgate_worker.flavours.astrbot import events, pipeline

        facts = facts or {}
        await self._servers_tools()
        event = await events.build(self._started(), ref, message, facts)
        if resume is not None:
            await pipeline.resume(self._started(), event, resume)
            return {"verdict": "taken", "stopped": event.is_stopped()}
        await self._handle(event, facts)
        meant = event.is_at_or_wake_command or bool(facts.get("wanted"))
        taken = event.is_stopped() or event._has_send_oper or event.call_llm or meant
        return {"verdict": "taken" if taken else "pass", "stopped": event.is_stopped()}

    async def _servers_tools(self) -> None:
        try:
            await self._started().catalogue.ask()
        except host.HostError as error:
            logger.debug("the tools of servers are not known: %s", error)

    async def request(self, ref: str, request: dict[str, Any]) -> dict[str, Any] | None:
        """The hooks of a turn's request."""
        from callgate_worker.flavours.astrbot.turn import TURNS

        return await TURNS[ref].request(request)

    async def tool(
        self, ref: str, handle: str, arguments: dict[str, Any] | None, id: str = "", **_: Any
    ) -> dict[str, Any]:
        """One call of a tool within a run."""
        from astrbot.core.agent.runs import RUNS

        run = RUNS[ref]
        answer = await run.call(run.tools[handle], arguments, id)
        return {"texts": answer.texts, "images": answer.images, "ends": answer.ends, "error": answer.error}

    async def call(
        self, plugin: str, method: str, positional: list[Any], named: dict[str, Any], context: dict[str, Any]
    ) -> Any:
        """A tool called as a method: from code, by another plugin, or by a turn that we did not ask for."""
        from astrbot.core.agent.runs import Run
        from astrbot.core.astr_agent_context import AgentContextWrapper, AstrAgentContext
        from astrbot.core.astr_agent_hooks import MAIN_AGENT_HOOKS
        from astrbot.core.provider.func_tool_manager import guarded
        from callgate_worker.flavours.astrbot import events

        runtime = self._started()
        manager = runtime.context.provider_manager.llm_tools
        tool = manager.get_func(method)
        if tool is None:
            raise LookupError(f"{plugin} has no tool {method}")
        event = _live_event(context) or await events.of_context(runtime, context)
        run = Run(
            f"call-{uuid.uuid4().hex}",
            AgentContextWrapper(context=AstrAgentContext(context=runtime.context, event=event)),
            MAIN_AGENT_HOOKS,
        )
        names = list((tool.parameters or {}).get("properties") or {})
        try:
            answer = await run.call(guarded(tool, manager), {**dict(zip(names, positional, strict=False)), **named})
        finally:
            run.close()
        if answer.error:
            raise RuntimeError("\n".join(answer.texts).removeprefix("error: "))
        return None if answer.ends else "\n".join(answer.texts)

    def web(self, plugin: str) -> Any:
        """The ASGI application of a plugin's routes, None for one that is not here."""
        from callgate_worker.flavours.astrbot.web import application

        if plugin not in self._stars:
            return None
        package = self._stars[plugin].module_path.rpartition(".")[0]
        return self._web.setdefault(plugin, application(plugin, package))

    async def config_get(self, plugin: str) -> dict[str, Any] | None:
        return self._describe(self._stars[plugin], []).config

    async def config_set(self, plugin: str, values: dict[str, Any]) -> dict[str, Any] | None:
        """Changes the live object, which is the only writer of its file."""
        config = self._stars[plugin].config
        if config is None:
            raise LookupError(f"{plugin} has no configuration")
        unknown = [name for name in values if name not in config]
        if unknown:
            raise KeyError(f"{plugin} has no setting {', '.join(unknown)}")
        await config.save_config_async(values)
        return await self.config_get(plugin)

    async def enabled(self, plugin: str) -> None:
        self._stars[plugin].activated = True

    async def disabled(self, plugin: str) -> None:
        self._stars[plugin].activated = False

    async def methods(self, plugin: str) -> dict[str, Any]:
        """What the plugin offers now; tools come and go while it runs."""
        return self._describe(self._stars[plugin], []).describe()

    async def run(self, plugin: str, source: str, context: dict[str, Any] | None = None) -> str:
        """The body of an `async def`, for scenarios: `ctx`, `life`, `star`, `root`, `asyncio`, `json` are given."""
        runtime = self._started()
        tree = ast.parse("async def body():\n" + textwrap.indent(source, "    "))
        names: dict[str, Any] = {
            "ctx": runtime.context,
            "life": SimpleNamespace(
                cron_manager=runtime.context.cron_manager,
                provider_manager=runtime.context.provider_manager,
                platform_manager=runtime.context.platform_manager,
                star_context=runtime.context,
            ),
            "star": self._stars[plugin].star_cls,
            "root": str(runtime.root),
            "asyncio": asyncio,
            "json": json,
        }
        exec(compile(tree, "<scenario>", "exec"), names)  # noqa: S102 -- the step of a scenario
        return repr(await names["body"]())


_tasks: set[asyncio.Task] = set()


def _live_event(context: dict[str, Any]) -> Any:
    """The event of the turn that this call belongs to, where that turn was asked for here."""
    from callgate_worker.flavours.astrbot.turn import TURNS

    user = (context.get("user") or {}).get("id")
    for turn in reversed(TURNS.values()):
        if turn.event.unified_msg_origin == context["session"] and turn.event.get_sender_id() == user:
            return turn.event
    return None
