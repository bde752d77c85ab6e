"""What a docstring says: its summary, its sections, and a text for each parameter.

Reads the Google, NumPy and reStructuredText styles. It refuses nothing: what it does not
recognise is part of the description. Standard library only.
"""

import inspect
import re
from dataclasses import dataclass, field

_TITLES = {
    "args": ("args", "arguments", "parameters", "params", "parameter", "keyword args", "参数"),
    "returns": ("returns", "return", "返回", "返回值"),
    "yields": ("yields", "yield"),
    "raises": ("raises", "raise", "except", "exceptions", "异常"),
    "example": ("example", "examples", "示例", "例子"),
    "other": (
        "note", "notes", "warning", "warnings", "attention", "see also", "references", "todo",
        "attributes", "methods", "注意",
    ),
}
_SECTIONS = {title: section for section, titles in _TITLES.items() for title in titles}
_HEADING = re.compile(r"^(\s*)([A-Za-z一-鿿][A-Za-z一-鿿 ]*?)\s*[:：]\s*(.*)$")
_ITEM = re.compile(r"^\*{0,2}([^\W\d]\w*)\s*(?:\((.*?)\))?\s*[:：]\s*(.*)$")
_RULE = re.compile(r"^\s*-{3,}\s*$")
_NUMPY_ITEM = re.compile(r"^(\*{0,2}[^\W\d]\w*(?:\s*,\s*\*{0,2}\w+)*)\s*(?::\s*(.*))?$")
_FIELD = re.compile(r"^\s*:(param|parameter|arg|type|returns?|rtype)\b\s*([^:]*):\s*(.*)$")


@dataclass(frozen=True)
class Item:
    """One entry of a section: a parameter, or what is returned (whose name is empty)."""

    name: str
    type: str
    text: str


@dataclass
class Docstring:
    summary: str = ""
    description: str = ""
    """What stands between the summary and the first section."""
    parameters: dict[str, Item] = field(default_factory=dict)
    returns: Item | None = None
    sections: set[str] = field(default_factory=set)
    """Which of args, returns, yields, raises, example are there."""


def read(text: str | None) -> Docstring:
    """The parts of `text`, which is a docstring as it stands in the source."""
    found = Docstring()
    if not text or not text.strip():
        return found
    lines = inspect.cleandoc(text).splitlines()
    found.summary = lines[0].strip() if text.lstrip(" \t").splitlines()[0].strip() else ""
    prose: list[str] = []
    for section, body in _split(lines, prose, found):
        _understand(section, body, found)
    start = 1 if found.summary else 0
    found.description = "\n".join(prose[start:]).strip()
    return found


def _split(lines: list[str], prose: list[str], found: Docstring):
    """Sections with their lines; what belongs to none goes to `prose`, fields into `found`."""
    index, fenced = 0, False
    while index < len(lines):
        line = lines[index]
        if line.lstrip().startswith("```"):
            fenced = not fenced
        heading = None if fenced else _heading(lines, index)
        if heading is None:
            index = _field(lines, index, found) or _keep(lines, index, prose)
            continue
        section, depth, first, after = heading
        end = _end(lines, after, depth, section, numpy=after - index == 2)
        body = ([first] if first else []) + lines[after:end]
        yield section, body
        index = end


def _keep(lines: list[str], index: int, prose: list[str]) -> int:
    prose.append(lines[index])
    return index + 1


def _heading(lines: list[str], index: int) -> tuple[str, int, str, int] | None:
    """Section, indentation, text on the same line, and where its body begins."""
    line = lines[index]
    if index + 1 < len(lines) and _RULE.match(lines[index + 1]):
        section = _SECTIONS.get(line.strip().lower())
        if section:
            return section, _depth(line), "", index + 2
    match = _HEADING.match(line)
    if match is None:
        return None
    section = _SECTIONS.get(match[2].strip().lower())
    # "Note: be careful" in the middle of a text is not a section of items.
    if section is None or (match[3] and section in ("args", "other")):
        return None
    return section, len(match[1]), match[3], index + 1


def _end(lines: list[str], start: int, depth: int, section: str, *, numpy: bool) -> int:
    """The line after the body: where the indentation or the fence of the section is over."""
    fenced = False
    flat = numpy or _is_flat(lines, start, depth, section)
    for index in range(start, len(lines)):
        line = lines[index]
        if line.lstrip().startswith("```"):
            fenced = not fenced
        if fenced or not line.strip():
            continue
        outside = _depth(line) <= depth and not flat and not line.lstrip().startswith("```")
        is_other = _depth(line) <= depth and _heading(lines, index) is not None
        if outside or is_other or _FIELD.match(line):
            return index
    return len(lines)


def _is_flat(lines: list[str], start: int, depth: int, section: str) -> bool:
    """Some write the items of `Args:` without indenting them."""
    following = next((line for line in lines[start:] if line.strip()), "")
    items = section == "args" and _ITEM.match(following.strip()) is not None
    return items and _depth(following) <= depth and _heading([following], 0) is None


def _understand(section: str, body: list[str], found: Docstring) -> None:
    if section != "other":
        found.sections.add(section)
    if section == "args":
        for item in _items(body):
            found.parameters.setdefault(item.name, item)
    elif section == "returns" and found.returns is None:
        text = inspect.cleandoc("\n".join(body)).strip()
        kind, colon, rest = text.partition(":")
        is_typed = colon and "\n" not in kind and re.fullmatch(r"[\w\[\], .|\"']+", kind)
        found.returns = Item("", kind.strip(), rest.strip()) if is_typed else Item("", "", text)


def _items(body: list[str]):
    lines = [line for line in body if line.strip()]
    if not lines:
        return
    depth = min(_depth(line) for line in lines)
    names: list[str] = []
    kind, text = "", []
    for line in lines:
        match = _ITEM.match(line.strip()) if _depth(line) == depth else None
        plain = _NUMPY_ITEM.match(line.strip()) if _depth(line) == depth and not match else None
        # `name : type` is NumPy's way; the text then follows, indented.
        if match and match[2] is None and re.match(r"^\s*\*{0,2}\w+\s+:", line):
            match, plain = None, _NUMPY_ITEM.match(line.strip())
        if match or plain:
            yield from _named(names, kind, text)
            if match:
                names, kind, text = [match[1]], match[2] or "", [match[3]]
            elif plain:
                names = [name.strip().lstrip("*") for name in plain[1].split(",")]
                kind, text = plain[2] or "", []
        elif names:
            text.append(line.strip())
    yield from _named(names, kind, text)


def _named(names: list[str], kind: str, text: list[str]):
    told = " ".join(part for part in text if part).strip()
    return [Item(name, kind.strip(), told) for name in names]


def _field(lines: list[str], index: int, found: Docstring) -> int | None:
    """A `:param name: text` line with what continues it."""
    match = _FIELD.match(lines[index])
    if match is None:
        return None
    end = index + 1
    while end < len(lines) and lines[end].strip() and _depth(lines[end]) > _depth(lines[index]):
        end += 1
    text = " ".join([match[3], *(line.strip() for line in lines[index + 1 : end])]).strip()
    word, names = match[1], match[2].split()
    if word in ("param", "parameter", "arg") and names:
        kind = " ".join(names[:-1])
        found.parameters[names[-1].lstrip("*")] = Item(names[-1].lstrip("*"), kind, text)
        found.sections.add("args")
    elif word == "type" and names and (known := found.parameters.get(names[-1])):
        found.parameters[known.name] = Item(known.name, text, known.text)
    elif word in ("return", "returns"):
        found.returns = Item("", found.returns.type if found.returns else "", text)
        found.sections.add("returns")
    elif word == "rtype":
        found.returns = Item("", text, found.returns.text if found.returns else "")
        found.sections.add("returns")
    return end


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())
