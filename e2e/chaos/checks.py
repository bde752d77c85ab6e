"""What must hold when everything has settled, read from the database itself and from the witnesses."""

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import Any

from . import words
from .model import Round
from .people import Said
from .stage import Stage, text_of

_LOG = """SELECT id, session, role, parts, message_id, unfinished, {hex:turn} AS turn, {hex:journal} AS journal
          FROM log ORDER BY id"""
_TURNS = "SELECT {hex:id} AS id, session, mode, model, stop, report FROM turn"


@dataclass
class Found:
    """By the name of the check, what broke it."""

    broken: dict[str, list[str]] = field(default_factory=dict)

    def check(self, name: str, wrong: list[str]) -> None:
        self.broken.setdefault(name, []).extend(wrong)


@dataclass
class Record:
    """The database at one moment."""

    log: list[dict[str, Any]]
    turns: dict[str, dict[str, Any]]
    waiting: list[dict[str, Any]]
    # By the name of a message: its rows, and the rows that answer it.
    asked: dict[str, list[dict[str, Any]]] = field(default_factory=lambda: defaultdict(list))
    answered: dict[str, list[dict[str, Any]]] = field(default_factory=lambda: defaultdict(list))

    @classmethod
    async def read(cls, stage: Stage) -> "Record":
        turns = {turn["id"]: turn for turn in await stage.rows(_TURNS)}
        waiting = await stage.rows("SELECT id, session, parts FROM outbox")
        record = cls(await stage.rows(_LOG), turns, waiting)
        for row in record.log:
            text = text_of(row["parts"])
            if row["role"] == "user":
                for ask in words.asked(text):
                    record.asked[ask.name].append(row)
            elif row["role"] == "assistant" and not row["unfinished"]:
                for answer in words.answers(text):
                    for name in answer.names:
                        record.answered[name].append(row)
        return record

    def expected(self, said: list[Said]) -> list[str]:
        """What must be answered: what was accepted, and what timers said."""
        fired = [name for name in self.asked if int(name.partition("x")[2]) > words.AFTER_TIMER]
        return [one.ask.name for one in said] + fired

    def unsettled(self, said: list[Said]) -> list[str]:
        """Why it is too early, or too late, to look."""
        missing = [name for name in self.expected(said) if not self.answered[name] and not self._is_reported(name)]
        still = [f"turn {turn['id']} of {turn['session']} is open" for turn in self.turns.values() if not turn["stop"]]
        timers = [f"the timer of {one.ask.name} has not fired" for one in said if self._waits_for_timer(one)]
        return [f"{name} has no answer" for name in missing] + still + timers

    def _waits_for_timer(self, said: Said) -> bool:
        fired = words.name_of(said.ask.conversation, said.ask.number + words.AFTER_TIMER)
        return said.ask.kind == words.TIMER and bool(self.answered[said.ask.name]) and not self.asked[fired]

    def _is_reported(self, name: str) -> bool:
        """Its turn ended with an error, which its person was told."""
        turns = [self.turns.get(row["turn"] or "") for row in self.asked[name]]
        return any(turn and turn["stop"] in ("error", "limit", "cancelled") for turn in turns)

    def reported(self, said: list[Said]) -> list[str]:
        return [name for name in self.expected(said) if not self.answered[name] and self._is_reported(name)]


def check_messages(found: Found, record: Record, said: list[Said]) -> None:
    expected = record.expected(said)
    found.check("every message answered", [f"{name}: lost" for name in expected if not record.asked[name]])
    found.check("every message answered", [line for line in record.unsettled(said) if "answer" in line])
    found.check("no turn open", [line for line in record.unsettled(said) if "open" in line])
    found.check("every timer fired", [line for line in record.unsettled(said) if "timer" in line])
    found.check(
        "answered once",
        [f"{name}: {len(rows)} answers" for name, rows in record.answered.items() if len(rows) > 1],
    )
    found.check("stored once", [f"{name}: {len(rows)} rows" for name, rows in record.asked.items() if len(rows) > 1])
    found.check("every delivery ended", [f"{row['id']} waits in {row['session']}" for row in record.waiting])


def check_order(found: Found, record: Record, said: list[Said]) -> None:
    """By conversation: stored in the order of sending, and answered in the order of storing. What waits for the
    operator lets others pass."""
    by_conversation: dict[int, list[words.Ask]] = defaultdict(list)
    for one in said:
        by_conversation[one.ask.conversation].append(one.ask)
    for asks in by_conversation.values():
        names = [ask.name for ask in asks]
        waiting = {row["turn"] for ask in asks if ask.kind == words.GUARDED for row in record.asked[ask.name]}
        waited_for = [name for name in names if all(row["turn"] not in waiting for row in record.asked[name])]
        for what, order, rows in (("stored", names, record.asked), ("answered", waited_for, record.answered)):
            places = [(rows[name][0]["id"], name) for name in order if rows[name]]
            wrong = [
                f"{later[1]} was {what} before {earlier[1]}"
                for earlier, later in zip(places, places[1:], strict=False)
                if later[0] < earlier[0]
            ]
            found.check("in order", wrong)


def check_choice(found: Found, record: Record, said: list[Said]) -> None:
    """The mode and model of a turn are those that the newest of its messages asked for."""
    wanted: dict[tuple[str, str], Said] = {}
    for one in said:
        for row in record.asked[one.ask.name]:
            for what in ("mode", "model"):
                if row["turn"] and getattr(one, what):
                    wanted[row["turn"], what] = one
    wrong = []
    for (turn, what), one in wanted.items():
        got = record.turns.get(turn, {}).get(what)
        if got != getattr(one, what):
            wrong.append(f"{one.ask.name} wanted {getattr(one, what)} and got {got}")
    found.check("mode and model kept", wrong)


def check_effects(found: Found, seen: Counter[str]) -> None:
    found.check("no effect twice", [f"{name}: {times} times" for name, times in seen.items() if times > 1])


def check_rounds(found: Found, rounds: dict[Round, list[float]], moments: list[float]) -> None:
    """A round is asked for again only if something went wrong since, and never once the next one was."""
    wrong = []
    for asked, times in rounds.items():
        following = rounds.get(Round(asked.name, asked.place + 1), [])
        if following and times[-1] > following[0]:
            wrong.append(f"round {asked.place} of {asked.name} after the one that follows it")
        for before, after in zip(times, times[1:], strict=False):
            if not any(before - 15 < at < after for at in moments):
                wrong.append(f"round {asked.place} of {asked.name}, and nothing was wrong")
    found.check("no reply asked for twice", wrong)
