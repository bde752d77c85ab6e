"""By platform."""

from __future__ import annotations

import enum

from . import AstrBotConfig, AstrMessageEvent, HandlerFilter


class PlatformAdapterType(enum.Flag):
    AIOCQHTTP = enum.auto()
    QQOFFICIAL = enum.auto()
    QQOFFICIAL_WEBHOOK = enum.auto()
    TELEGRAM = enum.auto()
    WECOM = enum.auto()
    WECOM_AI_BOT = enum.auto()
    LARK = enum.auto()
    DINGTALK = enum.auto()
    DISCORD = enum.auto()
    SLACK = enum.auto()
    KOOK = enum.auto()
    VOCECHAT = enum.auto()
    WEIXIN_OFFICIAL_ACCOUNT = enum.auto()
    SATORI = enum.auto()
    MISSKEY = enum.auto()
    LINE = enum.auto()
    MATRIX = enum.auto()
    WEIXIN_OC = enum.auto()
    MATTERMOST = enum.auto()
    WEBCHAT = enum.auto()
    ALL = enum.auto()


ADAPTER_NAME_2_TYPE = {
    (
        "qq_official" + name.lower().removeprefix("qqofficial")
        if name.startswith("QQ")
        else name.lower()
    ): kind
    for name, kind in PlatformAdapterType.__members__.items()
    if kind is not PlatformAdapterType.ALL
}


class PlatformAdapterTypeFilter(HandlerFilter):
    def __init__(self, platform_adapter_type_or_str: PlatformAdapterType | str) -> None:
        given = platform_adapter_type_or_str
        self.platform_type = ADAPTER_NAME_2_TYPE.get(given) if isinstance(given, str) else given

    def filter(self, event: AstrMessageEvent, cfg: AstrBotConfig) -> bool:
        if self.platform_type is None:
            return False
        if self.platform_type & PlatformAdapterType.ALL:
            return True
        kind = ADAPTER_NAME_2_TYPE.get(event.get_platform_name())
        return kind is not None and bool(kind & self.platform_type)
