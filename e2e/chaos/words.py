"""What people, model and checks say to each other, hidden in the texts of messages.

A message is `q3x17 effect`: the 17th of conversation 3, and what is to be done about it. An answer is
`answered: q3x17 q3x18 by second/tools`: for which messages it is, and which model gave it in which mode.
Whoever reads a chat can tell from this alone what is still to be answered.
"""

import re
from dataclasses import dataclass

PLAIN = "plain"
# A call that somebody outside counts.
EFFECT = "effect"
# The same, after the operator's word.
GUARDED = "guarded"
# One that sets a timer, which then says `q3x10017 fired`.
TIMER = "timer"
FIRED = "fired"
# A model that thinks for long.
SLOW = "slow"

AFTER_TIMER = 10_000

_ASKED = re.compile(r"\b(q\d+x\d+) (plain|effect|guarded|timer|fired|slow)\b")
# What the product says of a timer that was set is not yet what the timer says.
_SET = re.compile(r"Timer \S+ set for [^\n]*?: q\d+x\d+ fired")
_ANSWERED = re.compile(r"answered: ((?:q\d+x\d+ )+)by (\w+)/(\w+)")


@dataclass(frozen=True)
class Ask:
    name: str
    kind: str

    @property
    def conversation(self) -> int:
        return int(self.name[1:].partition("x")[0])

    @property
    def number(self) -> int:
        return int(self.name.partition("x")[2])

    @property
    def text(self) -> str:
        return f"{self.name} {self.kind}"


@dataclass(frozen=True)
class Answered:
    names: tuple[str, ...]
    model: str
    mode: str


def asked(text: str) -> list[Ask]:
    """What is asked in a text, without the answers that it quotes."""
    return [Ask(name, kind) for name, kind in _ASKED.findall(_ANSWERED.sub("", _SET.sub("", text)))]


def answers(text: str) -> list[Answered]:
    return [Answered(tuple(names.split()), model, mode) for names, model, mode in _ANSWERED.findall(text)]


def answer(names: list[str], model: str, mode: str) -> str:
    return f"answered: {' '.join(names)} by {model}/{mode}"


def name_of(conversation: int, number: int) -> str:
    return f"q{conversation}x{number}"
