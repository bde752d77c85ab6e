"""A flavour for tests: a plugin is a module, and its functions are methods."""

import importlib.util
import inspect
import sys
from typing import Any

from callgate_worker import host
from callgate_worker.flavour import Loaded, MethodSpec, Source


class Probe:
    name = "probe"

    def __init__(self) -> None:
        self.modules: dict[str, Any] = {}
        self.steps = {
            "call": self.call,
            "count": self.count,
            "hook": self.hook,
            "message": self.message,
            "collect": self.collect,
            "command": self.command,
            "reset": self.reset,
            "system_message": self.system_message,
            "timer": self.timer,
            "settings": self.settings,
        }

    async def load(self, source: Source) -> Loaded:
        id = source.id or source.path.stem
        file = source.path / "__init__.py" if source.path.is_dir() else source.path
        spec = importlib.util.spec_from_file_location(id, file)
        module = importlib.util.module_from_spec(spec)
        sys.modules[id] = module
        spec.loader.exec_module(module)
        self.modules[id] = module
        methods = [
            MethodSpec(name=name, doc=function.__doc__ or "", binding="loose", **getattr(function, "spec", {}))
            for name, function in inspect.getmembers(module, inspect.iscoroutinefunction)
            if not name.startswith("_")
        ]
        commands = [{"name": name, "aliases": []} for name in getattr(module, "COMMANDS", {})]
        hooks = list(getattr(module, "HOOKS", ()))
        return Loaded(id=id, name=id, methods=methods, hooks=hooks, commands=commands)

    async def unload(self, plugin: str) -> None:
        self.modules.pop(plugin, None)
        for name in [name for name in sys.modules if name.split(".")[0] == plugin]:
            del sys.modules[name]

    async def call(self, plugin: str, method: str, positional: list, named: dict, context: dict) -> Any:
        host.plugin.set(plugin)
        return await getattr(self.modules[plugin], method)(*positional, **named)

    async def count(self, upto: int):
        """Many answers."""
        try:
            for number in range(upto):
                yield number
        finally:
            await host.call("closed")

    async def hook(self, name: str, **arguments: Any) -> Any:
        results = []
        for plugin, module in self.modules.items():
            if (function := getattr(module, f"on_{name}", None)) is not None:
                host.plugin.set(plugin)
                results.append(await function(**arguments))
        return results

    async def message(self, context: dict, message: dict) -> dict:
        signals = await self.hook("message", context=context, message=message)
        return {"signal": next((signal for signal in signals if signal), "CONTINUE")}

    async def system_message(self, context: dict, text: str) -> dict:
        signals = await self.hook("system_message", context=context, text=text)
        return {"signal": next((signal for signal in signals if signal), "CONTINUE")}

    async def timer(self, plugin: str, **due: Any) -> None:
        host.plugin.set(plugin)
        await self.modules[plugin].on_timer(**due)

    async def settings(self, **told: Any) -> None:
        await self.hook("settings", told=told)

    async def reset(self, context: dict) -> None:
        await self.hook("reset", context=context)

    async def collect(self, context: dict) -> dict:
        prompts, methods = [], []
        for plugin, module in self.modules.items():
            if (function := getattr(module, "on_prompt", None)) is not None:
                prompts.append({"plugin": plugin, "text": await function(context)})
            if (names := getattr(module, "SHOWN", None)) is not None:
                methods.append({"plugin": plugin, "names": names})
        return {"prompts": prompts, "methods": methods}

    async def command(self, context: dict, name: str, raw_args: str, said: str = ""):
        for module in self.modules.values():
            if name in getattr(module, "COMMANDS", {}):
                async for text in module.COMMANDS[name](context, raw_args):
                    yield {"parts": [{"type": "text", "text": text}]}


FLAVOUR = Probe()
