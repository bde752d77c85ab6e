"""`docs/seeds.md` names only tests of AstrBot plugins that exist."""

import ast
import re
import unittest
from pathlib import Path

HERE = Path(__file__).parent


def tests() -> set[str]:
    """`file.Class.function` of every test in this folder."""
    found = set()
    for file in HERE.glob("test_*.py"):
        for item in ast.parse(file.read_text("utf-8")).body:
            if isinstance(item, ast.ClassDef):
                found |= {f"{file.stem}.{item.name}.{one.name}" for one in item.body if hasattr(one, "name")}
    return found


class Seeds(unittest.TestCase):
    def test_named_tests_exist(self) -> None:
        table = (HERE.parent.parent / "docs" / "seeds.md").read_text("utf-8")
        named = set(re.findall(r"`(test_astrbot_\w+\.\w+\.\w+)`", table))
        self.assertGreater(len(named), 8)
        self.assertEqual(named - tests(), set())
        for number in range(1, 79):
            self.assertEqual(table.count(f"| A-{number:02} |"), 1, number)
