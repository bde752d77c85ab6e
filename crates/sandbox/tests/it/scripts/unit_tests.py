import doctest
import io
import unittest


def slugify(text):
    """Make a slug.

    >>> slugify("Hello, World!")
    'hello-world'
    >>> slugify("  ")
    ''
    """
    return "-".join("".join(c if c.isalnum() else " " for c in text.lower()).split())


class SlugTest(unittest.TestCase):
    def setUp(self):
        self.cases = {"A b": "a-b", "ÄÖ": "äö"}

    def test_cases(self):
        for text, slug in self.cases.items():
            with self.subTest(text=text):
                self.assertEqual(slugify(text), slug)

    def test_raises(self):
        with self.assertRaises(AttributeError):
            slugify(None)

    @unittest.skip("later")
    def test_skipped(self): ...


stream = io.StringIO()
suite = unittest.defaultTestLoader.loadTestsFromTestCase(SlugTest)
result = unittest.TextTestRunner(stream=stream, verbosity=0).run(suite)
print(result.testsRun, len(result.failures), len(result.skipped), result.wasSuccessful())
print(doctest.run_docstring_examples(slugify, {"slugify": slugify}), "docs fine")
assert slugify("x y") == "x-y", "must not fail"
try:
    assert 1 + 1 == 3, "arithmetic"
except AssertionError as error:
    print("assertion:", error)
