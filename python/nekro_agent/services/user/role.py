"""Levels of rights."""

from enum import IntEnum


class Role(IntEnum):
    Guest = 0
    User = 1
    Admin = 2
    Super = 3


def get_perm_role(level: int) -> str:
    return Role(min(max(level, 0), 3)).name
