"""`python -m callgate_worker.unpack ARCHIVE FOLDER`: a plugin's zip file into a new folder.

Refuses names that lead elsewhere, links, and archives that are far larger than they look. A single
folder around everything, as code hosts pack it, is left out.
"""

import stat
import sys
import zipfile
from pathlib import Path, PurePosixPath

MAX_FILES = 20_000
MAX_BYTES = 500 << 20
_CHUNK = 1 << 20


class Refused(ValueError):
    """The archive holds something that no plugin needs."""


def unpack(archive: Path, folder: Path) -> None:
    with zipfile.ZipFile(archive) as packed:
        entries = [entry for entry in packed.infolist() if not entry.is_dir()]
        if len(entries) > MAX_FILES:
            raise Refused(f"{len(entries)} files; the limit is {MAX_FILES}")
        names = {entry.filename: _checked(entry) for entry in entries}
        common = _common(list(names.values()))
        left = MAX_BYTES
        for entry in entries:
            target = folder.joinpath(*names[entry.filename].parts[common:])
            target.parent.mkdir(parents=True, exist_ok=True)
            with packed.open(entry) as source, target.open("xb") as file:
                # By what comes out: the sizes in the archive are its author's claims.
                while chunk := source.read(_CHUNK):
                    left -= len(chunk)
                    if left < 0:
                        raise Refused(f"more than {MAX_BYTES >> 20} MB")
                    file.write(chunk)


def _checked(entry: zipfile.ZipInfo) -> PurePosixPath:
    path = PurePosixPath(entry.filename)
    odd = "\\" in entry.filename or ":" in entry.filename or "\0" in entry.orig_filename
    if path.is_absolute() or odd or not path.parts or ".." in path.parts:
        raise Refused(f"the name {entry.filename!r} leads elsewhere")
    kind = stat.S_IFMT(entry.external_attr >> 16)
    if kind not in (0, stat.S_IFREG):
        raise Refused(f"{entry.filename!r} is neither a file nor a folder")
    return path


def _common(paths: list[PurePosixPath]) -> int:
    """1 if everything lies in one folder, else 0."""
    tops = {path.parts[0] for path in paths}
    return int(len(tops) == 1 and all(len(path.parts) > 1 for path in paths))


if __name__ == "__main__":
    try:
        unpack(Path(sys.argv[1]), Path(sys.argv[2]))
    except (Refused, zipfile.BadZipFile, FileExistsError, RuntimeError, OSError) as error:
        sys.exit(f"{type(error).__name__}: {error}")
