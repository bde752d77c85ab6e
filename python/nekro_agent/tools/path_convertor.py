"""Sandbox paths to host paths and back. `..` and links out of a session's folders are refused."""

import hashlib
import uuid
from enum import Enum
from pathlib import Path, PurePosixPath

from nekro_agent import chat_keys, folders, texts


class PathLocation(Enum):
    UPLOADS = "uploads"
    SHARED = "shared"


def sanitize_chat_key_for_path(chat_key: str) -> str:
    return chat_keys.as_file_name(chat_key)


def convert_to_host_path(
    sandbox_path: Path,
    chat_key: str,
    container_key: str | None = None,
    uploads_dir: Path | None = None,
    shared_dir: Path | None = None,
) -> Path:
    """The host path of a path that sandbox code named, absolute or relative to `/app`.

    Compat(nekro): the first part named `uploads` or `shared` decides, wherever it stands.
    """
    parts = PurePosixPath(sandbox_path).parts
    names = [part for part in parts if part in ("uploads", "shared")]
    if not names:
        raise ValueError(texts.PATH_OUTSIDE.format(path=sandbox_path))
    rest = parts[parts.index(names[0]) + 1 :]
    base = uploads_dir if names[0] == "uploads" else shared_dir
    folder = folders.of(chat_key).of(names[0])
    if base is not None:
        is_upload = names[0] == "uploads"
        folder = Path(base) / (chat_keys.as_file_name(chat_key) if is_upload else str(container_key))
    return folders.beneath(folder, rest, str(sandbox_path))


def is_url_path(path: str) -> bool:
    return path.startswith(("http://", "https://"))


def convert_filename_to_sandbox_upload_path(filename: str | Path) -> Path:
    return Path("/app/uploads") / Path(filename).name


def convert_filename_to_sandbox_shared_path(filename: str | Path) -> Path:
    return Path("/app/shared") / Path(filename).name


def convert_filepath_to_sandbox_shared_path(filepath: str | Path) -> Path:
    return Path("/app/shared") / filepath


def convert_filepath_to_sandbox_upload_path(filepath: str | Path) -> Path:
    return Path("/app/uploads") / filepath


def convert_filename_to_access_path(filename: str | Path, chat_key: str) -> Path:
    return folders.of(chat_key).uploads / Path(filename).name


def get_upload_file_path(
    from_chat_key: str, file_name: str = "", use_suffix: str = "", seed: str = ""
) -> str:
    """A place for a new file among the session's uploads."""
    if not file_name:
        name = hashlib.md5((seed or str(uuid.uuid4())).encode(), usedforsecurity=False).hexdigest()
        file_name = f"{name}{use_suffix}"
    parts = PurePosixPath(file_name).parts
    target = folders.beneath(folders.of(from_chat_key).uploads, parts, file_name)
    target.parent.mkdir(parents=True, exist_ok=True)
    return str(target)
