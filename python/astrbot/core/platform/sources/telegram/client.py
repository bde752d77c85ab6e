"""The client of Telegram that plugins hold: python-telegram-bot's own class, so that `isinstance`, its methods and its
types are what they are upstream. What it asks goes through the host, which holds the token and checks each call."""

from __future__ import annotations

import base64
import json
import re
from typing import Any

from telegram.error import NetworkError, TimedOut
from telegram.ext import ExtBot
from telegram.request import BaseRequest, RequestData

from callgate_worker import host

_NOWHERE = "https://callgate.invalid"


class HostedRequest(BaseRequest):
    """A request as a call of the host, and its answer as Telegram's."""

    def __init__(self, platform_id: str) -> None:
        self._method = f"{platform_id}_call_action"

    @property
    def read_timeout(self) -> float:
        return 60.0

    async def initialize(self) -> None:
        return None

    async def shutdown(self) -> None:
        return None

    async def do_request(
        self, url: str, method: str, request_data: RequestData | None = None, *_: Any, **__: Any
    ) -> tuple[int, bytes]:
        if method == "GET":
            answer = await self._call("downloadFile", {"file_path": url.partition("/file/")[2].partition("/")[2]})
            return 200, base64.b64decode(answer["data"]["base64"])
        answer = await self._call(url.rpartition("/")[2], _parameters(request_data))
        if answer["status"] == "ok":
            return 200, json.dumps({"ok": True, "result": answer["data"]}).encode()
        words = answer.get("wording") or ""
        refusal: dict[str, Any] = {"ok": False, "error_code": answer["retcode"], "description": words}
        if wait := re.search(r"retry after (\d+)", words):
            refusal["parameters"] = {"retry_after": int(wait[1])}
        return answer["retcode"], json.dumps(refusal).encode()

    async def _call(self, action: str, parameters: dict[str, Any]) -> dict[str, Any]:
        try:
            answer = await host.call(self._method, action=action, parameters=parameters, account=None)
        except host.HostError as error:
            if error.type == "TimeoutError":
                raise TimedOut(error.message) from error
            raise NetworkError(error.message) from error
        match answer["status"]:
            case "unreachable":
                raise NetworkError(answer.get("wording") or "not connected")
            case "no_answer":
                raise TimedOut(answer.get("wording"))
            case "failed" if action == "downloadFile":
                raise NetworkError(answer.get("wording") or "the file could not be fetched")
        return answer


def _parameters(data: RequestData | None) -> dict[str, Any]:
    if data is None:
        return {}
    made = json.loads(json.dumps(data.parameters))
    for name, (file_name, content, *_) in (data.multipart_data or {}).items():
        content = content if isinstance(content, bytes) else content.read()
        made[name] = {"base64": base64.b64encode(content).decode(), "file_name": file_name}
    return made


class HostedBot(ExtBot):
    """One for each platform. Its token is nobody's: the host has the real one."""

    def __init__(self, platform_id: str) -> None:
        super().__init__(
            token="0:held-by-the-host",
            base_url=f"{_NOWHERE}/bot",
            base_file_url=f"{_NOWHERE}/file/",
            request=HostedRequest(platform_id),
            get_updates_request=HostedRequest(platform_id),
        )
        with self._unfrozen():
            self.platform_id = platform_id
