"""The native flavour: plugins written with the package `callgate`, and the operator's functions.

Owns the steps that the host asks of such plugins. How a plugin is imported is in `native_load`,
how what follows a command is read in `native_command`.
"""

import asyncio
import copy
import inspect
import sys
import traceback
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

from callgate import Context, Message, Signal
from callgate import settings
from callgate.declare import Command

from callgate_worker import host, language, signature
from callgate_worker.flavour import Loaded, Source, Step
from callgate_worker.flavours import functions, native_command, native_load, native_texts
from callgate_worker.flavours.native_load import Function, Plugin

_HOOK_SECONDS = 10
_STRENGTH = [Signal.CONTINUE, Signal.FORCE, Signal.NO_TURN, Signal.HIDE]


class Native:
    name = "native"

    def __init__(self) -> None:
        self._plugins: dict[str, Plugin] = {}
        self.steps: dict[str, Step] = {
            "call": self.call,
            "message": self.message,
            "collect": self.collect,
            "reset": self.reset,
            "command": self.command,
            "timer": self.timer,
            "config_get": self.config_get,
            "config_set": self.config_set,
            "inject": self.inject,
            "prompt": self.prompt,
            "cleanup": self.cleanup,
            "run": self.run,
        }

    async def load(self, source: Source) -> Loaded:
        plugin_id = native_load.identify(source)
        if plugin_id in self._plugins:
            await self.unload(plugin_id)
        load = functions.load if source.options.get("functions") else native_load.load
        plugin = load(source, plugin_id)
        try:
            for start in plugin.hooks("start"):
                await perform(start)
        except BaseException:
            native_load.forget(plugin)
            raise
        self._plugins[plugin_id] = plugin
        return plugin.loaded

    async def unload(self, plugin: str) -> None:
        known = self._plugins.pop(plugin, None)
        if known is None:
            return
        try:
            for stop in known.hooks("stop"):
                await perform(stop)
        finally:
            native_load.forget(known)

    async def call(
        self,
        plugin: str,
        method: str,
        positional: list[Any],
        named: dict[str, Any],
        context: dict[str, Any],
    ) -> Any:
        function = self._plugins[plugin].methods[method]
        args, kwargs = function.arguments(positional, named, lambda: Context.read(context, plugin))
        return await perform(function.call, *args, **kwargs)

    async def message(self, context: dict[str, Any], message: dict[str, Any]) -> dict[str, str]:
        heard = Message(
            text=message.get("text") or "",
            parts=message.get("parts") or [],
            id=str(message.get("id") or ""),
            raw=message,
        )
        answers = await self._each("message", context, heard)
        signals = [answer for _, answer in answers if isinstance(answer, Signal)]
        strongest = max(signals, key=_STRENGTH.index, default=Signal.CONTINUE)
        return {"signal": strongest.value}

    async def collect(self, context: dict[str, Any]) -> dict[str, Any]:
        told = await self._each("prompt", context)
        prompts = [{"plugin": plugin, "text": str(text)} for plugin, text in told if text]
        return {"prompts": prompts, "methods": []}

    async def reset(self, context: dict[str, Any]) -> None:
        await self._each("reset", context)

    async def command(
        self, context: dict[str, Any], name: str, raw_args: str = "", said: str = ""
    ) -> AsyncIterator[dict[str, Any]]:
        """Every answer of the command; `said` is the message that gave it."""
        language.answer(said)
        plugin, command = self._command(name)
        host.plugin.set(plugin)
        given = Context.read(context, plugin)
        if command.operator and not given.user.is_operator:
            yield _response("unauthorized", language.say(native_texts.FOR_OPERATORS, name=command.name))
            return
        try:
            arguments = native_command.arguments(command.function, raw_args)
            bound = Function(command.function).bind([], arguments, given)
        except ValueError as error:
            usage = native_command.usage(command)
            yield _response("error", f"{error}\n{usage}")
            return
        async for text in answers(command.function, bound):
            yield _response("success", text)

    async def timer(self, plugin: str, name: str, payload: Any, session: str, **_: Any) -> None:
        """A timer that the host kept is due. What its handler does is done by the plugin itself."""
        context = Context.read({"session": session, **await host.call("session_folders", session=session)}, plugin)
        for hook in self._plugins[plugin].hooks("timer"):
            await perform(hook, *[context, name, payload][: len(inspect.signature(hook).parameters)])

    async def config_get(self, plugin: str) -> dict[str, Any]:
        known = self._plugins[plugin]
        return native_load.describe_config(known)

    async def config_set(self, plugin: str, values: dict[str, Any]) -> dict[str, Any]:
        known = self._plugins[plugin]
        live = known.declarations.config
        if live is None:
            raise ValueError(f"the plugin {plugin} has no settings")
        if problems := settings.take(copy.copy(live), values):
            # A line for each field, so that a form can show it there.
            raise ValueError("\n".join(problems))
        settings.take(live, values)
        settings.save(live, known.data)
        return native_load.describe_config(known)

    async def inject(self, plugin: str, context: dict[str, Any]) -> str:
        told = [
            await perform(hook, *_fitting(hook, [Context.read(context, plugin)]))
            for hook in self._plugins[plugin].hooks("prompt")
        ]
        return "\n".join(str(text) for text in told if text)

    async def prompt(self, plugin: str, context: dict[str, Any]) -> str:
        methods = self._plugins[plugin].loaded.methods
        return "\n".join(f"* {spec.name}\n{spec.doc}" for spec in methods if spec.doc)

    async def cleanup(self, plugin: str) -> None:
        for stop in self._plugins[plugin].hooks("stop"):
            await perform(stop)

    async def run(self, plugin: str, context: dict[str, Any], source: str) -> str:
        """A step of a scenario: the body of an `async def` in the plugin's module."""
        if not self._plugins[plugin].options.get("scenario"):
            raise PermissionError(f"{plugin} was not loaded for a scenario")
        body = "\n".join("    " + line for line in source.splitlines()) or "    pass"
        scope = {**vars(self._plugins[plugin].module), "ctx": Context.read(context, plugin)}
        # The scenario is the operator's own file, as trusted as the plugin it drives.
        exec(f"async def _step():\n{body}\n", scope)  # noqa: S102
        return repr(await scope["_step"]())

    def _command(self, name: str) -> tuple[str, Command]:
        for plugin_id, plugin in self._plugins.items():
            for command in plugin.declarations.commands:
                if name == command.name or name in command.aliases:
                    return plugin_id, command
        raise LookupError(f"no plugin has the command /{name}")

    async def _each(
        self, point: str, context: dict[str, Any], *more: Any
    ) -> list[tuple[str, Any]]:
        """All hooks of a point at once. One that fails or hangs is reported and left out."""

        async def heard(plugin: str, hook: Callable[..., Any]) -> Any:
            host.plugin.set(plugin)
            given = _fitting(hook, [Context.read(context, plugin), *more])
            try:
                return await asyncio.wait_for(perform(hook, *given), _HOOK_SECONDS)
            except Exception:
                traceback.print_exc(file=sys.stderr)
                return None

        off = context.get("off") or ()
        asked = [
            (plugin_id, asyncio.ensure_future(heard(plugin_id, hook)))
            for plugin_id, plugin in self._plugins.items()
            if plugin_id not in off
            for hook in plugin.hooks(point)
        ]
        return [(plugin_id, await answer) for plugin_id, answer in asked]


async def perform(function: Callable[..., Any], *given: Any, **named: Any) -> Any:
    """Calls it. A plain function has a thread, so that one that waits keeps nobody waiting."""
    if inspect.iscoroutinefunction(inspect.unwrap(function)):
        return await function(*given, **named)
    result = await asyncio.to_thread(function, *given, **named)
    return await result if isinstance(result, Awaitable) else result


async def answers(function: Callable[..., Any], given: inspect.BoundArguments) -> AsyncIterator[str]:
    """The texts that a command returns or yields, one by one."""
    if inspect.isasyncgenfunction(function):
        async for text in function(*given.args, **given.kwargs):
            yield str(text)
        return
    result = await perform(function, *given.args, **given.kwargs)
    texts = list(result) if inspect.isgenerator(result) else [result]
    for text in texts:
        if text is not None:
            yield str(text)


def _fitting(function: Callable[..., Any], given: list[Any]) -> list[Any]:
    """As many of `given` as it takes, by annotation where there is one, else in order."""
    hints = signature.annotations(function)
    taken = []
    left = list(given)
    for name in inspect.signature(function).parameters:
        fits = [it for it in left if isinstance(hints.get(name), type) and isinstance(it, hints[name])]
        chosen = fits[0] if fits else left[0] if left else None
        if chosen is None:
            break
        left.remove(chosen)
        taken.append(chosen)
    return taken


def _response(status: str, text: str) -> dict[str, Any]:
    parts = [{"type": "text", "text": text}]
    return {"status": status, "message": text, "parts": parts, "data": None, "waits": False}


FLAVOUR = Native()
