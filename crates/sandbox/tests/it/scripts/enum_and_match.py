from dataclasses import dataclass
from enum import Enum, Flag, IntEnum, auto


class Color(Enum):
    RED = auto()
    GREEN = auto()


class Permission(Flag):
    READ = auto()
    WRITE = auto()


class Level(IntEnum):
    LOW = 1
    HIGH = 5


@dataclass
class Circle:
    radius: float


def describe(value):
    match value:
        case Color.RED:
            return "red"
        case {"type": "user", "name": str(name), **rest}:
            return f"user {name} +{len(rest)}"
        case [first, *others] if others:
            return f"list from {first} and {len(others)} more"
        case Circle(radius=r) if r > 1:
            return f"big circle {r}"
        case int() | float():
            return f"number {value}"
        case _:
            return "unknown"


for value in (Color.RED, {"type": "user", "name": "Eve", "age": 3}, [1, 2, 3], Circle(2.5), 7, "x", [1]):
    print(describe(value))
print(list(Color), Color["GREEN"].value, Permission.READ | Permission.WRITE, Level.HIGH > Level.LOW, Level(5).name)
