"""Class methods a plugin may use without a context at hand."""

from __future__ import annotations

import inspect
import uuid
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, ClassVar

from astrbot import texts
from astrbot.core.message.components import BaseMessageComponent
from astrbot.core.message.message_event_result import MessageChain
from astrbot.core.platform import AstrBotMessage, MessageMember, MessageType
from astrbot.core.platform.message_session import MessageSesion
from astrbot.core.star.context import Context
from astrbot.core.star.star import star_map
from astrbot.core.utils.astrbot_path import get_astrbot_plugin_data_path


class StarTools:
    _context: ClassVar[Context | None] = None

    @classmethod
    def initialize(cls, context: Context) -> None:
        cls._context = context

    @classmethod
    def _given(cls) -> Context:
        if cls._context is None:
            raise ValueError("StarTools not initialized")
        return cls._context

    @classmethod
    async def send_message(cls, session: str | MessageSesion, message_chain: MessageChain) -> bool:
        return await cls._given().send_message(session, message_chain)

    @classmethod
    async def create_message(
        cls,
        type: str,
        self_id: str,
        session_id: str,
        sender: MessageMember,
        message: list[BaseMessageComponent],
        message_str: str,
        message_id: str = "",
        raw_message: object = None,
        group_id: str = "",
    ) -> AstrBotMessage:
        made = AstrBotMessage()
        made.type = MessageType(type)
        made.self_id = self_id
        made.session_id = session_id
        made.message_id = message_id or uuid.uuid4().hex
        made.sender = sender
        made.message = message
        made.message_str = message_str
        made.raw_message = raw_message
        made.group_id = group_id
        return made

    @classmethod
    async def create_event(
        cls, abm: AstrBotMessage, platform: str = "aiocqhttp", is_wake: bool = True
    ) -> None:
        platforms = cls._given().platform_manager.get_insts()
        adapter = next((one for one in platforms if platform in (one.meta().id, one.meta().name)), None)
        if adapter is None:
            raise ValueError(f"Platform not found: {platform}")
        event = adapter.create_event(abm)
        event.is_wake = is_wake
        adapter.commit_event(event)

    @classmethod
    def activate_llm_tool(cls, name: str) -> bool:
        return cls._given().activate_llm_tool(name)

    @classmethod
    async def activate_llm_tool_async(cls, name: str) -> bool:
        return await cls._given().activate_llm_tool_async(name)

    @classmethod
    def deactivate_llm_tool(cls, name: str) -> bool:
        return cls._given().deactivate_llm_tool(name)

    @classmethod
    async def deactivate_llm_tool_async(cls, name: str) -> bool:
        return await cls._given().deactivate_llm_tool_async(name)

    @classmethod
    def register_llm_tool(
        cls, name: str, func_args: list, desc: str, func_obj: Callable[..., Awaitable[Any]]
    ) -> None:
        cls._given().register_llm_tool(name, func_args, desc, func_obj)

    @classmethod
    def unregister_llm_tool(cls, name: str) -> None:
        cls._given().unregister_llm_tool(name)

    @classmethod
    def get_data_dir(cls, plugin_name: str | None = None) -> Path:
        """`data/plugin_data/<name>`, made if needed; without a name, of the plugin whose code calls."""
        if not plugin_name:
            frame = inspect.currentframe()
            module = inspect.getmodule(frame.f_back) if frame else None
            if module is None:
                raise RuntimeError(texts.NO_CALLER)
            metadata = star_map.get(module.__name__)
            if metadata is None:
                raise RuntimeError(texts.NO_PLUGIN_OF_MODULE.format(module=module.__name__))
            plugin_name = metadata.name
        if not plugin_name:
            raise ValueError(texts.NO_PLUGIN_NAME)
        folder = Path(get_astrbot_plugin_data_path()) / plugin_name
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise RuntimeError(texts.NO_FOLDER.format(folder=folder, error=error)) from error
        return folder.resolve()
