"""Comparing versions the way plugins ask for it."""

from packaging.version import InvalidVersion, Version


class VersionComparator:
    @staticmethod
    def compare_version(v1: str, v2: str) -> int:
        """1, 0 or -1."""
        left, right = _version(v1), _version(v2)
        return (left > right) - (left < right)


def _version(text: str) -> Version:
    try:
        return Version(text.lstrip("vV"))
    except InvalidVersion:
        return Version("0")
