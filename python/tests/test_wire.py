"""What Python sees of values: records, opaque objects, and who may open them.

Run: python3 -m unittest discover -s python/tests
"""

import collections
import copy
import dataclasses
import pathlib
import re
import socket
import sys
import types
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "guest"))

from callgate_guest import outward, wire


@dataclasses.dataclass
class Point:
    x: int
    y: object


Named = collections.namedtuple("Named", "a b")


class Model:
    """Looks like a pydantic model."""

    model_fields = {"name": None}

    def __init__(self):
        self.name = "n"
        self.cache = object()


class Plain:
    def __init__(self):
        self.shown = 1
        self._hidden = socket


class Private:
    def __init__(self):
        self._token = "t"

    @property
    def token(self):
        return self._token


class Slotted:
    __slots__ = ("x",)

    def __init__(self):
        self.x = 1


class Native(socket.socket):
    pass


class Failed(Exception):
    pass


class Nothing:
    pass


@dataclasses.dataclass
class Done:
    pass


@dataclasses.dataclass
class HiddenFields:
    def __post_init__(self):
        self._secret = 1


def to_sandbox(value, **options):
    return wire.loads(outward.dumps(value, **options), plain=False, allow_opaque=True)


class Records(unittest.TestCase):
    def test_objects_of_a_plugin_arrive_as_records(self):
        cases = [
            (Point(1, [2]), "Point(x=1, y=[2])"),
            (Named(1, 2), "Named(a=1, b=2)"),
            (Model(), "Model(name='n')"),
            (Plain(), "Plain(shown=1)"),
            ([Point(1, Plain())], "[Point(x=1, y=Plain(shown=1))]"),
        ]
        for value, expected in cases:
            self.assertEqual(repr(to_sandbox(value)), expected)

    def test_a_record_is_read_by_name_place_and_unpacking(self):
        record = to_sandbox(Named(1, "b"))
        self.assertEqual((record.a, record["a"], record[0]), (1, 1, 1))
        first, second = record
        self.assertEqual((first, second, len(record)), (1, "b", 2))
        self.assertEqual(dict(record), {"a": 1, "b": "b"})
        self.assertEqual(record, copy.deepcopy(record))
        self.assertEqual(len({record, to_sandbox(Named(1, "b"))}), 1)
        self.assertNotEqual(record, to_sandbox(Named(1, "c")))

    def test_a_record_cannot_be_changed(self):
        record = to_sandbox(Point(1, 2))
        with self.assertRaisesRegex(AttributeError, "read-only"):
            record.x = 2
        with self.assertRaisesRegex(AttributeError, "read-only"):
            record["x"] = 2
        with self.assertRaisesRegex(AttributeError, "read-only"):
            del record.x
        with self.assertRaisesRegex(AttributeError, "no field 'z'; it has x, y"):
            record.z


class Opaque(unittest.TestCase):
    def test_objects_the_sandbox_can_import_arrive_whole(self):
        for value in (collections.Counter("aab"), collections.deque([1]), 1j, range(3)):
            arrived = to_sandbox([value])[0]
            self.assertEqual((arrived, type(arrived)), (value, type(value)))

    def test_packages_of_the_sandbox_count_as_importable(self):
        module = types.ModuleType("installed_package")
        module.Thing = type("Thing", (), {"__module__": "installed_package"})
        sys.modules["installed_package"] = module
        self.addCleanup(sys.modules.pop, "installed_package")
        thing = module.Thing()
        self.assertIsInstance(to_sandbox(thing, packages={"installed_package"}), module.Thing)
        self.assertIsInstance(to_sandbox(thing), wire.Record)

    def test_what_holds_a_plugin_object_does_not_cross_as_a_pickle(self):
        arrived = to_sandbox(collections.OrderedDict(p=Point(1, 2)))
        self.assertEqual(type(arrived), dict)
        self.assertEqual(arrived["p"].x, 1)

    def test_only_the_sandbox_opens_them(self):
        body = outward.dumps(collections.Counter("a"))
        with self.assertRaisesRegex(ValueError, "cannot open a 'Counter' here"):
            wire.loads(body, plain=False)

    def test_one_that_does_not_open_says_which(self):
        body = wire.marshal.dumps((..., "opaque", ("Frame", b"cnowhere\nFrame\n.")), 2)
        with self.assertRaisesRegex(ValueError, "cannot open a 'Frame' here: No module"):
            wire.loads(body, plain=False, allow_opaque=True)


class Refusals(unittest.TestCase):
    def refused(self, dumps, value, text):
        with self.assertRaisesRegex(wire.CannotPass, re.escape(text)):
            dumps(value)

    def test_some_things_cross_nowhere(self):
        with socket.socket() as live:
            for dumps in (wire.dumps, outward.dumps):
                self.refused(dumps, {"a": [live]}, "result.a[0]: cannot pass a 'socket'")
                self.refused(dumps, [len], "result[0]: cannot pass a 'builtin_function_or_method'")
                self.refused(dumps, (1, sys), "result[1]: cannot pass a 'module'")
                self.refused(dumps, Point, "result: cannot pass a 'type'")
            self.refused(outward.dumps, Point(1, live), "result.y: cannot pass a 'socket'")

    def test_objects_toward_the_host_are_refused_by_name(self):
        self.refused(wire.dumps, [Point(1, 2)], "result[0]: cannot pass a 'Point'")
        self.refused(wire.dumps, to_sandbox(Point(1, 2)), "result: cannot pass a 'Point'")
        self.refused(wire.dumps, Plain(), "result: cannot pass a 'Plain'")

    def test_an_object_whose_state_is_not_to_be_seen_is_refused(self):
        live = Native()
        self.addCleanup(live.close)
        shut = [Private(), Slotted(), Native.__new__(Native), live, Failed("why"), HiddenFields()]
        for value in shut:
            name = type(value).__name__
            self.refused(outward.dumps, {"a": [1, value]}, f"result.a[1]: cannot pass a '{name}'")
            self.refused(outward.dumps, Point(value, 1), f"result.x: cannot pass a '{name}'")
        self.assertEqual(repr(to_sandbox([Nothing(), Done()])), "[Nothing(), Done()]")

    def test_the_root_of_the_place_is_the_callers(self):
        with self.assertRaisesRegex(wire.CannotPass, r"^argument 1\[0\]: cannot"):
            wire.dumps([object()], "argument 1")

    def test_an_object_that_holds_itself_is_refused(self):
        point = Point(1, None)
        point.y = point
        self.refused(outward.dumps, point, "or it holds itself")

    def test_a_frame_has_a_limit(self):
        self.assertEqual(wire.frame(3, b"N"), b"\x02\0\0\0\x03N")
        self.refused(lambda body: wire.frame(3, body), bytes(wire.MAX_FRAME), "the limit is")


class Text(unittest.TestCase):
    def test_hangul_and_bytes_that_look_like_surrogates_pass(self):
        for value in ("한글 \ud7a3", b"\xed\xa0\x80", {"\U0001f600": [b"\xed\xbf"]}):
            self.assertEqual(wire.loads(wire.dumps(value), plain=True), value)


if __name__ == "__main__":
    unittest.main()
