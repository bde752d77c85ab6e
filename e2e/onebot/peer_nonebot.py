"""NoneBot as its documentation shows it: writes down what it is told, answers "echo words" with the words.

    python3 -m onebot.peer_nonebot PORT FILE [ADDRESS OF A PROGRAM]
"""

import sys

import nonebot
from nonebot.adapters.onebot.v11 import Adapter, Bot, Event, MessageEvent
from nonebot.message import event_preprocessor

from . import record
from .hour import SELF
from .process import TOKEN

# What it adds to an event.
_OWN = ("to_me", "reply", "original_message")


def main(port: int, path: str, address: str = "") -> None:
    nonebot.init(
        driver="~fastapi+~aiohttp", host="127.0.0.1", port=port, log_level="ERROR", onebot_access_token=TOKEN,
        onebot_secret=TOKEN, onebot_ws_urls=[address] if address.startswith("ws") else [],
        onebot_api_roots={str(SELF): address} if address.startswith("http") else {},
    )  # fmt: skip
    nonebot.get_driver().register_adapter(Adapter)
    file = open(path, "a")  # noqa: SIM115

    @event_preprocessor
    async def note(event: Event) -> None:
        fields = {name: value for name, value in event.model_dump(exclude_unset=True).items() if name not in _OWN}
        parts = None
        if isinstance(event, MessageEvent):
            parts = [{"type": part.type, "data": part.data} for part in event.original_message]
        record.write(file, fields, parts)

    @nonebot.on_message().handle()
    async def echo(bot: Bot, event: MessageEvent) -> None:
        if event.raw_message.startswith("echo "):
            await bot.send(event, event.raw_message.removeprefix("echo "))

    nonebot.run()


if __name__ == "__main__":
    main(int(sys.argv[1]), *sys.argv[2:])
