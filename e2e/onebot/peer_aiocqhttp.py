"""aiocqhttp as its documentation shows it: writes down what it is told, answers "echo words" with the words.

    python3 -m onebot.peer_aiocqhttp PORT FILE [ADDRESS OF A PROGRAM]
"""

import logging
import sys

from aiocqhttp import CQHttp, Event, Message

from . import record
from .process import TOKEN


def main(port: int, path: str, address: str = "") -> None:
    bot = CQHttp(api_root=address or None, access_token=TOKEN, secret=TOKEN)
    file = open(path, "a")  # noqa: SIM115

    async def note(event: Event) -> None:
        parts = None
        if event.type in ("message", "message_sent"):
            try:
                parts = [{"type": part.type, "data": part.get("data")} for part in Message(event.message)]
            except (ValueError, KeyError, TypeError) as error:
                parts = [{"type": "error", "data": repr(error)}]
        record.write(file, dict(event), parts)
        if event.type == "message" and event.raw_message.startswith("echo "):
            await bot.send(event, event.raw_message.removeprefix("echo "))

    for kind in ("message", "message_sent", "notice", "request", "meta_event"):
        bot.on(kind)(note)
    logging.getLogger("aiocqhttp").setLevel(logging.ERROR)
    bot.run("127.0.0.1", port)


if __name__ == "__main__":
    main(int(sys.argv[1]), *sys.argv[2:])
