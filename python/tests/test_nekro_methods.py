"""Sandbox methods: how they are described, called, and what their context can do."""

import os
import unittest

from nekro_host import CHAT, Scene, StepError

METHODS = '''
@plugin.mount_sandbox_method(
    method_type=SandboxMethodType.TOOL, name="calculate_sum", description="Adds two numbers."
)
async def my_sum_function(_ctx: AgentCtx, num1: int, num2: int = 0) -> int:
    """Adds.

    Args:
        num1 (int): The first.
        num2 (int): The second.

    Returns:
        int: The sum.

    Example:
        ```python
        print(my_sum_function(1, 2))
        ```
    """
    return num1 + num2

@plugin.mount_sandbox_method(SandboxMethodType.AGENT, "一个句子")
async def ask(somebody: AgentCtx, question: str) -> str:
    """Asks."""
    return f"{somebody.chat_key}: {question}"

@plugin.mount_sandbox_method(SandboxMethodType.BEHAVIOR, "ask", "taken already")
def act(ctx) -> bool:
    return True

@plugin.mount_sandbox_method(SandboxMethodType.MULTIMODAL_AGENT, "look")
async def look_at(_ctx: AgentCtx) -> List[Dict[str, Any]]:
    """Looks."""
    return [{"type": "text", "text": "here"}]

async def not_mounted(_ctx):
    """Nobody calls this."""
'''


class Methods(Scene):
    async def test_each_is_described_once_in_the_words_of_the_gate(self) -> None:
        loaded = await self.plugin(METHODS)
        methods = {method["name"]: method for method in loaded["methods"]}
        self.assertEqual(list(methods), ["my_sum_function", "ask", "act", "look_at"])
        self.assertEqual([it["kind"] for it in methods.values()], ["tool", "agent", "behavior", "multimodal_agent"])
        add = methods["my_sum_function"]
        self.assertEqual((add["title"], add["description"]), ("calculate_sum", "Adds two numbers."))
        self.assertEqual(add["aliases"], ["calculate_sum"])
        self.assertEqual(list(add["parameters"]["properties"]), ["num1", "num2"])
        self.assertEqual(add["parameters"]["properties"]["num1"]["description"], "The first.")
        self.assertEqual(add["parameters"]["required"], ["num1"])
        self.assertTrue(add["doc"].startswith("Adds.\n\n    Args:"), "the docstring is as it stands")
        self.assertIn("```python", add["doc"])
        self.assertEqual(add["binding"], "loose")
        self.assertEqual(methods["ask"]["aliases"], [], "a sentence is a title only")
        self.assertEqual(methods["act"]["aliases"], [], "the name of another function is taken")
        self.assertEqual(list(methods["ask"]["parameters"]["properties"]), ["question"])

    async def test_they_are_called_by_both_names_and_both_ways(self) -> None:
        await self.plugin(METHODS)
        self.assertEqual(await self.call("my_sum_function", 2, 3), 5)
        self.assertEqual(await self.call("calculate_sum", num1=2, num2=4), 6)
        self.assertEqual(await self.call("ask", "why"), f"{CHAT}: why")
        self.assertEqual(await self.call("act"), True)
        self.assertEqual(await self.call("look"), [{"type": "text", "text": "here"}])
        with self.assertRaisesRegex(StepError, "has no method not_mounted"):
            await self.call("not_mounted")
        with self.assertRaisesRegex(StepError, "unexpected keyword argument 'num3'"):
            await self.call("my_sum_function", 1, num3=1)

    async def test_the_prompt_block_is_upstreams(self) -> None:
        await self.plugin(METHODS)
        shown = await self.rig.step("prompt", plugin="me.probe", context=self.context)
        self.assertTrue(shown.startswith("* my_sum_function\nAdds.\n\n    Args:"))
        self.assertIn("* ask - **[AGENT METHOD - STOP AFTER CALL]**\nAsks.", shown)
        self.assertNotIn("* act", shown, "without a docstring it is not shown")


class Context(Scene):
    async def test_it_is_complete(self) -> None:
        self.host.add("user", username="Alice", adapter_key="onebot_v11", platform_userid="42", perm_level=1)
        self.host.add("preset", name="Cat", title="", content="meow")
        self.host.tables["chat_channel"][0]["preset_id"] = 1
        await self.plugin("")
        told = await self.run_in("""
            preset = await ctx.current_preset()
            return (ctx.chat_key, ctx.from_chat_key, ctx.channel_id, ctx.channel_type, ctx.channel_name,
                    ctx.adapter_key, ctx.from_user_id, ctx.db_user.username, ctx.db_user.id,
                    ctx.db_chat_channel.id, preset.name, (await ctx.get_core_config()).SUPER_USERS)
        """)
        self.assertEqual(told, repr((
            CHAT, CHAT, "group_123", "group", "Friends", "onebot_v11", "42", "Alice", 1, 1, "Cat", ["1"],
        )))

    async def test_a_context_for_another_chat(self) -> None:
        self.host.add("chat_channel", chat_key="discord-private_9", adapter_key="discord",
                      channel_id="private_9", channel_type="private")
        await self.plugin("")
        told = await self.run_in("""
            other = await AgentCtx.create_by_chat_key("discord-private_9")
            await other.send_text("over here")
            other.fs.shared_path.joinpath("a.txt").write_text("x")
            return other.channel_type, other.fs.forward_file(other.fs.shared_path / "a.txt")
        """)
        self.assertEqual(told, "('private', '/app/shared/a.txt')")
        self.assertEqual(self.host.sent[0]["session"], "discord-private_9")
        with self.assertRaisesRegex(StepError, "no chat 'nowhere-group_1'"):
            await self.run_in("await AgentCtx.create_by_chat_key('nowhere-group_1')")

    async def test_the_store_keeps_texts_by_three_keys(self) -> None:
        await self.plugin("")
        told = await self.run_in("""
            s = plugin.store
            codes = [await s.set(chat_key="a", store_key="k", value="1"),
                     await s.set(chat_key="a", store_key="k", value="2"),
                     await s.set(chat_key="b", store_key="k", value="3"),
                     await s.set(user_key="a", store_key="k", value="4")]
            kept = [await s.get("a", "", "k"), await s.get(chat_key="b", store_key="k"),
                    await s.get(user_key="a", store_key="k"), await s.get(store_key="k")]
            return codes, kept, await s.delete(chat_key="a", store_key="k"), await s.delete("a", "", "k")
        """)
        self.assertEqual(told, "([0, 1, 0, 0], ['2', '3', '4', None], 0, 1)")
        with self.assertRaisesRegex(StepError, "a stored value is a text, not dict"):
            await self.run_in("await plugin.store.set(store_key='k', value={})")


class Files(Scene):
    async def test_paths_lead_to_the_sessions_folders_and_nowhere_else(self) -> None:
        shared = self.host.root / "shared"
        (shared / "a.txt").write_text("hello")
        os.symlink("/etc", shared / "link")
        await self.plugin("")
        self.assertEqual(await self.run_in("return ctx.fs.get_file('/app/shared/a.txt').read_text()"), "'hello'")
        for path in ("/app/shared/../../x", "/app/uploads/../other/x", "/etc/passwd", "shared/a.txt", "/app/shared/link/passwd"):
            with self.assertRaises(StepError, msg=path) as caught:
                await self.run_in(f"return ctx.fs.get_file({path!r})")
            self.assertEqual(caught.exception.error["type"], "ValueError", path)

    async def test_the_older_helpers_are_as_careful(self) -> None:
        (self.host.root / "uploads" / "b.txt").write_text("up")
        await self.plugin("from nekro_agent.tools.path_convertor import *\nfrom pathlib import Path")
        source = """
            from pathlib import Path
            from nekro_agent.tools.path_convertor import convert_to_host_path, get_upload_file_path
            found = [convert_to_host_path(Path(p), ctx.chat_key, ctx.container_key).read_text()
                     for p in ("/app/uploads/b.txt", "./uploads/b.txt", "uploads/b.txt")]
            Path(get_upload_file_path(ctx.chat_key, "new/c.txt")).write_text("x")
            return found
        """
        self.assertEqual(await self.run_in(source), "['up', 'up', 'up']")
        self.assertTrue((self.host.root / "uploads" / "new" / "c.txt").exists())
        for path in ("/app/uploads/../../x", "x"):
            with self.assertRaises(StepError, msg=path):
                await self.run_in(f"""
                    from pathlib import Path
                    from nekro_agent.tools.path_convertor import convert_to_host_path
                    return convert_to_host_path(Path({path!r}), ctx.chat_key)
                """)
        with self.assertRaises(StepError):
            await self.run_in("""
                from nekro_agent.tools.path_convertor import get_upload_file_path
                return get_upload_file_path(ctx.chat_key, "../c.txt")
            """)

    async def test_anything_becomes_a_sandbox_path(self) -> None:
        await self.plugin("")
        told = await self.run_in("""
            import base64, pathlib
            outside = pathlib.Path("outside.txt"); outside.write_text("o")
            png = b"\\x89PNG\\r\\n\\x1a\\n"
            url = "data:image/png;base64," + base64.b64encode(png).decode()
            return [await ctx.fs.mixed_forward_file(it, name) for it, name in
                    ((png, ""), (url, "x.png"), ("https://example.org/y", ""), (outside, ""), (str(outside), "n.txt"))]
        """)
        paths = eval(told)
        self.assertRegex(paths[0], r"^/app/uploads/[0-9a-f]{32}\.png$")
        self.assertEqual(paths[1], "/app/uploads/x.png")
        self.assertRegex(paths[2], r"^/app/uploads/[0-9a-f]{32}\.png$")
        self.assertEqual(paths[3:], ["/app/uploads/outside.txt", "/app/uploads/n.txt"])

    async def test_only_files_of_plugins_own_are_forwarded(self) -> None:
        await self.plugin("""
            @plugin.mount_config()
            class C(ConfigBase):
                KEY: str = "secret"
        """)
        kept = await self.run_in("""
            place = plugin.get_plugin_data_dir() / "card.png"
            place.write_bytes(b"x")
            await ctx.send_image(str(place))
            return await ctx.fs.mixed_forward_file(place)
        """)
        self.assertEqual(kept, "'/app/uploads/card.png'")
        self.assertEqual(self.host.sent[0]["parts"], [{"type": "image", "url": "/app/uploads/card.png"}])
        for path in ("/etc/passwd", "nowhere.txt"):
            with self.assertRaises(StepError, msg=path):
                await self.run_in(f"return await ctx.fs.mixed_forward_file({path!r})")
        with self.assertRaises(StepError):
            await self.run_in("return await ctx.fs.mixed_forward_file(plugin.get_plugin_data_dir() / 'config.yaml')")
        await self.run_in("await ctx.send_file('/etc/passwd')")
        self.assertEqual(self.host.sent[1]["parts"][0]["type"], "text")


class Messages(Scene):
    async def test_texts_images_and_files_go_out(self) -> None:
        (self.host.root / "shared" / "cat.png").write_bytes(b"x")
        await self.plugin("")
        await self.run_in("""
            from nekro_agent.api.message import send_text, send_image, send_file
            await send_text(ctx.chat_key, "hi", ctx, record=False, ref_msg_id="7")
            await ctx.send_image("/app/shared/cat.png")
            await ctx.ms.send_file("onebot_v11-group_9", "https://example.org/a.pdf", ctx)
            await ctx.send_file(str(ctx.fs.shared_path / "cat.png"))
            await ctx.push_system("note", trigger_agent=True)
            from nekro_agent.services.message_service import message_service
            await message_service.push_system_message(chat_key=ctx.chat_key, agent_messages="plain")
        """)
        self.assertEqual([it["parts"][0] for it in self.host.sent], [
            {"type": "text", "text": "hi"},
            {"type": "image", "url": "/app/shared/cat.png"},
            {"type": "file", "name": "a.pdf", "url": "https://example.org/a.pdf"},
            {"type": "file", "name": "cat.png", "url": "/app/shared/cat.png"},
        ])
        first, _, third, _ = self.host.sent
        self.assertEqual((first["record"], first["reference"], first["session"]), (False, "7", CHAT))
        self.assertEqual((third["record"], third["session"]), (True, "onebot_v11-group_9"))
        self.assertEqual([(it["text"], it["trigger"]) for it in self.host.pushed], [("note", True), ("plain", False)])

    async def test_a_held_message_comes_back(self) -> None:
        await self.plugin("")
        await self.run_in("""
            from nekro_agent.services.message_service import message_service
            message = ChatMessage.create_empty(ctx.chat_key)
            message.sender_id, message.content_text = "42", "a b"
            await message_service.push_human_message(message, trigger_agent=True)
        """)
        self.assertEqual(self.host.tables["chat_message"][0]["content_text"], "a b")
        self.assertEqual(self.host.pushed, [{"session": CHAT, "text": "", "trigger": True}])

    async def test_a_file_that_is_not_there_is_told_in_the_chat(self) -> None:
        await self.plugin("")
        await self.run_in("await ctx.send_image('/app/shared/none.png'); await ctx.send_file('/app/shared/../../etc/passwd')")
        for sent in self.host.sent:
            self.assertEqual(sent["parts"][0]["type"], "text")
        self.assertIn("/app/shared/none.png", self.host.sent[0]["parts"][0]["text"])


if __name__ == "__main__":
    unittest.main()
