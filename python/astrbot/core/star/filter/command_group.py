"""Groups of commands, nested at will; the group alone prints its tree."""

from __future__ import annotations

from astrbot import texts
from callgate_worker import language

from . import AstrBotConfig, AstrMessageEvent, HandlerFilter
from .command import CommandFilter
from .custom_filter import CustomFilter


class CommandGroupFilter(HandlerFilter):
    def __init__(
        self, group_name: str, alias: set | None = None, parent_group: CommandGroupFilter | None = None
    ) -> None:
        self.group_name = group_name
        self._original_group_name = group_name
        self.alias = alias or set()
        self.parent_group = parent_group
        self.sub_command_filters: list[CommandFilter | CommandGroupFilter] = []
        self.custom_filter_list: list[CustomFilter] = []
        self._cmpl_cmd_names: list[str] | None = None

    def add_sub_command_filter(self, sub_command_filter: CommandFilter | CommandGroupFilter) -> None:
        self.sub_command_filters.append(sub_command_filter)

    def add_custom_filter(self, custom_filter: CustomFilter) -> None:
        self.custom_filter_list.append(custom_filter)

    def custom_filter_ok(self, event: AstrMessageEvent, cfg: AstrBotConfig) -> bool:
        return all(one.filter(event, cfg) for one in self.custom_filter_list)

    def get_complete_command_names(self) -> list[str]:
        if self._cmpl_cmd_names is None:
            own = [self.group_name, *self.alias]
            parents = self.parent_group.get_complete_command_names() if self.parent_group else []
            self._cmpl_cmd_names = [f"{parent} {name}" for parent in parents for name in own] or own
        return self._cmpl_cmd_names

    def startswith(self, message_str: str) -> bool:
        return message_str.startswith(tuple(self.get_complete_command_names()))

    def equals(self, message_str: str) -> bool:
        return message_str in self.get_complete_command_names()

    def print_cmd_tree(
        self,
        sub_command_filters: list[CommandFilter | CommandGroupFilter],
        prefix: str = "",
        event: AstrMessageEvent | None = None,
        cfg: AstrBotConfig | None = None,
    ) -> str:
        lines = ""
        for sub in sub_command_filters:
            if event and cfg and not sub.custom_filter_ok(event, cfg):
                continue
            if isinstance(sub, CommandGroupFilter):
                lines += f"{prefix}├── {sub.group_name}\n"
                lines += sub.print_cmd_tree(sub.sub_command_filters, f"{prefix}│   ", event, cfg)
            else:
                lines += f"{prefix}├── {sub.command_name} ({sub.print_types() or language.say(texts.NO_ARGUMENTS)})"
                lines += f": {sub.handler_md.desc}\n" if sub.handler_md.desc else "\n"
        return lines

    def filter(self, event: AstrMessageEvent, cfg: AstrBotConfig) -> bool:
        if not event.is_at_or_wake_command or not self.custom_filter_ok(event, cfg):
            return False
        if self.equals(event.message_str.strip()):
            tree = f"{self.group_name}\n{self.print_cmd_tree(self.sub_command_filters, event=event, cfg=cfg)}"
            raise ValueError(language.say(texts.GROUP_USAGE, group=self.group_name, tree=tree))
        return self.startswith(event.message_str)
