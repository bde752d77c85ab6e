"""The client of OneBot that plugins hold: aiocqhttp's own class, so that `isinstance` and all of its ways of calling
are what they are upstream. What it asks goes through the host, which holds the connections and checks each call."""

from __future__ import annotations

import asyncio
import json
import logging
from typing import Any

from aiocqhttp import ActionFailed, ApiNotAvailable, CQHttp, NetworkError
from aiocqhttp.api import AsyncApi

from astrbot.core.platform import outbox
from callgate_worker import host

logger = logging.getLogger("astrbot")


class HostedApi(AsyncApi):
    def __init__(self, platform_id: str) -> None:
        self._method = f"{platform_id}_call_action"

    async def call_action(self, action: str, **params: Any) -> Any:
        # The bot that heard what is being handled acts, unless another is named.
        who = params.get("self_id") or outbox.bot.get()
        try:
            answer = await host.call(
                self._method,
                action=action,
                # As it would travel: messages and segments are plain lists and objects there.
                parameters=json.loads(json.dumps(params)),
                account=str(who) if who else None,
            )
        except host.HostError as error:
            raise _refused(error) from error
        match answer["status"]:
            case "unreachable":
                raise ApiNotAvailable(answer.get("wording"))
            case "no_answer":
                # Compat(astrbot): plugins compare these words.
                raise NetworkError("WebSocket API call timeout")
            case "failed":
                raise ActionFailed({"message": answer.get("wording"), **answer})
        return answer.get("data")


def _refused(error: host.HostError) -> Exception:
    match error.type:
        case "UnknownMethod":
            return ApiNotAvailable(error.message)
        case "TimeoutError":
            return NetworkError("WebSocket API call timeout")
    words = {"message": error.message, "wording": error.message}
    return ActionFailed({"status": "failed", "retcode": -1, "data": None, **words})


class HostedClient(CQHttp):
    """One for each platform, shared by all its bots. It serves no connections: the host does."""

    def __init__(self, platform_id: str) -> None:
        super().__init__(platform_id)
        self.platform_id = platform_id
        self._api = HostedApi(platform_id)
        self._loop = asyncio.get_running_loop()

    async def heard(self, event: dict[str, Any]) -> None:
        """Tells those who registered with `on_message`, `on_notice` and the like."""
        if not self._bus._subscribers and not self._bus._hooks_before:
            return
        try:
            await self._handle_event_with_response(dict(event))
        except Exception:
            logger.exception("a handler of OneBot events failed")
