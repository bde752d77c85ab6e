"""HTML to a picture: Jinja here, then a headless Chromium where there is one, else plain text drawn with
Pillow. No outside service is ever asked."""

from __future__ import annotations

import html
import os
import uuid

from jinja2.sandbox import SandboxedEnvironment

from astrbot import logger
from astrbot.core.utils.astrbot_path import get_astrbot_temp_path
from astrbot.core.utils.t2i import chromium, plain

_PAGE = (
    '<!doctype html><meta charset="utf-8"><style>body{{margin:0;padding:24px;width:640px;'
    "font:18px/1.6 sans-serif;white-space:pre-wrap;word-break:break-word}}</style><body>{text}</body>"
)


class HtmlRenderer:
    def __init__(self, endpoint_url: str | None = None) -> None:
        self._jinja = SandboxedEnvironment(autoescape=False)

    async def initialize(self) -> None:
        return None

    async def render_custom_template(
        self, tmpl_str: str, tmpl_data: dict, return_url: bool = False, options: dict | None = None
    ) -> str:
        return await _picture(
            self._jinja.from_string(tmpl_str).render(**tmpl_data), return_url, options or {}
        )

    async def render_t2i(
        self, text: str, use_network: bool = True, return_url: bool = False, template_name: str | None = None
    ) -> str:
        return await _picture(_PAGE.format(text=html.escape(text)), return_url, {})


async def _picture(page: str, return_url: bool, options: dict) -> str:
    from astrbot.core import file_token_service

    folder = get_astrbot_temp_path()
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, f"render_{uuid.uuid4().hex}.png")
    try:
        drawn = await chromium.draw(page, path, options)
    except (OSError, RuntimeError) as error:
        logger.warning("the browser made no picture, the text is drawn plainly: %s", error)
        drawn = False
    if not drawn:
        await plain.draw(page, path)
    return await file_token_service.url_of(path) if return_url else path
