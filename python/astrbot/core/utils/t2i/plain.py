"""A page's text drawn without a browser: no layout, but every word."""

from __future__ import annotations

import asyncio
import html
import re

_WIDTH, _MARGIN, _SIZE = 720, 24, 20
_FONTS = (
    "/usr/share/fonts/opentype/noto/NotoSansCJK-Regular.ttc",
    "/usr/share/fonts/truetype/wqy/wqy-microhei.ttc",
    "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf",
)


async def draw(page: str, path: str) -> None:
    await asyncio.to_thread(_draw, words_of(page), path)


def words_of(page: str) -> str:
    page = re.sub(r"(?is)<(script|style|head)\b.*?</\1>", "", page)
    page = re.sub(r"(?i)<(br|/p|/div|/li|/tr|/h\d)[^>]*>", "\n", page)
    text = html.unescape(re.sub(r"<[^>]+>", "", page))
    return re.sub(r"\n\s*\n+", "\n\n", text).strip()


def _draw(text: str, path: str) -> None:
    from PIL import Image, ImageDraw

    font = _font()
    lines = [piece for line in text.splitlines() or [""] for piece in _wrapped(line, font)]
    height = 2 * _MARGIN + len(lines) * (_SIZE + 10)
    picture = Image.new("RGB", (_WIDTH, height), "white")
    drawing = ImageDraw.Draw(picture)
    for place, line in enumerate(lines):
        drawing.text((_MARGIN, _MARGIN + place * (_SIZE + 10)), line, font=font, fill="black")
    picture.save(path)


def _font():
    from PIL import ImageFont

    for name in _FONTS:
        try:
            return ImageFont.truetype(name, _SIZE)
        except OSError:
            continue
    return ImageFont.load_default(_SIZE)


def _wrapped(line: str, font) -> list[str]:
    pieces, piece = [], ""
    for character in line:
        if font.getlength(piece + character) > _WIDTH - 2 * _MARGIN:
            pieces.append(piece)
            piece = ""
        piece += character
    return [*pieces, piece]
