"""By the sender's role."""

import enum

from . import AstrBotConfig, AstrMessageEvent, HandlerFilter


class PermissionType(enum.Flag):
    ADMIN = enum.auto()
    MEMBER = enum.auto()


class PermissionTypeFilter(HandlerFilter):
    def __init__(self, permission_type: PermissionType, raise_error: bool = True) -> None:
        self.permission_type = permission_type
        self.raise_error = raise_error

    def filter(self, event: AstrMessageEvent, cfg: AstrBotConfig) -> bool:
        return self.permission_type != PermissionType.ADMIN or event.is_admin()
