"""Compat(astrbot): plugins call `Metric.upload`; nothing is ever uploaded."""

import uuid
from pathlib import Path
from typing import Any

from astrbot.core.utils.astrbot_path import get_astrbot_data_path


class Metric:
    @staticmethod
    async def upload(**_: Any) -> None:
        return None

    @staticmethod
    def get_installation_id() -> str:
        """A random one, which no other program here has."""
        file = Path(get_astrbot_data_path()) / ".installation_id"
        if not file.exists():
            file.write_text(str(uuid.uuid4()))
        return file.read_text().strip()
