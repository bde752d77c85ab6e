"""What a hook says about a message."""

from collections.abc import Iterable
from enum import Enum


class MsgSignal(Enum):
    FORCE_TRIGGER = -1
    CONTINUE = 0
    BLOCK_TRIGGER = 1
    BLOCK_ALL = 2


def merge(signals: Iterable[MsgSignal | None]) -> MsgSignal:
    """What several hooks say together: hiding the message wins, then forcing an answer."""
    said = {signal for signal in signals if isinstance(signal, MsgSignal)}
    for signal in (MsgSignal.BLOCK_ALL, MsgSignal.FORCE_TRIGGER, MsgSignal.BLOCK_TRIGGER):
        if signal in said:
            return signal
    return MsgSignal.CONTINUE
