"""Converts the slides of an OpenDocument presentation, each with its notes and comments."""

import re
from collections.abc import Iterator
from functools import partial

from lxml import etree

from ingest.formats.common.markdown import numbered_slide, plain
from ingest.formats.office.xml_tree import attribute, child, local
from ingest.formats.opendocument.body import OdfBody
from ingest.formats.opendocument.inline import comment
from ingest.optional_steps import improve

_NO_SHAPES = frozenset({"notes", "annotation", "forms", "animations", "par", "page-thumbnail"})
_LENGTH = re.compile(r"(-?\d+(?:\.\d+)?)(cm|mm|in|pt|pc)?")
_CENTIMETRES = {"cm": 1.0, "mm": 0.1, "in": 2.54, "pt": 2.54 / 72, "pc": 2.54 / 6}
_LINE = 0.95  # cm: height of the bands in which shapes count as side by side


def read_slides(content: etree._Element, body: OdfBody) -> tuple[list[str], list[int]]:
    """Markdown of each slide, and the 1-based numbers of hidden slides."""
    slides, hidden = [], []
    for number, page in enumerate(content.iterchildren("{*}page"), start=1):
        if improve("styles", partial(_is_hidden, page, body), otherwise=bool):
            hidden.append(number)
        blocks = improve("layout", partial(_blocks, page, body), otherwise=partial(_plain, page))
        slides.append(numbered_slide("\n\n".join(blocks), number))
    return slides, hidden


def _is_hidden(page: etree._Element, body: OdfBody) -> bool:
    return body.styles.of(page).is_hidden_slide


def _blocks(page: etree._Element, body: OdfBody) -> list[str]:
    return list(filter(None, _slide(page, body)))


def _plain(page: etree._Element) -> list[str]:
    """Fallback: the words of a slide whose structure cannot be read."""
    return [plain(" ".join(" ".join(page.itertext()).split()))]


def _slide(page: etree._Element, body: OdfBody) -> Iterator[str]:
    shapes = [item for item in page if local(item) not in _NO_SHAPES and not _is_prompt(item)]
    titles = [item for item in shapes if attribute(item, "class") == "title"]
    for title in titles:
        heading = " ".join(" ".join(body.shape(title)).split())
        if heading:
            yield f"## {heading}"
    others = [item for item in shapes if item not in titles]
    ordered = improve("reading_order", lambda: sorted(others, key=_place), otherwise=lambda: others)
    for shape in ordered:
        yield from body.shape(shape)
    notes = child(page, "notes")
    said = [
        "\n\n".join(body.shape(shape))
        for shape in (notes if notes is not None else ())
        # Others are dates, numbers and prompts; a shape without a class was typed in there.
        if (attribute(shape, "class") or "notes") == "notes" and local(shape) not in _NO_SHAPES
        if not _is_prompt(shape)
    ]
    yield "Notes: " + "\n\n".join(filter(None, said)) if any(said) else ""
    yield from body.notes.blocks()
    body.notes.texts.clear()
    yield from body.comments()
    for annotation in page.iterchildren("{*}annotation"):
        yield plain(comment(annotation, body.styles))


def _is_prompt(shape: etree._Element) -> bool:
    """Whether the shape is an unfilled placeholder."""
    return attribute(shape, "placeholder") == "true"


def _place(shape: etree._Element) -> tuple[int, float]:
    """Sort key: from top to bottom, left to right."""
    return int(_centimetres(attribute(shape, "y")) // _LINE), _centimetres(attribute(shape, "x"))


def _centimetres(length: str | None) -> float:
    match = _LENGTH.fullmatch(length or "")
    return float(match[1]) * _CENTIMETRES[match[2] or "cm"] if match else 0.0
