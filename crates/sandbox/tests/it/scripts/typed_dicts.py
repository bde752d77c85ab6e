import typing
from typing import Generic, Literal, NamedTuple, Optional, Protocol, TypedDict, TypeVar, get_type_hints

T = TypeVar("T")


class Movie(TypedDict, total=False):
    title: str
    year: int


class Pair(NamedTuple):
    left: int
    right: str = "r"


class Speaks(Protocol):
    def speak(self) -> str: ...


class Stack(Generic[T]):
    def __init__(self) -> None:
        self.items: list[T] = []

    def push(self, item: T) -> "Stack[T]":
        self.items.append(item)
        return self


def mode(name: Literal["r", "w"], movie: Optional[Movie] = None) -> dict[str, int | None]:
    return {name: movie and movie.get("year")}


print(mode("r", {"title": "Alien", "year": 1979}), Pair(1), Stack[int]().push(1).push(2).items)
print(get_type_hints(mode), typing.get_args(Literal["r", "w"]), Movie.__annotations__)
