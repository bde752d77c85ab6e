"""What a plugin is given: models, tools, conversations, personas, platforms, configuration."""

from __future__ import annotations

import logging
from asyncio import Queue
from collections.abc import Awaitable, Callable
from typing import Any

from astrbot import texts
from astrbot.core.agent.hooks import BaseAgentRunHooks
from astrbot.core.agent.message import Message
from astrbot.core.agent.tool import FunctionTool, ToolSet
from astrbot.core.config.astrbot_config import AstrBotConfig
from astrbot.core.exceptions import ProviderNotFoundError
from astrbot.core.message.message_event_result import MessageChain
from astrbot.core.platform import Platform
from astrbot.core.platform.astr_message_event import AstrMessageEvent
from astrbot.core.platform.message_session import MessageSesion
from astrbot.core.provider.entities import LLMResponse, ProviderRequest, ProviderType
from astrbot.core.provider.func_tool_manager import FunctionToolManager
from astrbot.core.provider.provider import Provider, STTProvider, TTSProvider

from .filter.command import CommandFilter
from .filter.platform_adapter_type import ADAPTER_NAME_2_TYPE, PlatformAdapterType
from .filter.regex import RegexFilter
from .module_path import plugin_module
from .star import StarMetadata, star_map, star_registry
from .star_handler import EventType, StarHandlerMetadata, star_handlers_registry

logger = logging.getLogger("astrbot")
WebApi = tuple[str, Callable[..., Awaitable[Any]], list[str], str]


class Context:
    registered_web_apis: list[WebApi] = []
    _register_tasks: list[Awaitable] = []
    _star_manager: Any = None

    def __init__(
        self,
        event_queue: Queue,
        config: AstrBotConfig,
        db: Any,
        provider_manager: Any,
        platform_manager: Any,
        conversation_manager: Any,
        message_history_manager: Any,
        persona_manager: Any,
        astrbot_config_mgr: Any,
        knowledge_base_manager: Any,
        cron_manager: Any,
        subagent_orchestrator: Any = None,
    ) -> None:
        self._event_queue = event_queue
        self._config = config
        self._db = db
        self.provider_manager = provider_manager
        self.platform_manager = platform_manager
        self.conversation_manager = conversation_manager
        self.message_history_manager = message_history_manager
        self.persona_manager = persona_manager
        self.astrbot_config_mgr = astrbot_config_mgr
        self.kb_manager = knowledge_base_manager
        self.cron_manager = cron_manager
        self.subagent_orchestrator = subagent_orchestrator

    # Models and agents

    async def llm_generate(
        self,
        *,
        chat_provider_id: str,
        prompt: str | None = None,
        image_urls: list[str] | None = None,
        audio_urls: list[str] | None = None,
        tools: ToolSet | None = None,
        system_prompt: str | None = None,
        contexts: list[Message] | None = None,
        **kwargs: Any,
    ) -> LLMResponse:
        """One request, no tool is run. Raises when the model fails."""
        return await (await self._provider(chat_provider_id)).text_chat(
            prompt=prompt,
            image_urls=image_urls,
            audio_urls=audio_urls,
            func_tool=tools,
            contexts=contexts,
            system_prompt=system_prompt,
            **kwargs,
        )

    async def tool_loop_agent(
        self,
        *,
        event: AstrMessageEvent,
        chat_provider_id: str,
        prompt: str | None = None,
        image_urls: list[str] | None = None,
        audio_urls: list[str] | None = None,
        tools: ToolSet | None = None,
        system_prompt: str | None = None,
        contexts: list[Message] | None = None,
        max_steps: int = 30,
        tool_call_timeout: int = 120,
        **kwargs: Any,
    ) -> LLMResponse:
        """A bare loop: no persona, no history, no plugin hooks. A failing model answers with role `err`."""
        from astrbot.core.agent.runners.tool_loop_agent_runner import ToolLoopAgentRunner
        from astrbot.core.astr_agent_context import AgentContextWrapper, AstrAgentContext

        runner: ToolLoopAgentRunner = ToolLoopAgentRunner()
        await runner.reset(
            provider=await self._provider(chat_provider_id),
            request=ProviderRequest(
                prompt=prompt,
                image_urls=image_urls or [],
                audio_urls=audio_urls or [],
                func_tool=tools,
                contexts=[one.model_dump() if isinstance(one, Message) else one for one in contexts or []],
                system_prompt=system_prompt or "",
            ),
            run_context=AgentContextWrapper(
                context=kwargs.pop("agent_context", None) or AstrAgentContext(context=self, event=event),
                tool_call_timeout=tool_call_timeout,
            ),
            agent_hooks=kwargs.pop("agent_hooks", None) or BaseAgentRunHooks(),
            streaming=kwargs.pop("stream", False),
            **kwargs,
        )
        async for _ in runner.step_until_done(max_steps):
            pass
        if (final := runner.get_final_llm_resp()) is None:
            raise Exception(texts.LOOP_WITHOUT_ANSWER)
        return final

    async def _provider(self, provider_id: str) -> Provider:
        found = await self.provider_manager.get_provider_by_id(provider_id)
        if found is None:
            await self.provider_manager.refresh()
            found = await self.provider_manager.get_provider_by_id(provider_id)
        if not isinstance(found, Provider):
            raise ProviderNotFoundError(texts.PROVIDER_NOT_FOUND.format(id=provider_id))
        return found

    async def get_current_chat_provider_id(self, umo: str) -> str:
        found = await self.get_using_provider_async(umo)
        if not found:
            raise ProviderNotFoundError(texts.NO_PROVIDER)
        return found.meta().id

    def get_provider_by_id(self, provider_id: str) -> Any:
        found = self.provider_manager.inst_map.get(provider_id)
        if provider_id and not found:
            logger.warning(
                "there is no model %s; `callgate methods` and the settings list those there are", provider_id
            )
        return found

    def get_all_providers(self) -> list[Provider]:
        return self.provider_manager.provider_insts

    def get_all_tts_providers(self) -> list[TTSProvider]:
        return self.provider_manager.tts_provider_insts

    def get_all_stt_providers(self) -> list[STTProvider]:
        return self.provider_manager.stt_provider_insts

    def get_all_embedding_providers(self) -> list[Any]:
        return self.provider_manager.embedding_provider_insts

    def get_using_provider(self, umo: str | None = None) -> Provider | None:
        return self.provider_manager.get_using_provider(ProviderType.CHAT_COMPLETION, umo)

    async def get_using_provider_async(self, umo: str | None = None) -> Provider | None:
        return await self.provider_manager.get_using_provider_async(ProviderType.CHAT_COMPLETION, umo)

    def get_using_tts_provider(self, umo: str | None = None) -> TTSProvider | None:
        return self.provider_manager.get_using_provider(ProviderType.TEXT_TO_SPEECH, umo)

    async def get_using_tts_provider_async(self, umo: str | None = None) -> TTSProvider | None:
        return await self.provider_manager.get_using_provider_async(ProviderType.TEXT_TO_SPEECH, umo)

    def get_using_stt_provider(self, umo: str | None = None) -> STTProvider | None:
        return self.provider_manager.get_using_provider(ProviderType.SPEECH_TO_TEXT, umo)

    async def get_using_stt_provider_async(self, umo: str | None = None) -> STTProvider | None:
        return await self.provider_manager.get_using_provider_async(ProviderType.SPEECH_TO_TEXT, umo)

    def register_provider(self, provider: Provider) -> None:
        self.provider_manager.provider_insts.append(provider)

    # Tools

    def get_llm_tool_manager(self) -> FunctionToolManager:
        return self.provider_manager.llm_tools

    def add_llm_tools(self, *tools: FunctionTool) -> None:
        """A tool of a known name replaces it. All of one call belong to the plugin of the first."""
        catalogue = self.provider_manager.llm_tools
        owner = plugin_module(tools[0]) if tools else ""
        for tool in tools:
            tool.handler_module_path = owner
            if any(known.name == tool.name for known in catalogue.func_list):
                logging.getLogger("astrbot.author").warning("tool %s is replaced", tool.name)
                catalogue.remove_func(tool.name)
            catalogue.func_list.append(tool)

    def activate_llm_tool(self, name: str) -> bool:
        return self.provider_manager.llm_tools.activate_llm_tool(name, star_map)

    async def activate_llm_tool_async(self, name: str) -> bool:
        return await self.provider_manager.llm_tools.activate_llm_tool_async(name, star_map)

    def deactivate_llm_tool(self, name: str) -> bool:
        return self.provider_manager.llm_tools.deactivate_llm_tool(name)

    async def deactivate_llm_tool_async(self, name: str) -> bool:
        return await self.provider_manager.llm_tools.deactivate_llm_tool_async(name)

    def register_llm_tool(
        self, name: str, func_args: list, desc: str, func_obj: Callable[..., Awaitable[Any]]
    ) -> None:
        self.provider_manager.llm_tools.add_func(name, func_args, desc, func_obj)

    def unregister_llm_tool(self, name: str) -> None:
        self.provider_manager.llm_tools.remove_func(name)

    # Plugins, configuration, platforms

    def get_registered_star(self, star_name: str) -> StarMetadata | None:
        return next((star for star in star_registry if star.name == star_name), None)

    def get_all_stars(self) -> list[StarMetadata]:
        return star_registry

    def get_config(self, umo: str | None = None) -> Any:
        return self.astrbot_config_mgr.get_conf(umo) if umo else self._config

    def get_db(self) -> Any:
        return self._db

    def get_event_queue(self) -> Queue:
        return self._event_queue

    def get_platform(self, platform_type: PlatformAdapterType | str) -> Platform | None:
        for platform in self.platform_manager.platform_insts:
            name = platform.meta().name
            kind = ADAPTER_NAME_2_TYPE.get(name)
            if name == platform_type or (
                kind and not isinstance(platform_type, str) and kind & platform_type
            ):
                return platform
        return None

    def get_platform_inst(self, platform_id: str) -> Platform | None:
        return next(
            (one for one in self.platform_manager.platform_insts if one.meta().id == platform_id), None
        )

    async def send_message(self, session: str | MessageSesion, message_chain: MessageChain) -> bool:
        """Sends to any session; False when there is no such platform."""
        from astrbot.core.platform.outbox import send_chain

        if isinstance(session, str):
            try:
                session = MessageSesion.from_str(session)
            except ValueError as error:
                raise ValueError(texts.BAD_SESSION.format(error=error)) from error
        return await send_chain(str(session), message_chain)

    def register_web_api(
        self, route: str, view_handler: Callable[..., Awaitable[Any]], methods: list[str], desc: str
    ) -> None:
        for place, known in enumerate(self.registered_web_apis):
            if known[0] == route and known[2] == methods:
                self.registered_web_apis[place] = (route, view_handler, methods, desc)
                return
        self.registered_web_apis.append((route, view_handler, methods, desc))

    # AstrBot 3

    def register_commands(
        self,
        star_name: str,
        command_name: str,
        desc: str,
        priority: int,
        awaitable: Callable[..., Awaitable[Any]],
        use_regex: bool = False,
        ignore_prefix: bool = False,
    ) -> None:
        record = StarHandlerMetadata(
            event_type=EventType.AdapterMessageEvent,
            handler_full_name=f"{awaitable.__module__}_{awaitable.__name__}",
            handler_name=awaitable.__name__,
            handler_module_path=awaitable.__module__,
            handler=awaitable,
            event_filters=[],
            desc=desc,
        )
        command = RegexFilter(command_name) if use_regex else CommandFilter(command_name, handler_md=record)
        record.event_filters.append(command)
        star_handlers_registry.append(record)

    def register_task(self, task: Awaitable, desc: str) -> None:
        self._register_tasks.append(task)
