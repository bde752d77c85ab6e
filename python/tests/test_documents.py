"""The Python that the documents show is Python, and what it imports from us is there."""

import ast
import importlib
import re
import sys
import unittest
from pathlib import Path

_ROOT = Path(__file__).parents[2]
sys.path.append(str(_ROOT / "python"))
_BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# Whose names are ours to give.
_OURS = {"callgate"}


def blocks() -> list[tuple[str, str]]:
    files = [*sorted((_ROOT / "docs").glob("*.md")), _ROOT / "README.md"]
    return [(file.name, code) for file in files for code in _BLOCK.findall(file.read_text())]


class Documents(unittest.TestCase):
    def test_every_block_can_be_read(self):
        found = blocks()
        self.assertGreater(len(found), 3)
        for name, code in found:
            with self.subTest(document=name, code=code):
                tree = ast.parse(code)
                for node in ast.walk(tree):
                    if isinstance(node, ast.ImportFrom) and node.module in _OURS:
                        module = importlib.import_module(node.module)
                        for alias in node.names:
                            self.assertTrue(hasattr(module, alias.name), alias.name)
