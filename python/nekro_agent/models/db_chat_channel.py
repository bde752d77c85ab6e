"""Sessions, which Nekro calls channels."""

import json
from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from nekro_agent import chat_keys, texts
from nekro_agent.core.config import CoreConfig, config
from nekro_agent.models.db_preset import DBPreset
from nekro_agent.models.model import Model
from nekro_agent.schemas.chat_message import ChatType
from nekro_agent.schemas.i18n import say

if TYPE_CHECKING:
    from nekro_agent.adapters.interface.base import BaseAdapter


class ChannelStatus(StrEnum):
    ACTIVE = "active"
    OBSERVE = "observe"
    DISABLED = "disabled"


class DefaultPreset(BaseModel):
    """The persona of a session that has chosen none."""

    name: str
    content: str


class DBChatChannel(Model):
    TABLE = "chat_channel"
    COLUMNS = {
        "id": int, "is_active": bool, "observe_mode": bool, "preset_id": int, "data": str,
        "adapter_key": str, "channel_id": str, "channel_name": str, "channel_type": str,
        "chat_key": str, "conversation_start_time": datetime, "workspace_id": int,
        "create_time": datetime, "update_time": datetime,
    }
    DEFAULTS = {"is_active": True, "observe_mode": False, "data": "{}"}

    @classmethod
    def from_chat_key(cls, chat_key: str, name: str = "") -> "DBChatChannel":
        """What the key alone tells, for a session the host has no row of yet."""
        return cls(
            chat_key=chat_key,
            adapter_key=chat_keys.adapter_of(chat_key),
            channel_id=chat_keys.channel_of(chat_key),
            channel_type=chat_keys.type_of(chat_key),
            channel_name=name,
            conversation_start_time=datetime.now(UTC),
        )

    @classmethod
    async def get_or_create(  # type: ignore[override]
        cls,
        adapter_key: str,
        channel_id: str,
        channel_type: ChatType,
        channel_name: str = "",
        chat_key: str | None = None,
    ) -> "DBChatChannel":
        key = chat_key if chat_key is not None else f"{adapter_key}-{channel_id}"
        found = await cls.filter(chat_key=key).first()
        if found is None:
            found = cls.from_chat_key(key, channel_name)
            found.channel_type = ChatType(channel_type).value
            await found.save()
        elif channel_name and found.channel_name != channel_name:
            found.channel_name = channel_name
            await found.save(update_fields=["channel_name"])
        return found

    @classmethod
    async def get_channel(cls, chat_key: str) -> "DBChatChannel":
        found = await cls.filter(chat_key=chat_key).first()
        if found is None:
            raise ValueError(texts.NO_CHANNEL.format(chat_key=chat_key))
        return found

    async def sync_channel_name(self) -> None:
        """The host keeps names up to date."""

    async def get_channel_name(self) -> str:
        return self.channel_name or self.channel_id

    def _extra(self) -> dict[str, Any]:
        try:
            extra = json.loads(self.data or "{}")
        except json.JSONDecodeError:
            return {}
        return extra if isinstance(extra, dict) else {}

    def get_custom_channel_name(self) -> str | None:
        return self._extra().get("custom_channel_name") or None

    async def set_custom_channel_name(self, name: str | None) -> None:
        extra = self._extra()
        extra.pop("custom_channel_name", None)
        if name and name.strip():
            extra["custom_channel_name"] = name.strip()
        self.data = json.dumps(extra, ensure_ascii=False)
        await self.save(update_fields=["data"])

    async def reset_channel(self) -> None:
        """A new start of the conversation; every plugin's reset hook hears of it."""
        from nekro_agent.schemas.agent_ctx import AgentCtx
        from nekro_agent.services.plugin.collector import plugin_collector

        self.conversation_start_time = datetime.now(UTC)
        await self.save()
        await plugin_collector.chat_channel_on_reset(AgentCtx.create_by_db_chat_channel(self))

    async def set_active(self, is_active: bool) -> None:
        await self.set_channel_status(ChannelStatus.ACTIVE if is_active else ChannelStatus.DISABLED)

    @property
    def channel_status(self) -> ChannelStatus:
        if not self.is_active:
            return ChannelStatus.DISABLED
        return ChannelStatus.OBSERVE if self.observe_mode else ChannelStatus.ACTIVE

    async def set_channel_status(self, status: ChannelStatus | str) -> None:
        wanted = ChannelStatus(status)
        self.is_active = wanted is not ChannelStatus.DISABLED
        self.observe_mode = wanted is ChannelStatus.OBSERVE
        await self.save()

    @property
    def chat_type(self) -> ChatType:
        try:
            return ChatType(self.channel_type)
        except ValueError:
            return ChatType.UNKNOWN

    async def get_preset(self) -> DBPreset | DefaultPreset:
        """The persona in force here."""
        for preset_id in (self.preset_id, config.AI_CHAT_DEFAULT_PRESET_ID):
            if preset_id is not None and (found := await DBPreset.get_or_none(id=preset_id)):
                return found
        return DefaultPreset(name=config.AI_CHAT_PRESET_NAME, content=config.AI_CHAT_PRESET_SETTING)

    async def set_preset(self, preset_id: int | None = None) -> str:
        self.preset_id = None if preset_id == -1 else preset_id
        await self.save()
        return say(texts.PRESET_CHOSEN, name=(await self.get_preset()).name)

    @property
    def adapter(self) -> "BaseAdapter":
        from nekro_agent.adapters.utils import adapter_utils

        return adapter_utils.get_adapter(self.adapter_key)

    async def get_effective_config(self) -> CoreConfig:
        return config
