"""Commands, groups and the other conditions of message handlers."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from astrbot import logger, texts

from ..filter import HandlerFilter
from ..filter.command import CommandFilter
from ..filter.command_group import CommandGroupFilter
from ..filter.custom_filter import CustomFilterAnd, CustomFilterOr
from ..filter.event_message_type import EventMessageType, EventMessageTypeFilter
from ..filter.permission import PermissionType, PermissionTypeFilter
from ..filter.platform_adapter_type import PlatformAdapterType, PlatformAdapterTypeFilter
from ..filter.regex import RegexFilter
from ..star_handler import EventType, StarHandlerMetadata
from .handler import get_handler_full_name, get_handler_or_create


def _message_handler(function: Callable[..., Any], kwargs: dict) -> StarHandlerMetadata:
    return get_handler_or_create(function, EventType.AdapterMessageEvent, **kwargs)


def _with(condition: HandlerFilter, kwargs: dict):
    def decorator(function: Callable[..., Any]) -> Callable[..., Any]:
        _message_handler(function, kwargs).event_filters.append(condition)
        return function

    return decorator


def register_command(
    command_name: str | RegisteringCommandable | None = None,
    sub_command: str | None = None,
    alias: set | None = None,
    **kwargs: Any,
):
    """`filter.command(name)`, or `group.command(name)` where the group arrives as `command_name`."""
    command = None
    if isinstance(command_name, RegisteringCommandable):
        kwargs["sub_command"] = True
        if sub_command is None:
            logger.warning("a command of a group was registered without a name")
        else:
            group = command_name.parent_group
            command = CommandFilter(sub_command, alias, None, group.get_complete_command_names())
            group.add_sub_command_filter(command)
    elif command_name is None:
        logger.warning("a command was registered without a name")
    else:
        command = CommandFilter(command_name, alias, None)

    def decorator(function: Callable[..., Any]) -> Callable[..., Any]:
        record = _message_handler(function, kwargs)
        if command:
            command.init_handler_md(record)
            record.event_filters.append(command)
        return function

    return decorator


def register_command_group(
    command_group_name: str | RegisteringCommandable | None = None,
    sub_command: str | None = None,
    alias: set | None = None,
    **kwargs: Any,
):
    group = None
    if isinstance(command_group_name, RegisteringCommandable):
        if sub_command is not None:
            parent = command_group_name.parent_group
            group = CommandGroupFilter(sub_command, alias, parent)
            parent.add_sub_command_filter(group)
    elif command_group_name is not None:
        group = CommandGroupFilter(command_group_name, alias)

    def decorator(function: Callable[..., Any]) -> RegisteringCommandable:
        if group is None:
            raise ValueError(texts.GROUP_REGISTRATION)
        _message_handler(function, kwargs).event_filters.append(group)
        return RegisteringCommandable(group)

    return decorator


def register_custom_filter(custom_type_filter: Any, *args: Any, **kwargs: Any):
    """On a bare handler `(filter, raise_error)`; below a group `(group, filter, raise_error)`."""
    grouped = isinstance(custom_type_filter, RegisteringCommandable)
    wanted, *rest = args if grouped else (custom_type_filter, *args)
    made = (
        wanted if isinstance(wanted, (CustomFilterAnd, CustomFilterOr)) else wanted(rest[0] if rest else True)
    )

    def decorator(function: Any) -> Any:
        if isinstance(function, RegisteringCommandable):
            function.parent_group.add_custom_filter(made)
        elif not grouped:
            _message_handler(function, kwargs).event_filters.append(made)
        else:
            full_name = get_handler_full_name(function)
            for sub in custom_type_filter.parent_group.sub_command_filters:
                if isinstance(sub, CommandFilter) and sub.get_handler_md().handler_full_name == full_name:
                    sub.add_custom_filter(made)
        return function

    return decorator


class RegisteringCommandable:
    """A group while its commands register: `@group.command(...)`, `@group.group(...)`."""

    group = register_command_group
    command = register_command
    custom_filter = register_custom_filter

    def __init__(self, parent_group: CommandGroupFilter) -> None:
        self.parent_group = parent_group


def register_event_message_type(event_message_type: EventMessageType, **kwargs: Any):
    return _with(EventMessageTypeFilter(event_message_type), kwargs)


def register_platform_adapter_type(platform_adapter_type: PlatformAdapterType | str, **kwargs: Any):
    return _with(PlatformAdapterTypeFilter(platform_adapter_type), kwargs)


def register_regex(regex: str | re.Pattern, **kwargs: Any):
    return _with(RegexFilter(regex), kwargs)


def register_permission_type(permission_type: PermissionType, raise_error: bool = True, **kwargs: Any):
    return _with(PermissionTypeFilter(permission_type, raise_error), kwargs)
