"""Says in a Satori chat what a plugin sees of it: "parts" is answered by parts of each kind, "seen" by what the event
shows. All else is left to the model."""

import base64
import json

from astrbot.api import message_components as parts
from astrbot.api.event import AstrMessageEvent, filter
from astrbot.api.star import Star

PICTURE = b"\x89PNG\r\n\x1a\n" + b"a picture"


class Witness(Star):
    @filter.command("parts")
    async def parts(self, event: AstrMessageEvent):
        picture = base64.b64encode(PICTURE).decode()
        yield event.chain_result(
            [
                parts.Reply(id=event.message_obj.message_id), parts.At(qq="1002", name="bob"), parts.Plain(" one\ntwo <b> "),
                parts.Image.fromBase64(picture), parts.Record.fromURL("http://h/a.ogg"), parts.Plain("after"),
            ]  # fmt: skip
        )

    @filter.command("seen")
    async def seen(self, event: AstrMessageEvent):
        message = event.message_obj
        seen = {
            "platform": event.get_platform_name(), "self": event.get_self_id(), "raw": message.raw_message["type"],
            "group": message.group.group_name if message.group else None,
        }  # fmt: skip
        yield event.plain_result(json.dumps(seen))
