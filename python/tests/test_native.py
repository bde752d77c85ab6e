"""The native flavour in a real worker process: methods, state, config, events, commands, and the
operator's functions.
"""

import tempfile
import textwrap
import unittest
from pathlib import Path
from typing import Any

from rig import CONTEXT, Rig, StepError

PLUGIN = '''
"""Weather, told simply."""
import asyncio
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from typing import Literal

from callgate import (Context, Message, Signal, State, agent, behavior, command, config, method,
                      multimodal_agent, on_message, on_reset, on_start, on_stop, on_timer, prompt, tool)
from . import tables

state = State()


class Settings:
    """How it is told.

    Args:
        city: Where.
    """
    city: str = "Berlin"
    units: Literal["metric", "imperial"] = "metric"
    stations: list[str] = None


settings = config(Settings)


class Colour(Enum):
    RED = "red"


@dataclass
class Place:
    name: str
    since: datetime


@method
def add(a: int, b: int = 1) -> int:
    """Add two numbers.

    Args:
        a: One of them.
        b: The other.
    """
    return a + b


@tool(title="Where it is", effect="pure", expose=("remote",), deadline=2.5)
async def where(ctx: Context, place: Place, colour: Colour = Colour.RED) -> str:
    return f"{place.name} {place.since.year} {colour.name} for {ctx.user.name} in {ctx.session}"


@agent
async def look(topic: str) -> str:
    return tables.text(topic)


@behavior
def keep(ctx: Context, name: str, value: int) -> str:
    ctx.state[name] = value
    return f"{name} is {ctx.state[name]}"


@multimodal_agent
async def picture() -> list[dict]:
    return [{"type": "text", "text": "p"}]


@command("roll", aliases=("r",))
def roll(ctx: Context, sides: int, label: str = "dice"):
    yield f"{label}: {sides}"
    yield settings.city


@command("wipe", operator=True)
async def wipe() -> str:
    return "wiped"


@command("shout")
def shout(words: str = "hey", loud: bool = False, times: int = 1) -> str:
    return " ".join([words.upper() if loud else words] * times)


@tool
async def guess(ctx: Context, riddle: str) -> str:
    return await ctx.ask(riddle, system="Be brief.")


@tool
async def remind(ctx: Context, when: float) -> str:
    return await ctx.wake("tea", at=datetime.fromtimestamp(when), data={"cups": 2})


@on_timer
def rung(ctx: Context, name: str, data: dict):
    ctx.state[name] = data["cups"]


@on_message
async def heard(message: Message, ctx: Context) -> Signal | None:
    return Signal.HIDE if "secret" in message.text else None


@prompt
async def told(ctx: Context) -> str:
    return f"It is about {settings.city}."


@on_reset
async def reset(ctx: Context) -> None:
    await state.set("resets", (await state.get("resets", 0)) + 1)


@on_start
async def start() -> None:
    await state.set("starts", (await state.get("starts", 0)) + 1)


@on_stop
def stop() -> None:
    state["stopped"] = True
'''


class Rows:
    """The host's rows for plugins."""

    def __init__(self) -> None:
        self.rows: dict[tuple[str, str, str, str], str] = {}

    def methods(self) -> dict[str, Any]:
        def key(plugin, name, chat="", user=""):
            return (plugin, chat, user, name)

        def put(value, **at):
            self.rows[key(**at)] = value

        def all(plugin, chat="", user=""):
            return [{"name": row[3]} for row in self.rows if row[:3] == (plugin, chat, user)]

        return {
            "data_get": lambda **at: self.rows.get(key(**at)),
            "data_set": put,
            "data_delete": lambda **at: self.rows.pop(key(**at), None) is not None,
            "data_list": all,
        }


class Native(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="callgate-native-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name) / "weather"
        self.folder.mkdir()
        (self.folder / "__init__.py").write_text(PLUGIN)
        (self.folder / "tables.py").write_text("def text(topic): return 'about ' + topic\n")
        self.rows = Rows()
        self.rig = await self.enterAsyncContext(Rig("native", self.rows.methods()))

    async def test_what_is_declared(self):
        loaded = await self.rig.load(self.folder)
        self.assertEqual(loaded["id"], "weather")
        self.assertEqual(loaded["description"], "Weather, told simply.")
        methods = {spec["name"]: spec for spec in loaded["methods"]}
        kinds = {name: spec["kind"] for name, spec in methods.items()}
        self.assertEqual(kinds, {
            "add": "tool", "where": "tool", "look": "agent", "keep": "behavior",
            "picture": "multimodal_agent", "guess": "tool", "remind": "tool"})
        self.assertEqual(methods["add"]["parameters"]["required"], ["a"])
        self.assertEqual(methods["add"]["parameters"]["properties"]["b"],
                         {"type": "integer", "default": 1, "description": "The other."})
        self.assertNotIn("ctx", methods["where"]["parameters"]["properties"])
        self.assertEqual((methods["where"]["title"], methods["where"]["effect"]), ("Where it is", "pure"))
        self.assertEqual(methods["where"]["exposure"],
                         {"code": False, "tool_calls": False, "remote": True, "plugins": False})
        self.assertEqual(loaded["hooks"], ["message", "prompt", "reset", "start", "stop", "timer"])
        self.assertEqual([it["name"] for it in loaded["commands"]], ["roll", "wipe", "shout"])
        self.assertEqual(loaded["config"], {"city": "Berlin", "units": "metric", "stations": None})

    async def test_calls_by_annotation(self):
        await self.rig.load(self.folder)
        self.assertEqual(await self.rig.call("weather", "add", a=1, b=2), 3)
        place = {"name": "Rome", "since": "2020-01-02T03:04:05"}
        told = await self.rig.call("weather", "where", place=place, colour="red")
        self.assertEqual(told, "Rome 2020 RED for Alice in cli:FriendMessage:u1")
        with self.assertRaisesRegex(StepError, "place.since: 'x' is not a datetime"):
            await self.rig.call("weather", "where", place={"name": "Rome", "since": "x"})

    async def test_state_lasts_and_is_apart_by_chat(self):
        await self.rig.load(self.folder)
        self.assertEqual(await self.rig.call("weather", "keep", name="tea", value=2), "tea is 2")
        self.assertEqual(self.rows.rows["weather", "cli:FriendMessage:u1", "", "tea"], "2")
        await self.rig.step("reset", context=CONTEXT)
        await self.rig.step("reset", context=CONTEXT)
        self.assertEqual(self.rows.rows["weather", "", "", "resets"], "2")

    async def test_events(self):
        await self.rig.load(self.folder)
        quiet = await self.rig.step("message", context=CONTEXT, message={"text": "hi"})
        hidden = await self.rig.step("message", context=CONTEXT, message={"text": "a secret"})
        self.assertEqual((quiet, hidden), ({"signal": "CONTINUE"}, {"signal": "BLOCK_ALL"}))
        collected = await self.rig.step("collect", context=CONTEXT)
        self.assertEqual(collected["prompts"], [{"plugin": "weather", "text": "It is about Berlin."}])

    async def test_a_plugin_that_is_off_in_a_session_hears_nothing_of_it(self):
        await self.rig.load(self.folder)
        off = {**CONTEXT, "off": ["weather"]}
        unheard = await self.rig.step("message", context=off, message={"text": "a secret"})
        self.assertEqual(unheard, {"signal": "CONTINUE"})
        self.assertEqual((await self.rig.step("collect", context=off))["prompts"], [])

    async def test_a_form_is_refused_as_a_whole_with_a_line_for_each_field(self):
        await self.rig.load(self.folder)
        before = await self.rig.step("config_get", plugin="weather")
        with self.assertRaises(StepError) as refused:
            await self.rig.step("config_set", plugin="weather", values={"city": "Oslo", "town": 1})
        self.assertIn("'town' is not a setting", str(refused.exception))
        self.assertEqual(await self.rig.step("config_get", plugin="weather"), before)

    async def test_commands(self):
        await self.rig.load(self.folder)

        async def said(name, text, role="user"):
            context = {**CONTEXT, "user": {**CONTEXT["user"], "role": role}}
            given = {"name": name, "raw_args": text, "said": f"/{name} {text}"}
            steps = self.rig.steps("command", context=context, **given)
            return [(answer["status"], answer["message"]) async for answer in steps]

        self.assertEqual(await said("r", "6 good luck"), [("success", "good luck: 6"), ("success", "Berlin")])
        self.assertEqual(await said("roll", "--label x 6"), [("success", "x: 6"), ("success", "Berlin")])
        self.assertEqual(await said("roll", "six"), [("error", "sides: 'six' is not int\nusage: /roll sides [label]")])
        self.assertEqual(await said("roll", "六"), [("error", "sides：“六”不是 int\n用法：/roll sides [label]")])
        self.assertEqual(await said("shout", "'oh dear' --loud"), [("success", "OH DEAR")])
        self.assertEqual(await said("shout", "--loud no --times=2 ah"), [("success", "ah ah")])
        self.assertRegex((await said("shout", "ah --times"))[0][1], "--times needs a value")
        self.assertEqual((await said("wipe", ""))[0][0], "unauthorized")
        self.assertEqual(await said("wipe", "", "operator"), [("success", "wiped")])

    async def test_a_model_is_asked_through_the_host(self):
        asked = []

        async def model_chat(model, request):
            asked.append((model, request))
            for piece in ("a ", "fox"):
                yield {"text": piece}

        self.rig.methods["model_chat"] = model_chat
        await self.rig.load(self.folder)
        self.assertEqual(await self.rig.call("weather", "guess", riddle="red?"), "a fox")
        words = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "red?"}]
        self.assertEqual(asked, [("", {"messages": words})])

    async def test_a_timer_is_kept_by_the_host_and_comes_back_by_name(self):
        kept = []
        self.rig.methods["timer_set"] = lambda **given: kept.append(given) or "7"
        self.rig.methods["session_folders"] = lambda session: {"shared": "/s", "uploads": "/u"}
        await self.rig.load(self.folder)
        self.assertEqual(await self.rig.call("weather", "remind", when=1000.0), "7")
        self.assertEqual((kept[0]["name"], kept[0]["due"], kept[0]["payload"]), ("tea", 1000.0, {"cups": 2}))
        session = "cli:FriendMessage:u1"
        await self.rig.step("timer", plugin="weather", id="7", name="tea", payload={"cups": 2}, session=session, due=1000.0, missed=True)
        self.assertEqual(self.rows.rows["weather", session, "", "tea"], "2")

    async def test_settings_are_live_and_kept(self):
        await self.rig.load(self.folder)
        values = {"city": "Köln \"am\" 🌧", "units": "imperial", "stations": ["a", "b"]}
        await self.rig.step("config_set", plugin="weather", values=values)
        with self.assertRaisesRegex(StepError, "units: 'si' is not one of"):
            await self.rig.step("config_set", plugin="weather", values={"units": "si"})
        with self.assertRaisesRegex(StepError, "'town' is not a setting"):
            await self.rig.step("config_set", plugin="weather", values={"town": "x"})
        loaded = await self.rig.load(self.folder)
        self.assertEqual(loaded["config"], values)
        found = await self.rig.step("config_get", plugin="weather")
        self.assertTrue(found["file"].endswith("config.toml"))
        self.assertEqual(found["schema"]["properties"]["city"]["description"], "Where.")

    async def test_reloading_leaves_nothing_behind(self):
        await self.rig.load(self.folder)
        (self.folder / "tables.py").write_text("def text(topic): return 'new ' + topic\n")
        await self.rig.load(self.folder)
        self.assertEqual(await self.rig.call("weather", "look", topic="x"), "new x")
        self.assertEqual(self.rows.rows["weather", "", "", "starts"], "2")
        self.assertEqual(self.rows.rows["weather", "", "", "stopped"], "true")

    async def test_only_a_scenario_can_look_inside(self):
        await self.rig.load(self.folder)
        with self.assertRaisesRegex(StepError, "was not loaded for a scenario"):
            await self.rig.step("run", plugin="weather", context=CONTEXT, source="return 1")
        await self.rig.load(self.folder, scenario=True)
        source = "settings.city = 'Rome'\nreturn await state.get('starts')"
        self.assertEqual(await self.rig.step("run", plugin="weather", context=CONTEXT, source=source), "2")
        self.assertEqual(await self.rig.step("inject", plugin="weather", context=CONTEXT), "It is about Rome.")


class Functions(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="callgate-functions-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name) / "functions"
        self.folder.mkdir()
        self.rig = await self.enterAsyncContext(Rig("native"))

    def write(self, name: str, text: str) -> None:
        (self.folder / name).write_text(textwrap.dedent(text))

    async def load(self) -> dict[str, Any]:
        return await self.rig.load(self.folder, functions=True)

    async def test_three_lines_are_enough(self):
        self.write("sums.py", """
            from math import floor

            def add(a, b):
                return a + b

            def _private(): ...
            """)
        loaded = await self.load()
        self.assertEqual([spec["name"] for spec in loaded["methods"]], ["add"])
        self.assertTrue(loaded["methods"][0]["exposure"]["remote"])
        self.assertEqual(list(loaded["methods"][0]["parameters"]["properties"]), ["a", "b"])
        self.assertEqual(await self.rig.call("functions", "add", a=1, b=2), 3)

    async def test_errors_name_file_and_line_and_stop_nobody(self):
        self.write("a.py", "def one(): return 1")
        self.write("b.py", "\n\ndef broken(:\n")
        self.write("c.py", "import nowhere_to_be_found\n")
        self.write("d.py", "def one(): return 2\n\n1 / 0\n")
        self.write("e.py", "def one(): return 3")
        loaded = await self.load()
        self.assertEqual(loaded["warnings"][0], "b.py:3: SyntaxError: invalid syntax")
        self.assertEqual(loaded["warnings"][1],
                         "c.py:1: ModuleNotFoundError: No module named 'nowhere_to_be_found'")
        self.assertEqual(loaded["warnings"][2], "d.py:3: ZeroDivisionError: division by zero")
        self.assertEqual(loaded["warnings"][3], "e.py:1: 'one' replaces the one of a.py")
        self.assertEqual(await self.rig.call("functions", "one"), 3)

    async def test_a_change_takes_effect(self):
        self.write("a.py", "def one(): return 1")
        await self.load()
        self.write("a.py", "def one(): return 2\ndef two(): return 2")
        loaded = await self.load()
        self.assertEqual([spec["name"] for spec in loaded["methods"]], ["one", "two"])
        self.assertEqual(await self.rig.call("functions", "one"), 2)


if __name__ == "__main__":
    unittest.main()
