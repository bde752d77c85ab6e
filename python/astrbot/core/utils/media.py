"""Turns what a component holds (URL, file URI, path, base64, data URL) into a file or base64 text.

Everything remote is fetched by the host's one fetcher, never from here."""

from __future__ import annotations

import asyncio
import base64
import binascii
import os
import uuid
from pathlib import Path
from urllib.parse import unquote, urlparse

from astrbot import texts
from astrbot.core.utils.astrbot_path import get_astrbot_temp_path
from callgate_worker import host


def local(source: str) -> str | None:
    """The path of a file URI or plain path, None for everything else."""
    if source.startswith("file://"):
        return unquote(urlparse(source).path)
    if source.startswith(("http://", "https://", "base64://", "data:")):
        return None
    return source


def reachable(source: str) -> bool:
    path = local(source)
    try:
        return path is None or os.path.exists(path)
    except (OSError, ValueError):
        return False


async def to_path(source: str, suffix: str = "") -> str:
    path = local(source)
    if path is not None:
        if os.path.exists(path):
            return os.path.abspath(path)
        raise Exception(texts.NOT_A_FILE.format(source=source[:200]))
    folder = Path(get_astrbot_temp_path())
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / f"media_{uuid.uuid4().hex}{suffix}"
    await asyncio.to_thread(target.write_bytes, await to_bytes(source))
    return str(target)


async def to_bytes(source: str) -> bytes:
    path = local(source) or _own(source)
    if path is not None:
        return await asyncio.to_thread(Path(path).read_bytes)
    if source.startswith(("http://", "https://")):
        return (await host.call("file_fetch", url=source))["data"]
    text = source.removeprefix("base64://") if source.startswith("base64://") else source.partition(",")[2]
    try:
        return base64.b64decode(text)
    except binascii.Error as error:
        raise ValueError(f"not base64: {error}") from error


def _own(source: str) -> str | None:
    """The file behind a URL of our own file service, which no fetcher would reach."""
    from astrbot.core import file_token_service

    return file_token_service.path_of(source)


async def to_base64(source: str) -> str:
    return base64.b64encode(await to_bytes(source)).decode()
