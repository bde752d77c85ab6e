"""How AstrBot plugins load: names, metadata, import paths, what other modules of AstrBot are."""

import json
import tempfile
import textwrap
import unittest
from pathlib import Path

from callgate_worker.survey import survey
from test_astrbot_ai import Written

MODULES = """
    from astrbot.api import AstrBotConfig, BaseFunctionToolExecutor, FunctionTool, ToolSet, agent, html_renderer, llm_tool, logger, sp
    from astrbot.api.event import AstrMessageEvent, CommandResult, EventResultType, MessageChain, MessageEventResult, ResultContentType, filter
    from astrbot.api.platform import AstrBotMessage, Group, MessageMember, MessageType, Platform, PlatformMetadata, register_platform_adapter
    from astrbot.api.provider import LLMResponse, Personality, Provider, ProviderMetaData, ProviderRequest, ProviderType, STTProvider
    from astrbot.api.star import Context, Star, StarTools, register
    from astrbot.api.util import SessionController, SessionWaiter, session_waiter
    from astrbot.api.web import error_response, file_response, json_response, request, stream_response
    from astrbot.core import AstrBotConfig, astrbot_config, db_helper, file_token_service, html_renderer, logger, pip_installer, sp
    from astrbot.core.agent.agent import Agent
    from astrbot.core.agent.handoff import HandoffTool
    from astrbot.core.agent.hooks import BaseAgentRunHooks
    from astrbot.core.agent.message import AssistantMessageSegment, ImageURLPart, Message, TextPart, UserMessageSegment
    from astrbot.core.agent.run_context import ContextWrapper
    from astrbot.core.agent.runners.tool_loop_agent_runner import ToolLoopAgentRunner
    from astrbot.core.agent.tool import FunctionTool, ToolExecResult, ToolSet
    from astrbot.core.astr_agent_context import AgentContextWrapper, AstrAgentContext
    from astrbot.core.config.astrbot_config import AstrBotConfig
    from astrbot.core.config.default import DEFAULT_CONFIG, VERSION
    from astrbot.core.conversation_mgr import Conversation, ConversationManager
    from astrbot.core.cron.manager import CronJobManager
    from astrbot.core.db.po import Conversation, Persona, Personality
    from astrbot.core.message.components import BaseMessageComponent, Plain
    from astrbot.core.message.message_event_result import MessageChain
    from astrbot.core.persona_mgr import DEFAULT_PERSONALITY, PersonaManager
    from astrbot.core.pipeline.context_utils import call_event_hook
    from astrbot.core.platform.astr_message_event import AstrMessageEvent, MessageSesion
    from astrbot.core.platform.manager import PlatformManager
    from astrbot.core.platform.message_session import MessageSession
    from astrbot.core.platform.sources.aiocqhttp.aiocqhttp_message_event import AiocqhttpMessageEvent
    from astrbot.core.platform.sources.aiocqhttp.aiocqhttp_platform_adapter import AiocqhttpAdapter
    from astrbot.core.platform.sources.telegram.tg_event import TelegramPlatformEvent
    from astrbot.core.platform.sources.lark.lark_event import LarkMessageEvent
    from astrbot.core.provider.entites import LLMResponse, ProviderRequest
    from astrbot.core.provider.func_tool_manager import FuncCall, FuncTool
    from astrbot.core.provider.manager import ProviderManager
    from astrbot.core.provider.provider import EmbeddingProvider, Provider, RerankProvider
    from astrbot.core.provider.register import llm_tools, register_provider_adapter
    from astrbot.core.star.context import Context
    from astrbot.core.star.filter.command import CommandFilter, GreedyStr
    from astrbot.core.star.filter.command_group import CommandGroupFilter
    from astrbot.core.star.filter.permission import PermissionType
    from astrbot.core.star.register import register_command
    from astrbot.core.star.register.star_handler import register_on_platform_loaded
    from astrbot.core.star.star import star_map, star_registry
    from astrbot.core.star.star_handler import EventType, star_handlers_registry
    from astrbot.core.star.star_manager import PluginManager
    from astrbot.core.star.star_tools import StarTools
    from astrbot.core.utils.active_event_registry import active_event_registry
    from astrbot.core.utils.astrbot_path import get_astrbot_data_path, get_astrbot_plugin_path, get_astrbot_temp_path
    from astrbot.core.utils.io import download_file, download_image_by_url, save_temp_img
    from astrbot.core.utils.session_waiter import DefaultSessionFilter, SessionFilter
    from astrbot.core.db.vec_db.faiss_impl.vec_db import FaissVecDB
    from astrbot.core.utils.quoted_message_parser import extract_quoted_message_text
    from typing import override
"""


class Metadata(unittest.TestCase):
    def test_what_a_plugin_says_of_itself(self) -> None:
        """Texts of several lines are texts, whatever they look like; lists are lists."""
        from callgate_worker.manifest import scalars

        told = scalars("name: x\ndesc: |\n  One:\n  - two\n\nversion: v1 # first\ntags:\n  - a\n  - b\n")
        self.assertEqual(told, {"name": "x", "desc": "One:\n- two", "version": "v1", "tags": ["a", "b"]})

    def test_packages_that_upstream_ships(self) -> None:
        """Large ones are installed for those that import them, unless they name one themselves."""
        with tempfile.TemporaryDirectory(prefix="callgate-survey-") as folder:
            for name, source, named in (
                ("uses", "def f():\n    import faiss", ""),
                ("names", "import faiss", "faiss_gpu>=1.7\n"),
                ("neither", "import json", ""),
            ):
                plugin = Path(folder) / name
                plugin.mkdir()
                (plugin / "main.py").write_text(f"from astrbot.api.star import Star\n{source}\n", "utf-8")
                (plugin / "requirements.txt").write_text(named, "utf-8")
            found = [survey(Path(folder) / name)["requirements"] for name in ("uses", "names", "neither")]
        self.assertEqual(found, [["faiss-cpu"], ["faiss_gpu>=1.7"], []])


class Loading(Written):
    async def test_the_module_tree(self) -> None:
        """Every path of the survey imports, old spellings included; `import *` leaks what upstream's does."""
        body = (
            MODULES
            + """
    from astrbot.api.all import *
    try:
        from astrbot.core.utils.io import no_such_name
    except ImportError:
        pass
    from astrbot.core.pipeline.waking_check.stage import WakingCheckStage
    original = WakingCheckStage.process
    WakingCheckStage.process = lambda self: original(self)
    class P(Star):
        @filter.command("use")
        async def use(self, event: AiocqhttpMessageEvent):
            try:
                LarkMessageEvent("x")
            except Exception as error:
                yield event.plain_result(f"{isinstance(event, AiocqhttpMessageEvent)} {hasattr(event, 'bot')} {error}")
            yield event.plain_result(json.dumps(os.path.basename(os.getcwd()) != "") + str(asyncio.iscoroutinefunction(self.use)))
    """
        )
        await self.stage.load(self.write(body, head=""))
        sent = await self.stage.say("/use")
        self.assertEqual(sent[0][0].split(" ")[:2], ["False", "False"])
        self.assertIn("LarkMessageEvent is part of AstrBot's own machinery", sent[0][0])
        self.assertEqual(sent[1], ["trueFalse"])

    async def test_metadata(self) -> None:
        """metadata.yaml wins over @register; a malformed one is left out; a version range is checked."""
        body = """
            @register("given", "me", "what", "2.0")
            class P(Star):
                pass
        """
        head = "from astrbot.api.star import Star, register\n"
        folder = self.write(textwrap.dedent(body), head=head)
        folder.joinpath("main.py").write_text(head + textwrap.dedent(body), "utf-8")
        loaded = await self.stage.load(folder)
        self.assertEqual((loaded["id"], loaded["version"], loaded["warnings"]), ("given", "2.0", []))
        folder.joinpath("metadata.yaml").write_text("name: x\nauthor: [", "utf-8")
        loaded = await self.stage.load(folder)
        self.assertEqual(loaded["id"], "given")
        self.assertEqual(len(loaded["warnings"]), 1)
        folder.joinpath("metadata.yaml").write_text(
            "name: x\nauthor: A\ndescription: d\nversion: v1\n", "utf-8"
        )
        loaded = await self.stage.load(folder)
        self.assertEqual((loaded["id"], loaded["version"], loaded["author"]), ("x", "v1", "A"))
        with folder.joinpath("metadata.yaml").open("a") as file:
            file.write('astrbot_version: ">=99"\n')
        with self.assertRaises(Exception) as caught:
            await self.stage.load(folder)
        self.assertIn(">=99", str(caught.exception))

    async def test_reloading_is_fresh(self) -> None:
        """A reload runs the new code once; nothing of the old one answers."""
        body = """
            from .part import WORD
            @filter.command("word")
            async def word(self, event):
                yield event.plain_result(self.WORD)
        """
        folder = self.write(body)
        folder.joinpath("part.py").write_text("WORD = 'old'")
        await self.stage.load(folder)
        self.assertEqual(await self.stage.say("/word"), [["old"]])
        folder.joinpath("part.py").write_text("WORD = 'quite new'")
        await self.stage.load(folder)
        self.assertEqual(await self.stage.say("/word"), [["quite new"]])
        await self.stage.rig.step("unload", plugin="written")
        self.assertEqual(await self.stage.say("/word", llm=[{"text": "model"}]), [["model"]])

    async def test_constructors(self) -> None:
        """Configuration is given where there is a schema, and left out where the constructor has no room for it."""
        folder = self.write("def __init__(self, context):\n    super().__init__(context)\n    self.ok = True")
        folder.joinpath("_conf_schema.json").write_bytes(
            b"\xef\xbb\xbf" + json.dumps({"n": {"type": "int", "default": 4}}).encode()
        )
        loaded = await self.stage.load(folder)
        self.assertEqual(loaded["config"]["values"], {"n": 4})
        self.assertEqual(
            await self.stage.py("return star.ok, star.name, star.context is ctx"), "(True, 'written', True)"
        )
        folder.joinpath("_conf_schema.json").write_text('{"n": {"type": "colour"}}')
        with self.assertRaises(Exception) as caught:
            await self.stage.load(folder)
        self.assertIn("colour", str(caught.exception))

    async def test_a_broken_plugin_leaves_nothing(self) -> None:
        message = await self.refused("""
            @filter.command("half")
            async def half(self, event): yield event.plain_result("half")
            async def initialize(self): raise RuntimeError("no key")
        """)
        self.assertEqual(message, "no key")
        await self.stage.load(self.write("pass", name="other"))
        self.assertEqual(await self.stage.say("/half", llm=[{"text": "model"}]), [["model"]])
