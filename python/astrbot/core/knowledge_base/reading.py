"""The text of a file, whatever it is written in, and its pieces."""

from __future__ import annotations

import io
import posixpath
import re
import zipfile

from defusedxml import ElementTree

from astrbot.core.exceptions import KnowledgeBaseUploadError

_TEXTS = {"txt", "md", "markdown", "mdx", "rst", "adoc", "text", "json", "csv", "log", "yaml", "yml", ""}
_PAGES = {"html", "htm", "xhtml"}


def text_of(content: bytes, file_type: str, name: str) -> str:
    """Raises what upstream's readers raise, with what to do about it."""
    kind = file_type.lower().lstrip(".")
    try:
        if kind in _TEXTS:
            return content.decode("utf-8-sig", "replace")
        if kind in _PAGES:
            return _page(content)
        if kind == "docx":
            return _docx(content)
        if kind == "epub":
            return _epub(content)
        if kind == "pdf":
            return _pdf(content)
    except KnowledgeBaseUploadError:
        raise
    except Exception as error:
        raise _unreadable(f"{name} cannot be read as {kind}: {error}") from error
    raise _unreadable(f"{name}: files of type {kind} cannot be read here; give its text, or pre_chunked_text")


def _unreadable(message: str) -> KnowledgeBaseUploadError:
    return KnowledgeBaseUploadError(stage="parsing", user_message=message)


def _page(content: bytes) -> str:
    from bs4 import BeautifulSoup

    page = BeautifulSoup(content, "html.parser")
    for hidden in page(["script", "style", "noscript"]):
        hidden.decompose()
    return re.sub(r"\n\s*\n+", "\n\n", page.get_text("\n")).strip()


def _docx(content: bytes) -> str:
    with zipfile.ZipFile(io.BytesIO(content)) as file:
        tree = ElementTree.fromstring(file.read("word/document.xml"))
    space = tree.tag.partition("}")[0] + "}"
    paragraphs = ("".join(word.text or "" for word in one.iter(f"{space}t")) for one in tree.iter(f"{space}p"))
    return "\n".join(paragraphs)


def _epub(content: bytes) -> str:
    """Its chapters in the order of reading."""
    with zipfile.ZipFile(io.BytesIO(content)) as file:
        container = ElementTree.fromstring(file.read("META-INF/container.xml"))
        package = next(one.attrib["full-path"] for one in container.iter() if one.tag.endswith("}rootfile"))
        tree = ElementTree.fromstring(file.read(package))
        places = {one.attrib["id"]: one.attrib["href"] for one in tree.iter() if one.tag.endswith("}item")}
        spine = [one.get("idref") for one in tree.iter() if one.tag.endswith("}itemref")]
        root = posixpath.dirname(package)
        return "\n\n".join(_page(file.read(posixpath.join(root, places[id]))) for id in spine if id in places)


def _pdf(content: bytes) -> str:
    try:
        from pypdf import PdfReader
    except ImportError:
        raise _unreadable("reading PDF needs pypdf: add it to the plugin's requirements.txt") from None
    return "\n".join(page.extract_text() or "" for page in PdfReader(io.BytesIO(content)).pages)


def cut(text: str, size: int, overlap: int) -> list[str]:
    """Pieces of about `size` characters that end where a sentence does, each beginning with the end of the last."""
    pieces, piece = [], ""
    for sentence in re.findall(r"[^。！？.!?\n]*[。！？.!?\n]+|[^。！？.!?\n]+$", text):
        while sentence:
            room = size - len(piece)
            if len(sentence) > room and len(piece) > overlap:
                pieces.append(piece)
                piece = piece[-overlap:] if overlap else ""
                continue
            piece, sentence = piece + sentence[:room], sentence[room:]
            if sentence:
                pieces.append(piece)
                piece = ""
    return [*pieces, piece]
