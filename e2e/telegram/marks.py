"""Texts as Telegram reads them: what it finds in what people write, and the HTML that bots send. Places are counted in
UTF-16 units."""

import re
from html import unescape
from typing import Any

_TAGS = {"b": "bold", "strong": "bold", "i": "italic", "em": "italic", "u": "underline", "s": "strikethrough",
         "code": "code", "pre": "pre", "blockquote": "blockquote", "tg-spoiler": "spoiler", "a": "text_link"}  # fmt: skip
_FOUND = re.compile(r"(?<!\w)(?P<mention>@\w{4,32})|(?<![\w/])(?P<bot_command>/\w{1,32}(?:@\w{4,32})?)")


class CannotParse(Exception):
    pass


def units(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


def entities(text: str) -> list[dict[str, Any]]:
    """Mentions and commands, which people do not mark themselves."""
    return [
        {"type": found.lastgroup, "offset": units(text[: found.start()]), "length": units(found.group())}
        for found in _FOUND.finditer(text)
    ]


def parse(text: str) -> tuple[str, list[dict[str, Any]]]:
    """Text without its marks, and them."""
    plain, open_tags, found = "", [], []
    for piece in re.split(r"(<[^>]*>)", text):
        if not piece.startswith("<"):
            if "<" in piece:
                raise CannotParse(f"Unclosed start tag at byte offset {len(plain.encode())}")
            plain += unescape(piece)
            continue
        tag = re.fullmatch(r"<(/?)([a-z-]+)((?:\s[^>]*)?)>", piece)
        if not tag or tag[2] not in _TAGS:
            raise CannotParse(f'Unsupported start tag "{piece[1:-1]}"')
        if not tag[1]:
            open_tags.append((tag[2], tag[3], units(plain)))
            continue
        if not open_tags or open_tags[-1][0] != tag[2]:
            raise CannotParse(f'Unmatched end tag "{tag[2]}"')
        name, attributes, start = open_tags.pop()
        entity = {"type": _TAGS[name], "offset": start, "length": units(plain) - start}
        if name == "a":
            url = re.search(r'href="([^"]*)"', attributes)
            entity["url"] = unescape(url[1]) if url else ""
            if user := re.fullmatch(r"tg://user\?id=(\d+)", entity["url"]):
                entity = {**entity, "type": "text_mention", "user": {"id": int(user[1])}}
                del entity["url"]
        found.append(entity)
    if open_tags:
        raise CannotParse(f'Can\'t find end tag corresponding to start tag "{open_tags[-1][0]}"')
    return plain, [entity for entity in sorted(found, key=lambda it: it["offset"]) if entity["length"]]
