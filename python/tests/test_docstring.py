"""What the reader of docstrings finds, in each style people write."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "worker"))

from callgate_worker import docstring

GOOGLE = """Get a preference.

    Looks it up by user and key.
    Second line.

    Args:
        user_id (str): Who it
            belongs to.
        key: The name: "theme", "language".
        *rest (int): More.

    Returns:
        Optional[str]: The value, or None.

    Example:
        ```python
        # Args: not a section
        theme = get("u", "theme")
        ```
    """

NUMPY = """
    Scale a value.

    Parameters
    ----------
    value : float
        What to scale.
    low, high : int, optional
        The limits.
        Both included.
    name
        Without a type.

    Returns
    -------
    float
        The scaled value.

    Examples
    --------
    >>> scale(1.0)
    """

SPHINX = """Send it.

    :param str text: What to send,
        in full.
    :param times: How often.
    :type times: int
    :return: Whether it went.
    :rtype: bool
    """


class Reading(unittest.TestCase):
    def test_google(self):
        doc = docstring.read(GOOGLE)
        self.assertEqual(doc.summary, "Get a preference.")
        self.assertEqual(doc.description, "Looks it up by user and key.\nSecond line.")
        self.assertEqual(list(doc.parameters), ["user_id", "key", "rest"])
        self.assertEqual(doc.parameters["user_id"].text, "Who it belongs to.")
        self.assertEqual(doc.parameters["user_id"].type, "str")
        self.assertEqual(doc.parameters["key"].text, 'The name: "theme", "language".')
        self.assertEqual((doc.returns.type, doc.returns.text), ("Optional[str]", "The value, or None."))
        self.assertEqual(doc.sections, {"args", "returns", "example"})

    def test_numpy(self):
        doc = docstring.read(NUMPY)
        self.assertEqual(doc.summary, "")
        self.assertIn("Scale a value.", doc.description)
        self.assertEqual(list(doc.parameters), ["value", "low", "high", "name"])
        self.assertEqual(doc.parameters["value"].text, "What to scale.")
        self.assertEqual(doc.parameters["high"].text, "The limits. Both included.")
        self.assertEqual(doc.parameters["low"].type, "int, optional")
        self.assertEqual(doc.parameters["name"].text, "Without a type.")
        self.assertEqual(doc.sections, {"args", "returns", "example"})

    def test_sphinx(self):
        doc = docstring.read(SPHINX)
        self.assertEqual(doc.parameters["text"].text, "What to send, in full.")
        self.assertEqual(doc.parameters["times"].type, "int")
        self.assertEqual((doc.returns.type, doc.returns.text), ("bool", "Whether it went."))

    def test_what_is_not_a_section_is_description(self):
        doc = docstring.read("Do it.\n\nNote: be careful.\nSee http://x: y.")
        self.assertEqual(doc.description, "Note: be careful.\nSee http://x: y.")
        self.assertEqual(doc.sections, set())
        self.assertEqual(docstring.read(None).summary, "")

    def test_items_that_are_not_indented(self):
        doc = docstring.read("Do it.\n\nArgs:\nname: Who.\nage (int): How old.\n\nReturns: A text.")
        self.assertEqual(doc.parameters["age"].text, "How old.")
        self.assertEqual(doc.returns.text, "A text.")

    def test_a_section_without_a_blank_line_and_nested_names(self):
        text = "Call.\n    Args:\n        calls: A list of:\n            server: Its name\n    Returns:\n        list"
        doc = docstring.read(text)
        self.assertEqual(list(doc.parameters), ["calls"])
        self.assertEqual(doc.parameters["calls"].text, "A list of: server: Its name")


if __name__ == "__main__":
    unittest.main()
