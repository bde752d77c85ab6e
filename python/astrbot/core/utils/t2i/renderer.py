"""HTML to a picture: Jinja here, the picture by the host's Chromium where there is one, else the page's text
drawn with Pillow. No outside service is ever asked."""

from __future__ import annotations

import asyncio
import html
import os
import uuid
from typing import Any

from jinja2.sandbox import SandboxedEnvironment

from astrbot import logger
from astrbot.core.utils.astrbot_path import get_astrbot_temp_path
from astrbot.core.utils.t2i import plain
from callgate_worker import host

# Compat(astrbot): what its rendering service does unless told otherwise.
_OPTIONS = {"full_page": True, "type": "jpeg", "quality": 80}
_SHEET = """<!doctype html><meta charset="utf-8"><style>
body { margin: 0; padding: 32px; width: 720px; box-sizing: border-box; color: #222; background: #fff;
  font: 20px/1.65 "Noto Sans CJK SC", "WenQuanYi Micro Hei", "PingFang SC", sans-serif; word-break: break-word }
pre, code { background: #f3f3f3; border-radius: 6px; font-family: monospace; font-size: 0.9em }
code { padding: 2px 5px } pre { padding: 12px; white-space: pre-wrap } pre code { padding: 0 }
blockquote { margin: 0; padding-left: 14px; border-left: 4px solid #ccc; color: #555 }
table { border-collapse: collapse } td, th { border: 1px solid #ccc; padding: 4px 10px } img { max-width: 100% }
</style><body>{{ text }}</body>"""


class HtmlRenderer:
    def __init__(self, endpoint_url: str | None = None) -> None:
        self._jinja = SandboxedEnvironment(autoescape=False)

    async def initialize(self) -> None:
        return None

    async def render_custom_template(
        self, tmpl_str: str, tmpl_data: dict, return_url: bool = False, options: dict | None = None
    ) -> str:
        page = await asyncio.to_thread(self._jinja.from_string(tmpl_str).render, **tmpl_data)
        return await _picture(page, return_url, {**_OPTIONS, **(options or {})})

    async def render_t2i(
        self, text: str, use_network: bool = True, return_url: bool = False, template_name: str | None = None
    ) -> str:
        page = _SHEET.replace("{{ text }}", _marked_up(text))
        return await _picture(page, return_url, {"type": "png", "viewport": {"width": 720, "height": 100}})


def _marked_up(text: str) -> str:
    """Markdown as a page; what looks like HTML in it is text."""
    import markdown

    escaped = html.escape(text, quote=False).replace("&gt;", ">")
    return markdown.markdown(escaped, extensions=["fenced_code", "tables", "nl2br", "sane_lists"])


async def _picture(page: str, return_url: bool, options: dict[str, Any]) -> str:
    from astrbot.core import file_token_service

    folder = get_astrbot_temp_path()
    os.makedirs(folder, exist_ok=True)
    kind = "jpg" if options.get("type") in ("jpeg", "jpg") else "png"
    path = os.path.join(folder, f"render_{uuid.uuid4().hex}.{kind}")
    try:
        drawn = await host.call("html_render", html=page, options=_data(options))
    except host.HostError as error:
        logger.warning("no browser made the picture, its text is drawn plainly: %s", error)
        await asyncio.to_thread(plain.draw, page, path)
    else:
        await asyncio.to_thread(_write, path, drawn)
    return await file_token_service.url_of(path) if return_url else path


def _data(options: dict[str, Any]) -> dict[str, Any]:
    kept = (str, int, float, bool, dict)
    return {str(name): value for name, value in options.items() if isinstance(value, kept)}


def _write(path: str, picture: bytes) -> None:
    with open(path, "wb") as file:
        file.write(picture)
