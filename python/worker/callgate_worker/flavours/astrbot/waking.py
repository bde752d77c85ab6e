"""Which handlers an event concerns: wake prefix, mention, filters, permissions."""

from __future__ import annotations

import logging
from typing import Any

from callgate_worker import language

logger = logging.getLogger("astrbot")


async def wake(event: Any, config: Any, facts: dict[str, Any]) -> list[tuple[Any, dict[str, Any]]]:
    """The handlers to run, each with its parsed arguments. Errors of filters are told to the user and stop
    the event."""
    from astrbot import texts
    from astrbot.core.message.message_event_result import MessageChain
    from astrbot.core.pipeline.context_utils import belonging
    from astrbot.core.star.filter.command_group import CommandGroupFilter
    from astrbot.core.star.filter.permission import PermissionTypeFilter
    from astrbot.core.star.star import star_map
    from astrbot.core.star.star_handler import EventType, star_handlers_registry

    _address(event, config, facts)
    enabled = config.get("plugin_set", ["*"])
    event.plugins_name = None if enabled == ["*"] else enabled
    if off := facts.get("off"):
        # The operator switched these off in this session.
        names = [star.name for star in star_map.values() if star.name] if enabled == ["*"] else enabled
        event.plugins_name = [name for name in names if name not in off]
    chosen: list[tuple[Any, dict[str, Any] | None]] = []
    for record in star_handlers_registry.get_handlers_by_event_type(
        EventType.AdapterMessageEvent, plugins_name=event.plugins_name
    ):
        if not record.event_filters:
            continue
        passed, denied = True, None
        with belonging(record):
            for condition in record.event_filters:
                try:
                    fits = condition.filter(event, config)
                except Exception as error:
                    name = star_map[record.handler_module_path].name
                    said = MessageChain().message(language.say(texts.FILTER_FAILED, plugin=name, error=error))
                    await event.send(said.use_markdown(False))
                    event.stop_event()
                    fits = False
                if not fits and isinstance(condition, PermissionTypeFilter) and not event.is_stopped():
                    denied = condition
                elif not fits:
                    passed = False
                    break
        arguments = event._extras.pop("parsed_params", None)
        if not passed or (denied and not denied.raise_error):
            continue
        if denied:
            if config["platform_settings"].get("no_permission_reply", True):
                account = f"{event.get_platform_id()}:{event.get_sender_id()}"
                said = language.say(texts.NO_PERMISSION, account=account)
                await event.send(MessageChain().message(said))
            event.stop_event()
            return []
        event.is_wake = True
        if not any(isinstance(condition, CommandGroupFilter) for condition in record.event_filters):
            chosen.append((record, arguments))
    event.set_extra("activated_handlers", [record for record, _ in chosen])
    # Compat(astrbot): by this plugins tell whether a command was given; listeners are not in it.
    commands = {record.handler_full_name: given for record, given in chosen if given is not None}
    event.set_extra("handlers_parsed_params", commands)
    return [(record, given or {}) for record, given in chosen]


def _address(event: Any, config: Any, facts: dict[str, Any]) -> None:
    """Is the bot meant: by prefix (which is cut off), mention, reply, or because the chat is private."""
    from astrbot.core.message.components import At, AtAll, Reply

    event.message_str = event.message_str.strip()
    me = str(event.get_self_id())
    parts = event.get_messages()
    meant = bool(facts.get("wake"))
    for prefix in config.get("wake_prefix", []):
        if prefix and event.message_str.startswith(prefix):
            other = parts and isinstance(parts[0], At) and str(parts[0].qq) not in (me, "all")
            if other and not event.is_private_chat():
                break
            meant = True
            event.message_str = event.message_str[len(prefix) :].strip()
            break
    settings = config["platform_settings"]
    for part in parts:
        if isinstance(part, AtAll):
            meant = meant or not settings.get("ignore_at_all", False)
        elif isinstance(part, At):
            meant = meant or str(part.qq) == me
        elif isinstance(part, Reply):
            meant = meant or str(part.sender_id) == me
    if event.is_private_chat() and not settings.get("friend_message_needs_wake_prefix", False):
        meant = True
    if meant:
        event.is_wake = event.is_at_or_wake_command = True
