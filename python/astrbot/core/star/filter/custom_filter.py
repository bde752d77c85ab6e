"""Conditions written by plugins, combined with `&` and `|`."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from typing import Any

from . import AstrBotConfig, AstrMessageEvent, HandlerFilter

from astrbot import texts


class CustomFilterMeta(ABCMeta):
    def __and__(cls, other: type) -> CustomFilterAnd:
        return CustomFilterAnd(cls(), _class(other)())

    def __or__(cls, other: type) -> CustomFilterOr:
        return CustomFilterOr(cls(), _class(other)())


def _class(other: type) -> type:
    if not issubclass(other, CustomFilter):
        raise TypeError(texts.NOT_A_FILTER)
    return other


class CustomFilter(HandlerFilter, metaclass=CustomFilterMeta):
    def __init__(self, raise_error: bool = True, **kwargs: Any) -> None:
        self.raise_error = raise_error

    @abstractmethod
    def filter(self, event: AstrMessageEvent, cfg: AstrBotConfig) -> bool: ...

    def __or__(self, other: CustomFilter) -> CustomFilterOr:
        return CustomFilterOr(self, other)

    def __and__(self, other: CustomFilter) -> CustomFilterAnd:
        return CustomFilterAnd(self, other)


class _Pair(CustomFilter):
    def __init__(self, filter1: CustomFilter, filter2: CustomFilter) -> None:
        super().__init__()
        if not isinstance(filter1, CustomFilter):
            raise ValueError(texts.NOT_A_FILTER)
        self.filter1 = filter1
        self.filter2 = filter2


class CustomFilterOr(_Pair):
    def filter(self, event: AstrMessageEvent, cfg: AstrBotConfig) -> bool:
        return self.filter1.filter(event, cfg) or self.filter2.filter(event, cfg)


class CustomFilterAnd(_Pair):
    def filter(self, event: AstrMessageEvent, cfg: AstrBotConfig) -> bool:
        return self.filter1.filter(event, cfg) and self.filter2.filter(event, cfg)
