"""`ctx.fs`: files between a plugin and the sandbox of its session."""

from pathlib import Path
from typing import Any

from nekro_agent import chat_keys, folders, texts
from nekro_agent.tools import common_util, path_convertor


class FileUtils:
    """The same without a context."""

    @classmethod
    def sandbox2host(cls, sandbox_path: str | Path, chat_key: str, container_key: str = "") -> Path:
        return path_convertor.convert_to_host_path(Path(sandbox_path), chat_key, container_key)

    @classmethod
    def host_shared2sandbox(cls, host_filepath: str | Path) -> Path:
        return path_convertor.convert_filepath_to_sandbox_shared_path(Path(host_filepath))

    @classmethod
    def host_upload2sandbox(cls, host_filepath: str | Path) -> Path:
        return path_convertor.convert_filepath_to_sandbox_upload_path(Path(host_filepath))

    @classmethod
    def get_sandbox_shared_host_path(cls, container_key: str) -> Path:
        return folders.of_container(container_key).shared

    @classmethod
    def get_upload_file_path(
        cls, from_chat_key: str, file_name: str = "", use_suffix: str = "", seed: str = ""
    ) -> str:
        return path_convertor.get_upload_file_path(from_chat_key, file_name, use_suffix, seed)

    @classmethod
    def to_absolute_path(cls, path: str | Path) -> Path:
        return Path(path).absolute()


class FileSystem:
    """The two folders a session shares with its sandbox."""

    def __init__(self, chat_key: str, container_key: str = "") -> None:
        self._chat_key = chat_key
        self._container_key = container_key or chat_keys.container_of(chat_key)

    @property
    def chat_key(self) -> str:
        return self._chat_key

    @property
    def container_key(self) -> str:
        return self._container_key

    @property
    def file_utils(self) -> type[FileUtils]:
        return FileUtils

    @property
    def shared_path(self) -> Path:
        """Written by both sides."""
        return folders.of(self._chat_key).shared

    @property
    def upload_path(self) -> Path:
        """Read-only in the sandbox."""
        return folders.of(self._chat_key).uploads

    def get_file(self, file_path: Path | str) -> Path:
        """The host path of a file that sandbox code named."""
        if not Path(file_path).is_absolute():
            raise ValueError(texts.PATH_OUTSIDE.format(path=file_path))
        return folders.to_host(str(file_path), self._chat_key)

    def forward_file(self, file_path: Path | str) -> str:
        """The sandbox path of a file that already lies in one of the two folders."""
        return folders.to_sandbox(file_path, self._chat_key)

    async def mixed_forward_file(self, file: str | bytes | Path, file_name: str = "") -> str:
        """A sandbox path for a URL, a `data:` URL, bytes, or a file of the plugin's own."""
        named: dict[str, Any] = {"file_name": file_name, "from_chat_key": self._chat_key}
        if isinstance(file, bytes):
            stored, _ = await common_util.download_file_from_bytes(file, **named)
        elif isinstance(file, str) and file.startswith(("http://", "https://")):
            stored, _ = await common_util.download_file(file, **named)
        elif isinstance(file, str) and file.startswith("data:"):
            stored, _ = await common_util.download_file_from_base64(file, **named)
        elif isinstance(file, (str, Path)):
            return folders.forward(file, self._chat_key, file_name)
        else:
            raise TypeError(f"a file is a URL, bytes or a path, not {type(file).__name__}")
        return self.forward_file(stored)
