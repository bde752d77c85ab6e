"""OneBot V11 as plugins hold it."""

from typing import Any

from nekro_agent import chat_keys, platforms
from nekro_agent.adapters.interface.base import AdapterMetadata, BaseAdapter
from nekro_agent.adapters.interface.schemas.platform import PlatformChannel, PlatformUser
from nekro_agent.adapters.onebot_v11.core.bot import get_bot, login
from nekro_agent.core.core_utils import ConfigBase
from nekro_agent.schemas.chat_message import ChatType

_AVATAR = "https://q1.qlogo.cn/g?b=qq&nk={id}&s=640"


class OnebotV11Config(ConfigBase):
    """Compat(nekro): what plugins read. Connections are configured in the host."""

    ENABLED: bool = True
    BOT_QQ: str = ""
    RESOLVE_CQ_CODE: bool = False
    SESSION_ENABLE_AT: bool = True
    SESSION_GROUP_WELCOME_ENABLED: bool = False
    SESSION_GROUP_LEAVE_NOTICE_ENABLED: bool = False
    NAPCAT_ACCESS_URL: str = ""
    NAPCAT_CONTAINER_NAME: str = ""


class OnebotV11Adapter(BaseAdapter):
    @property
    def metadata(self) -> AdapterMetadata:
        tags = ["qq", "onebot", "v11", "chat", "messaging"]
        return AdapterMetadata(name="OneBot V11", description="OneBot through the host", tags=tags)

    @property
    def config(self) -> OnebotV11Config:
        return OnebotV11Config(BOT_QQ=get_bot().self_id)

    async def get_self_info(self) -> PlatformUser:
        info = await get_bot().get_login_info()
        return _user(str(info["user_id"]), info.get("nickname") or "")

    async def get_user_info(self, user_id: str, channel_id: str = "") -> PlatformUser:
        kind, _, number = channel_id.partition("_")
        if kind == "group":
            info = await get_bot().get_group_member_info(group_id=int(number), user_id=int(user_id))
        else:
            info = await get_bot().get_stranger_info(user_id=int(user_id))
        return _user(user_id, info.get("card") or info.get("nickname") or "")

    async def get_channel_info(self, channel_id: str) -> PlatformChannel:
        kind, _, number = channel_id.partition("_")
        if kind == "group":
            name = (await get_bot().get_group_info(group_id=int(number))).get("group_name")
        else:
            name = (await get_bot().get_stranger_info(user_id=int(number))).get("nickname")
        return PlatformChannel(channel_id=channel_id, channel_name=name or channel_id, channel_type=ChatType(kind))

    async def set_message_reaction(self, message_id: str, status: bool = True) -> bool:
        from nonebot.adapters.onebot.v11.exception import OneBotV11AdapterException

        asked: dict[str, Any] = {"message_id": int(message_id), "emoji_id": "212", "set": str(status).lower()}
        try:
            await get_bot().set_msg_emoji_like(**asked)
        except OneBotV11AdapterException:
            return False
        return True


def _user(id: str, name: str) -> PlatformUser:
    return PlatformUser(platform_name="qq", user_id=id, user_name=name or id, user_avatar=_AVATAR.format(id=id))


async def bot_of_chat(chat_key: str) -> Any:
    """The bot that speaks in that chat, knowing who it is."""
    return await login(get_bot(chat_keys.platform_of(platforms.chat_key(chat_key))))
