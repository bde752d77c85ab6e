"""Compat(astrbot): plugins call `Metric.upload`; nothing is ever uploaded."""

from typing import Any


class Metric:
    @staticmethod
    async def upload(**_: Any) -> None:
        return None
