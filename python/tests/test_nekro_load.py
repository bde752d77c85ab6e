"""How Nekro plugins come and go."""

import asyncio
import unittest

from nekro_host import HEAD, Scene, StepError

PACKAGE = """
from nekro_agent.services.plugin.base import NekroPlugin, SandboxMethodType
from .words import WORD
plugin = NekroPlugin(name="Pack", module_name="pack", description="d", version="0", author="me", url="")

@plugin.mount_sandbox_method(SandboxMethodType.TOOL, "word")
async def word(_ctx):
    from .inner.more import MORE
    return WORD + MORE
"""


class Loading(Scene):
    def write_package(self, folder: str, word: str, more: str) -> None:
        self.write(f"{folder}/__init__.py", PACKAGE, head="\ufeff")
        self.write(f"{folder}/words.py", f"WORD = {word!r}", head="\ufeff")
        self.write(f"{folder}/inner/__init__.py", "", head="")
        self.write(f"{folder}/inner/more.py", f"MORE = {more!r}", head="")

    async def test_a_package_has_relative_imports_and_byte_order_marks(self) -> None:
        self.write_package("nekro-plugin-pack", "a", "b")
        loaded = await self.rig.load(self.folder / "nekro-plugin-pack")
        self.assertEqual(loaded["id"], "me.pack")
        self.assertEqual(await self.call("word", plugin="me.pack"), "ab")

    async def test_a_reload_reads_every_file_again(self) -> None:
        self.write_package("pack", "a", "b")
        await self.rig.load(self.folder / "pack")
        self.assertEqual(await self.call("word", plugin="me.pack"), "ab")
        self.write_package("pack", "c", "d")
        await self.rig.load(self.folder / "pack")
        self.assertEqual(await self.call("word", plugin="me.pack"), "cd")

    async def test_a_plugin_may_lie_deeper_or_be_one_file(self) -> None:
        self.write("repo/README.md", "hello", head="")
        self.write_package("repo/pack", "x", "y")
        self.assertEqual((await self.rig.load(self.folder / "repo"))["id"], "me.pack")
        self.write("single/plugin.py", "")
        self.assertEqual((await self.rig.load(self.folder / "single"))["id"], "me.probe")

    async def test_several_or_no_plugins_are_an_error_that_names_them(self) -> None:
        self.write_package("two/one", "", "")
        self.write_package("two/other", "", "")
        with self.assertRaisesRegex(StepError, "one/__init__.py, other/__init__.py"):
            await self.rig.load(self.folder / "two")
        self.write("none/readme.txt", "", head="")
        with self.assertRaisesRegex(StepError, "no __init__.py"):
            await self.rig.load(self.folder / "none")
        self.write("empty.py", "x = 1", head="")
        with self.assertRaisesRegex(StepError, "has no attribute 'plugin'"):
            await self.rig.load(self.folder / "empty.py")

    async def test_one_that_fails_is_told_and_the_others_work(self) -> None:
        path = self.write("broken.py", "import not_there_at_all")
        with self.assertRaises(StepError) as caught:
            await self.rig.load(path)
        self.assertEqual(caught.exception.error["missing"], "not_there_at_all")
        self.assertIn("broken.py", caught.exception.error["traceback"])
        failing = "@plugin.mount_init_method()\nasync def start():\n    raise ValueError('no luck')"
        with self.assertRaisesRegex(StepError, "ValueError: no luck"):
            await self.plugin(failing)
        loaded = await self.plugin("@plugin.mount_init_method()\nasync def start():\n    pass")
        self.assertIn("init", loaded["hooks"])

    async def test_init_and_cleanup_and_enabled_run_in_their_time(self) -> None:
        source = """
            async def note(word):
                done = await plugin.store.get(store_key="done") or ""
                await plugin.store.set(store_key="done", value=f"{done} {word}".strip())

            @plugin.mount_init_method()
            async def a():
                await note("init")

            @plugin.mount_cleanup_method()
            async def b():
                await note("cleanup")
                raise RuntimeError("too late to matter")

            @plugin.on_enabled()
            async def c():
                await note("enabled")

            @plugin.on_disabled()
            async def d():
                await note("disabled")

            @plugin.on_disabled()
            async def e():
                raise RuntimeError("of no consequence")
        """
        await self.plugin(source)
        await self.rig.step("disabled", plugin="me.probe")
        await self.rig.step("disabled", plugin="me.probe")
        await self.rig.step("enabled", plugin="me.probe")
        await self.rig.step("unload", plugin="me.probe")
        place = {"plugin": "me.probe", "chat": "", "user": "", "name": "done"}
        self.assertEqual(self.host.data_get(**place), "init enabled disabled enabled cleanup")
        with self.assertRaisesRegex(StepError, "not loaded"):
            await self.call("anything")

    async def test_a_disabled_plugin_is_initialised_but_hears_nothing(self) -> None:
        source = """
            @plugin.mount_on_user_message()
            async def hear(ctx, message):
                return MsgSignal.BLOCK_ALL
        """
        await self.plugin(source, enabled=False)
        self.assertEqual((await self.say("hi"))["signal"], "CONTINUE")
        await self.rig.step("enabled", plugin="me.probe")
        self.assertEqual((await self.say("hi"))["signal"], "BLOCK_ALL")

    async def test_what_is_not_here_imports_and_says_so_when_used(self) -> None:
        source = """
            from nekro_agent.services.kb.search_service import search_workspace_kb
            from nekro_agent.adapters.email.adapter import EmailAdapter

            @plugin.mount_sandbox_method(SandboxMethodType.TOOL, "x")
            async def find(_ctx, adapter: Optional[EmailAdapter] = None) -> str:
                return search_workspace_kb("x")
        """
        loaded = await self.plugin(source)
        self.assertTrue(any("the knowledge base" in warning for warning in loaded["warnings"]))
        with self.assertRaisesRegex(StepError, "search_workspace_kb.*not here: the knowledge base"):
            await self.call("find")
        with self.assertRaisesRegex(StepError, "No module named 'nekro_agent.nonsense'"):
            await self.plugin("import nekro_agent.nonsense")

    async def test_the_data_folder_is_the_hosts_also_by_its_old_path(self) -> None:
        await self.plugin("plugin.get_plugin_data_dir().joinpath('kept.txt').write_text('kept')")
        kept = self.rig.root / "data" / "probe.py" / "kept.txt"
        self.assertEqual(kept.read_text(), "kept")
        source = """
            from pathlib import Path
            from nekro_agent.core.os_env import OsEnv
            old = Path(OsEnv.DATA_DIR) / "plugin_data" / plugin.key
            return (old / "kept.txt").read_text(), old.resolve() == plugin.get_plugin_data_dir().resolve()
        """
        self.assertEqual(await self.run_in(source), "('kept', True)")

    async def test_a_package_asked_for_at_import_is_the_hosts_to_install(self) -> None:
        await self.plugin("yaml = dynamic_import_pkg('PyYAML>=5', 'yaml')")
        with self.assertRaisesRegex(StepError, "surely-not-there==1 cannot be installed: no network"):
            await self.plugin("dynamic_import_pkg('surely-not-there==1')")
        self.assertEqual(self.host.installed, ["surely-not-there==1"])

    async def test_only_a_scenario_may_run_code(self) -> None:
        await self.rig.load(self.write("probe.py", ""))
        with self.assertRaisesRegex(StepError, "not loaded for a scenario"):
            await self.run_in("return 1")

    async def test_two_plugins_load_at_once(self) -> None:
        first = self.write("one.py", "", head=HEAD.replace('"probe"', '"one"'))
        second = self.write("other.py", "", head=HEAD.replace('"probe"', '"other"'))
        both = await asyncio.gather(self.rig.load(first), self.rig.load(second))
        self.assertEqual([it["id"] for it in both], ["me.one", "me.other"])


if __name__ == "__main__":
    unittest.main()
