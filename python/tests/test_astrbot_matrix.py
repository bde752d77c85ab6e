"""Matrix as AstrBot plugins know it: the platform's name, the room, and the event in its own words."""

import json

from test_astrbot_ai import Written

WITNESS = """
    import json
    @filter.event_message_type(filter.EventMessageType.ALL)
    async def note(self, event):
        raw = event.message_obj.raw_message
        self.seen = {
            "platform": [event.get_platform_name(), event.get_platform_id()],
            "ids": [event.get_self_id(), event.get_group_id(), event.get_sender_id(), event.message_obj.message_id],
            "group": event.message_obj.group and event.message_obj.group.group_name,
            "raw": [raw["event_id"], raw.get("content", {}).get("msgtype")],
            "client": hasattr(event, "bot"),
        }
"""


class Matrix(Written):
    async def test_a_message_of_a_room(self) -> None:
        # Whatever the operator named it.
        self.stage.host.settings["platforms"] = {"home": "matrix"}
        await self.stage.load(self.write(WITNESS))
        raw = {"event_id": "$1", "type": "m.room.message", "content": {"msgtype": "m.text", "body": "tea?"}}
        message = {"id": "$1", "session": "home:GroupMessage:!r:x", "text": "tea?", "sender": {"id": "@ann:x", "name": "Ann"},
                   "parts": [{"type": "text", "text": "tea?"}], "group": {"id": "!r:x"}}  # fmt: skip
        adapter = {"kind": "matrix", "bot": "@gate:x", "chat_name": "Garden", "raw": raw}
        facts = {"role": "user", "row": 1, "platform": "home", "adapter": adapter}
        await self.stage.rig.step("event", ref="e1", message=message, facts=facts)
        seen = json.loads(eval(await self.stage.py("return json.dumps(star.seen)")))
        self.assertEqual(seen["platform"], ["matrix", "home"])
        self.assertEqual(seen["ids"], ["@gate:x", "!r:x", "@ann:x", "$1"])
        self.assertEqual((seen["group"], seen["raw"], seen["client"]), ("Garden", ["$1", "m.text"], False))
