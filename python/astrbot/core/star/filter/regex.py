"""By a regular expression anywhere in the text; no wake prefix is needed."""

from __future__ import annotations

import re

from . import AstrBotConfig, AstrMessageEvent, HandlerFilter


class RegexFilter(HandlerFilter):
    def __init__(self, regex: str | re.Pattern) -> None:
        self.regex = re.compile(regex)
        self.regex_str = self.regex.pattern

    def filter(self, event: AstrMessageEvent, cfg: AstrBotConfig) -> bool:
        return self.regex.search(event.get_message_str().strip()) is not None
