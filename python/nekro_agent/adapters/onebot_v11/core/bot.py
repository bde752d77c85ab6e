"""The connected OneBot V11 bot: NoneBot's own class, so that `isinstance` and all of its ways of calling hold. What it
asks goes through the host, which holds the connection and checks each call."""

import functools
import json
from typing import Any

from callgate_worker import host

from nekro_agent import platforms, texts


def get_bot(platform: str | None = None) -> Any:
    """The first one there is, or that of a platform. Raises where none is connected."""
    names = [platform] if platform else platforms.of_kind("onebot")
    if not names:
        raise RuntimeError(texts.NO_ONEBOT)
    bot = _made(names[0])
    bot.self_id = platforms.bot_of(names[0]) or bot.self_id
    return bot


async def login(bot: Any) -> Any:
    """The bot, knowing who it is."""
    if not bot.self_id:
        info = await bot.get_login_info()
        platforms.met(bot.platform, str(info["user_id"]))
        bot.self_id = str(info["user_id"])
    return bot


@functools.cache
def _made(platform: str) -> Any:
    from callgate_worker.flavours.nekro.nonebots import adapter
    from nonebot.adapters.onebot.v11 import Bot

    class HostedBot(Bot):
        async def call_api(self, api: str, **data: Any) -> Any:
            return await call(self.platform, api, data)

    bot = HostedBot(adapter(), "")
    bot.platform = platform
    return bot


async def call(platform: str, action: str, data: dict[str, Any]) -> Any:
    from nonebot.adapters.onebot.v11.exception import ActionFailed, ApiNotAvailable, NetworkError
    from nonebot.utils import DataclassEncoder

    who = data.get("self_id")
    try:
        answer = await host.call(
            f"{platform}_call_action",
            action=action,
            parameters=json.loads(json.dumps(data, cls=DataclassEncoder)),
            account=str(who) if who else platforms.bot_of(platform),
        )
    except host.HostError as error:
        if error.type == "UnknownMethod":
            raise ApiNotAvailable from error
        raise ActionFailed(status="failed", retcode=-1, message=error.message, wording=error.message) from error
    match answer["status"]:
        case "unreachable":
            raise ApiNotAvailable
        case "no_answer":
            raise NetworkError(answer.get("wording"))
        case "failed":
            raise ActionFailed(**{"message": answer.get("wording"), **answer})
    return answer.get("data")
