import difflib
import filecmp

old = "alpha\nbeta\ngamma\n".splitlines(keepends=True)
new = "alpha\nBeta\ngamma\ndelta\n".splitlines(keepends=True)
print("".join(difflib.unified_diff(old, new, "old.txt", "new.txt")), end="")
print(difflib.get_close_matches("appel", ["ape", "apple", "peach"]), round(difflib.SequenceMatcher(None, "abcd", "bcde").ratio(), 3))
print(list(difflib.ndiff(["one"], ["ore"])))
for name, lines in (("shared/x", old), ("shared/y", new)):
    with open(name, "w") as file:
        file.writelines(lines)
print(filecmp.cmp("shared/x", "shared/y", shallow=False))
