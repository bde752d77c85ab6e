"""Where a session's files are: host paths for the sandbox paths `/app/shared` and `/app/uploads`.

It refuses every path that leaves those two folders, be it by `..` or by a link.
"""

import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from callgate_worker import host

from nekro_agent import chat_keys, texts
from nekro_agent.core.os_env import SANDBOX_SHARED_HOST_DIR, USER_UPLOAD_DIR, WORKER_HOME, OsEnv

_APP = PurePosixPath("/app")


@dataclass(frozen=True)
class Folders:
    shared: Path
    uploads: Path

    def of(self, name: str) -> Path:
        return self.shared if name == "shared" else self.uploads


_known: dict[str, Folders] = {}
_containers: dict[str, str] = {}


def learn(chat_key: str, shared: str, uploads: str) -> None:
    """What a frame's context says."""
    _containers[chat_keys.container_of(chat_key)] = chat_key
    if shared and uploads:
        _known[chat_key] = Folders(Path(shared), Path(uploads))


def of_container(container_key: str) -> Folders:
    return of(_containers.get(container_key, container_key.removeprefix("sandbox_")))


def of(chat_key: str) -> Folders:
    """The folders of a session, asked of the host where no frame has named them yet."""
    found = _known.get(chat_key)
    if found is None:
        found = _known[chat_key] = _ask(chat_key)
    for folder in (found.shared, found.uploads):
        folder.mkdir(parents=True, exist_ok=True)
    return found


def _ask(chat_key: str) -> Folders:
    try:
        told = host.call_now("session_folders", session=chat_key)
        return Folders(Path(told["shared"]), Path(told["uploads"]))
    except host.HostError:
        # Outside any session: below the worker's own folder, where the sandbox does not look.
        name = chat_keys.as_file_name(chat_key)
        shared = Path(SANDBOX_SHARED_HOST_DIR) / chat_keys.container_of(chat_key)
        return Folders(shared, Path(USER_UPLOAD_DIR) / name)


def to_host(path: str | PurePosixPath, chat_key: str) -> Path:
    """The host path of a sandbox path: `/app/shared/x`, `./shared/x`, `shared/x`."""
    given = PurePosixPath(path)
    inside = given if given.is_absolute() else _APP / given
    parts = inside.parts
    if parts[:2] != ("/", "app") or len(parts) < 3 or parts[2] not in ("shared", "uploads"):
        raise ValueError(texts.PATH_OUTSIDE.format(path=path))
    return beneath(of(chat_key).of(parts[2]), parts[3:], str(path))


def beneath(folder: Path, parts: tuple[str, ...], shown: str) -> Path:
    """`folder/parts`, whatever links stand in the way, or a ValueError."""
    root = folder.resolve()
    target = root.joinpath(*parts)
    if ".." in parts or not target.resolve().is_relative_to(root):
        raise ValueError(texts.PATH_ESCAPES.format(path=shown))
    return target


def to_sandbox(path: str | Path, chat_key: str) -> str:
    """The sandbox path of a host path below the session's folders."""
    found = of(chat_key)
    given = Path(path)
    resolved = given.resolve()
    for name in ("shared", "uploads"):
        root = found.of(name).resolve()
        if resolved.is_relative_to(root):
            return str(_APP / name / resolved.relative_to(root).as_posix())
    raise ValueError(texts.PATH_OUTSIDE.format(path=path))


def forward(path: str | Path, chat_key: str, name: str = "") -> str:
    """The sandbox path of a file that a plugin names by sandbox path or by host path.

    A file of the plugin's own is copied into the session's uploads. Any other is refused: the name
    may come from a model, and what the worker can read is more than sessions may see.
    """
    given = Path(path)
    is_inside = given.parts[:2] == ("/", "app") or not given.is_absolute() and not given.exists()
    target = to_host(str(path), chat_key) if is_inside else given
    if not target.is_file():
        raise FileNotFoundError(texts.NO_FILE.format(path=path))
    try:
        return to_sandbox(target, chat_key)
    except ValueError:
        if not _is_own(target.resolve()):
            raise
    copied = beneath(of(chat_key).uploads, (Path(name or target.name).name,), str(path))
    shutil.copyfile(target, copied)
    return to_sandbox(copied, chat_key)


def _is_own(path: Path) -> bool:
    """Below the worker's folder, the folder for temporary files, or a plugin's; settings excepted."""
    from nekro_agent.services.plugin.collector import plugin_collector

    roots = [WORKER_HOME, Path(OsEnv.DATA_DIR), Path(tempfile.gettempdir())]
    for plugin in plugin_collector.get_all_plugins():
        roots.append(plugin.get_plugin_data_dir())
        if plugin._module is not None and plugin._module.__file__:
            roots.append(Path(plugin._module.__file__).parent)
    settings = {plugin._plugin_config_path.resolve() for plugin in plugin_collector.get_all_plugins()}
    return path not in settings and any(path.is_relative_to(root.resolve()) for root in roots)
