"""Files to and from the network, always through the host's fetcher."""

from __future__ import annotations

import base64
import os
import shutil
import socket
import time
import uuid
from pathlib import Path
from typing import Any

from astrbot.core.utils import media
from astrbot.core.utils.astrbot_path import get_astrbot_temp_path


def ensure_dir(path: str | Path) -> None:
    os.makedirs(path, exist_ok=True)


def on_error(func: Any, path: str, exc_info: Any) -> None:
    os.chmod(path, 0o700)
    func(path)


def remove_dir(file_path: str) -> bool:
    shutil.rmtree(file_path, onerror=on_error)
    return True


def port_checker(port: int, host: str = "localhost") -> bool:
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex((host, port)) == 0


def _temporary(name: str) -> str:
    folder = get_astrbot_temp_path()
    os.makedirs(folder, exist_ok=True)
    return os.path.join(folder, name)


def save_temp_img(img: Any) -> str:
    """Saves bytes or a PIL image below data/temp; returns the path."""
    path = _temporary(f"io_temp_img_{int(time.time())}_{uuid.uuid4().hex[:8]}.jpg")
    if isinstance(img, bytes):
        Path(path).write_bytes(img)
    else:
        img.save(path)
    return path


async def download_image_by_url(
    url: str, post: bool = False, post_data: dict | None = None, path: str | None = None
) -> str:
    if post:
        raise NotImplementedError("pictures are fetched by GET here; send the data with aiohttp yourself")
    target = path or _temporary(f"download_{uuid.uuid4().hex}.jpg")
    Path(target).write_bytes(await media.to_bytes(url))
    return target


async def download_file(url: str, path: str, show_progress: bool = False, **_: Any) -> None:
    Path(path).write_bytes(await media.to_bytes(url))


def file_to_base64(file_path: str) -> str:
    return "base64://" + base64.b64encode(Path(file_path).read_bytes()).decode()


def get_local_ip_addresses() -> list[str]:
    return ["127.0.0.1"]
