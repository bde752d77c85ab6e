"""An hour in a group, as fast as it goes: what three people say, in which every kind of thing happens. Each line has a
word of its own, by which it is found again in whatever became of it."""

import asyncio
import random
from typing import Any

from .person import Person

_SMALL = b"GIF89a\x01\x00\x01\x00\x00\x00\x00;"


class Hour:
    def __init__(self, room: str, bot: str, people: list[Person], seed: int = 7):
        self.room = room
        self.bot = bot
        self.people = people
        self.asked: list[str] = []
        """Event ids of what was said to the bot."""
        self.said: list[str] = []
        """Event ids of every message, in order of their speakers."""
        self.redacted: list[str] = []
        self._random = random.Random(seed)

    async def pass_by(self, lines: int) -> None:
        """Everybody speaks at the same time as the others."""
        await asyncio.gather(*(self._talk(number, person, lines) for number, person in enumerate(self.people)))

    async def _talk(self, number: int, person: Person, lines: int) -> None:
        own: list[str] = []
        for line in range(lines):
            word = f"w{number}x{line}"
            match self._random.randrange(8):
                case 0:
                    own.append(await person.ask(self.room, self.bot, f"Gate: {word}?"))
                    self.asked.append(own[-1])
                case 1:
                    own.append(await person.upload(self.room, "m.image", f"{word}.gif", "image/gif", _SMALL))
                case 2 if own:
                    relation = {"rel_type": "m.annotation", "event_id": own[-1], "key": word}
                    await person.say(self.room, "", kind="m.reaction", **{"m.relates_to": relation})
                case 3 if own:
                    new = {"msgtype": "m.text", "body": f"{word} instead"}
                    relation = {"rel_type": "m.replace", "event_id": own[-1]}
                    await person.say(self.room, f"* {word}", **{"m.new_content": new, "m.relates_to": relation})
                case 4 if own and own[-1] not in self.asked:
                    self.redacted.append(own[-1])
                    await person.client.room_redact(self.room, own[-1])
                case _:
                    own.append(await person.say(self.room, f"{word} is what I say"))
        self.said += own


def counted(rows: list[dict[str, Any]]) -> dict[str, int]:
    """How often each message of the room is in a session's log."""
    counts: dict[str, int] = {}
    for row in rows:
        if row["role"] == "user":
            counts[row["message_id"]] = counts.get(row["message_id"], 0) + 1
    return counts
