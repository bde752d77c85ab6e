"""A stream of chains on its way out. Its words are shown as they come to whoever looks on; each segment is sent,
and kept, as one message when it is whole."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from astrbot import logger
from astrbot.core.message.components import At, AtAll, BaseMessageComponent, Face, Plain, Reply
from astrbot.core.message.message_event_result import MessageChain
from callgate_worker import host


async def send_stream(event: Any, chains: AsyncIterator[MessageChain | None]) -> None:
    """Where the stream fails, what people have seen of it is kept, and then it fails."""
    segment = _Segment(event)
    try:
        async for chain in chains:
            if chain is not None:
                await segment.take(chain)
    finally:
        await segment.send()


class _Segment:
    """The message that is being said."""

    def __init__(self, event: Any) -> None:
        self._event = event
        self._parts: list[BaseMessageComponent] = []

    async def take(self, chain: MessageChain) -> None:
        match chain.type:
            case "break":
                await self.send()
            case "reasoning":
                await self._show(chain.get_plain_text(), thought=True)
            # Compat(astrbot): spoken words of its live mode, which is not offered here.
            case "audio_chunk":
                pass
            case _:
                for part in chain.chain:
                    await self._add(part)

    async def _add(self, part: BaseMessageComponent) -> None:
        if isinstance(part, Plain):
            await self._show(part.text)
            if self._parts and isinstance(self._parts[-1], Plain):
                self._parts[-1].text += part.text
            else:
                self._parts.append(Plain(part.text))
        elif isinstance(part, At | AtAll | Reply | Face):
            self._parts.append(part)
        else:
            # What cannot be said in pieces is a message of its own, so that the words around it are seen once.
            await self.send()
            await self._event.send(MessageChain([part]))

    async def _show(self, text: str, thought: bool = False) -> None:
        row = self._event.get_extra("callgate_row")
        if not row or not text:
            return
        try:
            await host.call("message_piece", row=row, text=text, thought=thought)
        except host.HostError as error:
            logger.debug("a piece of a message was not shown: %s", error)

    async def send(self) -> None:
        parts, self._parts = self._parts, []
        if any(not isinstance(part, Plain) or part.text.strip() for part in parts):
            await self._event.send(MessageChain(parts))
