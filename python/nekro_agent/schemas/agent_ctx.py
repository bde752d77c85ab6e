"""`AgentCtx`: which chat and which person a plugin's code runs for, and what it can do there.

Complete, also where upstream leaves it empty: channel, user and persona are always known.
"""

from types import ModuleType
from typing import TYPE_CHECKING, Any, Optional

from callgate_worker import host
from pydantic import BaseModel, PrivateAttr

from nekro_agent import chat_keys, folders, platforms
from nekro_agent.core.config import CoreConfig, config
from nekro_agent.models.db_chat_channel import DBChatChannel, DefaultPreset
from nekro_agent.models.db_preset import DBPreset
from nekro_agent.models.db_user import DBUser
from nekro_agent.models.query import Query
from nekro_agent.tools.file_utils import FileSystem

if TYPE_CHECKING:
    from nekro_agent.adapters.interface.base import BaseAdapter
    from nekro_agent.models.db_workspace import DBWorkspace


class WebhookRequest(BaseModel):
    headers: dict[str, str]
    body: dict[str, Any]


class AgentCtx(BaseModel):
    container_key: str | None = None
    from_chat_key: str | None = None
    webhook_request: WebhookRequest | None = None
    channel_id: str | None = None
    channel_name: str | None = None
    channel_type: str | None = None
    adapter_key: str | None = None
    _db_chat_channel: DBChatChannel | None = PrivateAttr(default=None)
    _trigger_db_user: DBUser | None = PrivateAttr(default=None)
    _context: dict[str, Any] = PrivateAttr(default_factory=dict)

    def __init__(self, **given: Any) -> None:
        channel, user = given.pop("_db_chat_channel", None), given.pop("_trigger_db_user", None)
        super().__init__(**given)
        self._db_chat_channel, self._trigger_db_user = channel, user

    @classmethod
    def of_context(cls, context: dict[str, Any], request: WebhookRequest | None = None) -> "AgentCtx":
        """The context of a frame."""
        chat_key = context.get("chat_key") or ""
        if not chat_key:
            return cls(webhook_request=request)
        folders.learn(chat_key, context.get("shared") or "", context.get("uploads") or "")
        channel = context.get("channel") or {}
        made = cls(
            container_key=chat_keys.container_of(chat_key),
            from_chat_key=chat_key,
            webhook_request=request,
            # Compat(nekro): the channel's id is the chat key without its platform.
            channel_id=chat_keys.channel_of(chat_key),
            channel_name=platforms.name_of(chat_key) or channel.get("name") or "",
            channel_type=chat_keys.type_of(chat_key),
            adapter_key=chat_keys.adapter_of(chat_key),
        )
        made._context = context
        return made

    @property
    def chat_key(self) -> str:
        if not self.from_chat_key:
            raise ValueError("missing from_chat_key")
        return self.from_chat_key

    @property
    def _user(self) -> dict[str, Any]:
        return self._context.get("user") or {}

    @property
    def from_platform_userid(self) -> str | None:
        if self._trigger_db_user is not None:
            return self._trigger_db_user.platform_userid
        return self._user.get("id")

    @property
    def from_user_id(self) -> str | None:
        return self.from_platform_userid

    @property
    def db_chat_channel(self) -> DBChatChannel | None:
        """The row of this chat, read when it is first asked for."""
        if self._db_chat_channel is None and self.from_chat_key:
            found = _row(DBChatChannel.filter(chat_key=self.from_chat_key))
            self._db_chat_channel = found or DBChatChannel.from_chat_key(
                self.from_chat_key, self.channel_name or ""
            )
        return self._db_chat_channel

    @property
    def db_user(self) -> DBUser | None:
        """The row of the person who began this, read when it is first asked for."""
        user = self._user
        if self._trigger_db_user is None and user.get("id") and self.adapter_key:
            query = DBUser.filter(adapter_key=self.adapter_key, platform_userid=user["id"])
            self._trigger_db_user = _row(query) or DBUser(
                username=user.get("name") or user["id"],
                adapter_key=self.adapter_key,
                platform_userid=user["id"],
            )
        return self._trigger_db_user

    @property
    def adapter(self) -> "BaseAdapter":
        from nekro_agent.adapters.utils import adapter_utils

        if not self.adapter_key:
            raise ValueError("missing adapter_key")
        return adapter_utils.get_adapter(self.adapter_key)

    @property
    def fs(self) -> FileSystem:
        return FileSystem(self.chat_key, self.container_key or "")

    @property
    def ms(self) -> ModuleType:
        from nekro_agent.api import message

        return message

    async def get_core_config(self) -> CoreConfig:
        return config

    async def get_bound_workspace(self) -> Optional["DBWorkspace"]:
        return None

    async def get_onebot_v11_bot(self) -> Any:
        from nekro_agent.adapters.onebot_v11.adapter import bot_of_chat
        from nekro_agent.adapters.onebot_v11.core.bot import get_bot

        if self.adapter_key != "onebot_v11":
            raise ValueError(f"this chat is on '{self.adapter_key}', not on OneBot V11")
        # Raises where none is connected.
        get_bot()
        return await bot_of_chat(self.chat_key)

    async def send_text(self, content: str, *, record: bool = True) -> None:
        await self.ms.send_text(self.chat_key, content, self, record=record)

    async def send_image(self, file_path: str, *, record: bool = True) -> None:
        await self.ms.send_image(self.chat_key, file_path, self, record=record)

    async def send_file(self, file_path: str, *, record: bool = True) -> None:
        await self.ms.send_file(self.chat_key, file_path, self, record=record)

    async def push_system(self, message: str, trigger_agent: bool = False) -> None:
        await self.ms.push_system(self.chat_key, message, self, trigger_agent=trigger_agent)

    async def get_preset_by_id(self, preset_id: int) -> DBPreset | None:
        return None if preset_id == -1 else await DBPreset.get_or_none(id=preset_id)

    async def get_effective_preset_by_id(self, preset_id: int = -1) -> DBPreset | DefaultPreset:
        """The persona of that id, or else the one in force here."""
        found = await self.get_preset_by_id(preset_id)
        if found is not None:
            return found
        channel = self.db_chat_channel
        if channel is not None:
            return await channel.get_preset()
        return DefaultPreset(name=config.AI_CHAT_PRESET_NAME, content=config.AI_CHAT_PRESET_SETTING)

    async def set_preset(self, preset_id: int | None = None) -> bool:
        """Whether that changed anything."""
        channel = await DBChatChannel.get_channel(self.chat_key)
        wanted = None if preset_id == -1 else preset_id
        if channel.preset_id == wanted:
            return False
        await channel.set_preset(wanted)
        self._db_chat_channel = channel
        return True

    async def current_preset(self) -> DBPreset | DefaultPreset:
        return await self.get_effective_preset_by_id()

    @classmethod
    def create_by_db_chat_channel(
        cls,
        db_chat_channel: DBChatChannel,
        container_key: str | None = None,
        from_chat_key: str | None = None,
        webhook_request: WebhookRequest | None = None,
    ) -> "AgentCtx":
        return cls(
            container_key=container_key or chat_keys.container_of(db_chat_channel.chat_key),
            from_chat_key=from_chat_key or db_chat_channel.chat_key,
            channel_id=db_chat_channel.channel_id,
            channel_name=db_chat_channel.channel_name,
            channel_type=db_chat_channel.channel_type,
            adapter_key=db_chat_channel.adapter_key,
            webhook_request=webhook_request,
            _db_chat_channel=db_chat_channel,
        )

    @classmethod
    async def create_by_chat_key(
        cls,
        chat_key: str,
        container_key: str | None = None,
        from_chat_key: str | None = None,
        webhook_request: WebhookRequest | None = None,
    ) -> "AgentCtx":
        channel = await DBChatChannel.get_channel(chat_key=chat_key)
        return cls.create_by_db_chat_channel(channel, container_key, from_chat_key, webhook_request)

    @classmethod
    async def create_by_webhook(cls, webhook_request: WebhookRequest) -> "AgentCtx":
        return cls(webhook_request=webhook_request)


def _row(query: Query[Any]) -> Any:
    """One row at once, for a property."""
    try:
        rows = host.call_now("query", **query.limit(1).arguments("list"))
    except host.HostError:
        return None
    return query.model.from_store(rows[0]) if rows else None
