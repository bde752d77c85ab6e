"""Old helpers for plugins that take a command line apart by hand."""

import re


class CommandTokens:
    def __init__(self, tokens: list[str] | None = None) -> None:
        self.tokens = tokens or []
        self.len = len(self.tokens)

    def get(self, idx: int) -> str | None:
        return self.tokens[idx].strip() if idx < self.len else None


class CommandParserMixin:
    def parse_commands(self, message: str) -> CommandTokens:
        return CommandTokens(re.split(r"\s+", message))

    def regex_match(self, message: str, command: str) -> bool:
        return re.search(command, message, re.MULTILINE) is not None
