"""Annotations as JSON Schema."""

import sys
import unittest
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum
from pathlib import Path
from typing import Any, Literal, NotRequired, Optional, TypedDict, Union

sys.path.insert(0, str(Path(__file__).parent.parent / "worker"))

from callgate_worker import signature


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


@dataclass
class Place:
    """Where.

    Args:
        name: What people call it.
    """

    name: str
    zoom: int = 3
    tags: list[str] = field(default_factory=list)


class Options(TypedDict):
    limit: int
    sort: NotRequired[str]


class Schemas(unittest.TestCase):
    def check(self, hint, expect):
        self.assertEqual(signature.schema(hint), expect)

    def test_types(self):
        self.check(str, {"type": "string"})
        self.check(Optional[int], {"type": ["integer", "null"]})
        self.check(int | None, {"type": ["integer", "null"]})
        self.check(Union[str, list[int]], {"anyOf": [
            {"type": "string"}, {"type": "array", "items": {"type": "integer"}}]})
        self.check(Literal["a", 2], {"enum": ["a", 2]})
        self.check(dict[str, float], {"type": "object", "additionalProperties": {"type": "number"}})
        self.check(dict[int, str], {"type": "object"})
        self.check(tuple[int, ...], {"type": "array", "items": {"type": "integer"}})
        self.check(Colour, {"enum": ["red", "blue"]})
        self.check(datetime, {"type": "string", "format": "date-time"})
        self.check(Any, {})
        self.check(Optional[Any], {})
        self.check(object(), {})

    def test_records(self):
        place = signature.schema(Place)
        self.assertEqual(place["required"], ["name"])
        self.assertEqual(place["properties"]["name"],
                         {"type": "string", "description": "What people call it."})
        self.assertEqual(signature.schema(Options)["required"], ["limit"])
        self.assertEqual(list(signature.schema(Options)["properties"]), ["limit", "sort"])

    def test_a_function(self):
        def scale(ctx, value: "float", *, mode: Literal["up", "down"] = "up", odd: "Nowhere" = None,  # noqa: F821 # pyright: ignore[reportUndefinedVariable]
                  **more: int) -> "list[str] | None":
            """Scale.

            Args:
                value: What to scale.
            """

        found = signature.parameters(scale, skip={"ctx"})
        self.assertEqual(found, {
            "type": "object",
            "properties": {
                "value": {"type": "number", "description": "What to scale."},
                "mode": {"enum": ["up", "down"], "default": "up"},
                "odd": {"default": None},
            },
            "required": ["value"],
            "additionalProperties": {"type": "integer"},
        })
        self.assertEqual(signature.returns(scale), "list[str] | None")

    def test_results_are_shown_as_written(self):
        for hint, text in [(str, "str"), (None, "None"), (Optional[str], "str | None"),
                           (dict[str, Any], "dict[str, Any]"), (Literal["a"], "Literal['a']"),
                           (tuple[int, ...], "tuple[int, ...]"), (Place, "Place")]:
            self.assertEqual(signature.shown(hint), text)


if __name__ == "__main__":
    unittest.main()
