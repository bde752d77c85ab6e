"""A page's text drawn without a browser: no layout, but every word."""

from __future__ import annotations

import functools
import html
import re
from pathlib import Path
from typing import Any

_WIDTH, _MARGIN, _SIZE, _LINE = 720, 24, 20, 30
_MOST_LINES = 500
# Those that hold Chinese, Japanese and Korean come first.
_FONTS = (
    "NotoSansCJK-Regular.ttc",
    "NotoSansSC-Regular.otf",
    "SourceHanSansSC-Regular.otf",
    "wqy-microhei.ttc",
    "wqy-zenhei.ttc",
    "DroidSansFallbackFull.ttf",
    "DejaVuSans.ttf",
)
_FOLDERS = ("/usr/share/fonts", "/usr/local/share/fonts")


def draw(page: str, path: str) -> None:
    from PIL import Image, ImageDraw

    font = _font()
    lines = [piece for line in words_of(page).splitlines() or [""] for piece in _wrapped(line, font)]
    lines = [*lines[:_MOST_LINES], "…"] if len(lines) > _MOST_LINES else lines
    picture = Image.new("RGB", (_WIDTH, 2 * _MARGIN + len(lines) * _LINE), "white")
    drawing = ImageDraw.Draw(picture)
    for place, line in enumerate(lines):
        drawing.text((_MARGIN, _MARGIN + place * _LINE), line, font=font, fill="black")
    picture.save(path)


def words_of(page: str) -> str:
    page = re.sub(r"(?is)<(script|style|head)\b.*?</\1>", "", page)
    page = re.sub(r"(?i)<(br|/p|/div|/li|/tr|/h\d|/pre|/section)[^>]*>", "\n", page)
    page = re.sub(r"(?i)</t[dh]>", "  ", page)
    text = html.unescape(re.sub(r"<[^>]+>", "", page))
    return re.sub(r"\n\s*\n+", "\n\n", text).strip()


@functools.cache
def _font() -> Any:
    from PIL import ImageFont

    found = {file.name: file for folder in _FOLDERS for file in Path(folder).rglob("*.[to]t[fc]")}
    for name in _FONTS:
        if name in found:
            return ImageFont.truetype(str(found[name]), _SIZE)
    return ImageFont.load_default(_SIZE)


def _wrapped(line: str, font: Any) -> list[str]:
    pieces, piece = [], ""
    for character in line:
        if font.getlength(piece + character) > _WIDTH - 2 * _MARGIN:
            pieces.append(piece)
            piece = ""
        piece += character
    return [*pieces, piece]
