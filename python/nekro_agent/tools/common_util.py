"""Downloads into a session's uploads, and comparisons of texts and files."""

import base64
import difflib
import hashlib
import mimetypes
import random
import re
from pathlib import Path
from typing import TYPE_CHECKING

from callgate_worker import host

from nekro_agent import folders
from nekro_agent.core.os_env import USER_UPLOAD_DIR
from nekro_agent.tools.path_convertor import get_upload_file_path, is_url_path

if TYPE_CHECKING:
    from nekro_agent.core.config import CoreConfig

_SIGNATURES = {
    b"\x89PNG\r\n\x1a\n": ".png", b"\xff\xd8\xff": ".jpeg", b"GIF8": ".gif", b"%PDF": ".pdf",
    b"PK\x03\x04": ".zip", b"ID3": ".mp3", b"OggS": ".ogg",
}


def get_app_version() -> str:
    from nekro_agent import __version__

    return __version__


def compare_semver(a: str, b: str) -> int:
    """-1, 0 or 1. A version that is not `x.y.z` compares as equal."""
    try:
        one, other = (tuple(map(int, text.strip().split(".")[:3])) for text in (a, b))
    except ValueError:
        return 0
    return (one > other) - (one < other)


def _suffix(data: bytes) -> str:
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return ".webp"
    return next((suffix for mark, suffix in _SIGNATURES.items() if data.startswith(mark)), "")


def _store(data: bytes, file_path: str, file_name: str, suffix: str, chat_key: str) -> tuple[str, str]:
    if not file_path:
        digest = hashlib.md5(data, usedforsecurity=False).hexdigest()
        file_name = file_name or f"{digest}{suffix or _suffix(data)}"
        if chat_key:
            file_path = get_upload_file_path(chat_key, file_name)
        else:
            file_path = str(folders.beneath(Path(USER_UPLOAD_DIR), Path(file_name).parts, file_name))
    target = Path(file_path)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(data)
    return file_path, file_name


async def download_file(
    url: str,
    file_path: str = "",
    file_name: str = "",
    use_suffix: str = "",
    retry_count: int = 3,
    from_chat_key: str = "",
) -> tuple[str, str]:
    """Host path and name of what the URL holds. The host fetches: it knows which addresses are ours."""
    problem: host.HostError | None = None
    for _ in range(max(1, retry_count)):
        try:
            fetched = await host.call("file_fetch", url=url)
            break
        except host.HostError as error:
            problem = error
    else:
        raise problem or RuntimeError(url)
    data = fetched["data"]
    suffix = use_suffix or _suffix(data) or mimetypes.guess_extension(fetched.get("media") or "") or ""
    return _store(data, file_path, file_name, suffix, from_chat_key)


async def download_file_from_bytes(
    bytes_data: bytes,
    file_path: str = "",
    file_name: str = "",
    use_suffix: str = "",
    from_chat_key: str = "",
) -> tuple[str, str]:
    return _store(bytes_data, file_path, file_name, use_suffix, from_chat_key)


async def download_file_from_base64(
    base64_str: str,
    file_path: str = "",
    file_name: str = "",
    use_suffix: str = "",
    from_chat_key: str = "",
) -> tuple[str, str]:
    """The same from base64, with or without a `data:` head, which may name the type."""
    head, comma, body = base64_str.partition(",")
    is_url = head.startswith("data:") and bool(comma)
    media = head.removeprefix("data:").partition(";")[0] if is_url else ""
    data = base64.b64decode(body if is_url else base64_str)
    suffix = use_suffix or _suffix(data) or mimetypes.guess_extension(media) or ""
    return _store(data, file_path, file_name, suffix, from_chat_key)


async def copy_to_upload_dir(
    file_path: str, file_name: str = "", use_suffix: str = "", from_chat_key: str = ""
) -> tuple[str, str]:
    return _store(Path(file_path).read_bytes(), "", file_name, use_suffix, from_chat_key)


def random_chat_check(config: "CoreConfig") -> bool:
    return random.random() < config.AI_CHAT_RANDOM_REPLY_PROBABILITY


def check_content_trigger(content: str, config: "CoreConfig") -> bool:
    return any(re.search(pattern, content) for pattern in config.AI_CHAT_TRIGGER_REGEX)


def check_forbidden_message(content: str, config: "CoreConfig") -> bool:
    return any(re.search(pattern, content) for pattern in config.AI_CHAT_IGNORE_REGEX)


def limited_text_output(text: str, limit: int = 1000, placeholder: str = "...") -> str:
    """Head and tail of a long text."""
    if len(text) <= limit:
        return text
    side = max(0, (limit - len(placeholder)) // 2)
    return f"{text[:side]}{placeholder}{text[len(text) - side :]}"


async def calculate_file_md5(file_path: str, strict: bool = False) -> str:
    """The digest of a file; a URL stands for itself."""
    if is_url_path(file_path):
        return file_path
    path = Path(file_path)
    if not path.is_file() and not strict:
        return file_path
    return hashlib.md5(path.read_bytes(), usedforsecurity=False).hexdigest()


def calculate_text_similarity(text1: str, text2: str, min_length: int = 12) -> float:
    """0 to 1. Short texts are alike only where they are equal."""
    if len(text1) < min_length or len(text2) < min_length:
        return float(text1 == text2)
    return difflib.SequenceMatcher(None, text1, text2).ratio()


def compress_image(image_path: Path, size_limit_kb: int) -> Path:
    """The image, or a smaller copy beside it that fits the limit."""
    from PIL import Image

    limit = size_limit_kb * 1024
    if image_path.stat().st_size <= limit:
        return image_path
    target = image_path.with_name(f"{image_path.stem}_compressed{image_path.suffix}")
    with Image.open(image_path) as image:
        for scale in (0.75, 0.5, 0.35, 0.25, 0.15, 0.1):
            size = (max(1, int(image.width * scale)), max(1, int(image.height * scale)))
            image.resize(size).save(target)
            if target.stat().st_size <= limit:
                break
    return target
