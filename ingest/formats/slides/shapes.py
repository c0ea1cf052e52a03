"""Converts the shapes of a slide to Markdown, in reading order."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from lxml import etree

from ingest.formats.common.markdown import plain
from ingest.formats.office.drawing_text import paragraph_text
from ingest.formats.office.graphics import Graphics, slide_table
from ingest.formats.office.opc import Package
from ingest.formats.office.xml_tree import child, words
from ingest.formats.slides.text_lists import TextLists
from ingest.optional_steps import improve

_LINE = 342_900  # EMU, 0.95 cm: height of the bands in which shapes count as side by side
_TITLES = ("title", "ctrTitle")
_BULLETED = (None, "body", "obj")
_SHAPES = ("{*}sp", "{*}pic", "{*}graphicFrame", "{*}grpSp", "{*}cxnSp")
_BLANK_LINES = re.compile(r"\n{3,}")
_DEEP = 50  # nested groups

Place = tuple[int, int]
"""Top and left edge in EMU."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Slide:
    """Context for reading the shapes of a slide."""

    graphics: Graphics
    places: Mapping[str, Place]
    """Positions of the layout's placeholders, by `#index` and by type."""
    footers: set[str]
    """Footers already read in this presentation; each is shown once."""


class Layouts:
    """Positions of placeholders, cached by layout."""

    def __init__(self, package: Package) -> None:
        self._package = package
        self._known: dict[str, dict[str, Place]] = {}

    def places(self, part: str) -> dict[str, Place]:
        """Positions from the slide's layout, falling back to its master."""
        for layout in self._package.related(part, "slideLayout"):
            if layout not in self._known:
                found: dict[str, Place] = {}
                for master in self._package.related(layout, "slideMaster"):
                    found |= self._own(master)
                self._known[layout] = found | self._own(layout)
            return self._known[layout]
        return {}

    def _own(self, part: str) -> dict[str, Place]:
        root = self._package.find_xml(part)
        found: dict[str, Place] = {}
        for shape in root.iter("{*}sp") if root is not None else ():
            placeholder, place = _placeholder(shape), _own_place(shape)
            if placeholder is not None and place is not None:
                for key in _keys(placeholder):
                    found.setdefault(key, place)
        return found


def slide_text(root: etree._Element, slide: Slide) -> list[str]:
    """Blocks of a slide: its title as a heading, then paragraphs, lists and tables."""
    tree = next(root.iter("{*}spTree"), None)
    if tree is None:
        return []
    shapes = list(tree.iterchildren(*_SHAPES))
    titles = [shape for shape in shapes if _type(shape) in _TITLES]
    others = [shape for shape in shapes if _type(shape) not in _TITLES]
    found = []
    for shape in titles:
        heading = " ".join(" ".join(paragraph_text(item) for item in _paragraphs(shape)).split())
        if heading:
            found.append(f"## {heading}")
    for shape in _ordered(others, slide):
        found += _shape(shape, slide, 0)
    return found


def _ordered(shapes: list[etree._Element], slide: Slide) -> list[etree._Element]:
    """Shapes in reading order, or in file order if that fails."""
    return improve("reading_order", lambda: _in_order(shapes, slide), otherwise=lambda: shapes)


def _shape(shape: etree._Element, slide: Slide, depth: int) -> list[str]:
    """Blocks of a shape, or its plain words if that fails."""
    return improve(
        "layout",
        lambda: list(_texts(shape, slide, depth)),
        otherwise=lambda: [plain(text)] if (text := words(shape).strip()) else [],
    )


def _in_order(shapes: list[etree._Element], slide: Slide) -> list[etree._Element]:
    """From top to bottom, left to right; a shape without position stays after its predecessor."""
    placed = []
    last: Place = (0, 0)
    for shape in shapes:
        top, left = last = _place(shape, slide) or last
        placed.append((top // _LINE, left, shape))
    placed.sort(key=lambda item: item[:2])
    return [shape for _, _, shape in placed]


def _texts(shape: etree._Element, slide: Slide, depth: int) -> Iterator[str]:
    kind = etree.QName(shape).localname
    if kind == "grpSp":
        inside = shape.iterchildren(*_SHAPES) if depth < _DEEP else shape.iter("{*}sp")
        for child in _ordered(list(inside), slide):
            yield from _shape(child, slide, depth + 1)
    elif kind == "graphicFrame":
        yield from improve(
            "tables", lambda: list(slide_table(shape)), otherwise=lambda: [plain(words(shape))]
        )
        yield from improve(
            "graphics", lambda: list(slide.graphics.show(shape)), otherwise=list[str]
        )
    elif kind == "pic":
        description = " ".join(_description(shape).split())
        if description:
            yield plain(description)
    else:
        text = _shape_text(shape, slide)
        if text:
            yield text


def _shape_text(shape: etree._Element, slide: Slide) -> str:
    placeholder = _placeholder(shape)
    kind = placeholder.get("type") if placeholder is not None else None
    paragraphs = _paragraphs(shape)
    if kind == "sldNum" or (kind == "dt" and next(shape.iter("{*}fld"), None) is not None):
        return ""
    if kind == "ftr":
        text = " ".join(paragraph_text(item) for item in paragraphs).strip()
        if text in slide.footers:
            return ""
        slide.footers.add(text)
    is_list = placeholder is not None and kind in _BULLETED and len(paragraphs) > 1
    return _joined(paragraphs, TextLists(child(child(shape, "txBody"), "lstStyle"), is_list))


def _joined(paragraphs: list[etree._Element], lists: TextLists) -> str:
    lines: list[str] = []
    for paragraph in paragraphs:
        text = paragraph_text(paragraph).strip()
        if not text:
            continue
        properties = next(paragraph.iterchildren("{*}pPr"), None)
        item = lists.item(properties, " ".join(text.split()))
        lines += ["", plain(text), ""] if item is None else [item]
    return _BLANK_LINES.sub("\n\n", "\n".join(lines)).strip("\n")


def _paragraphs(shape: etree._Element) -> list[etree._Element]:
    body = next(shape.iterchildren("{*}txBody"), None)
    return list(body.iterchildren("{*}p")) if body is not None else []


def _description(shape: etree._Element) -> str:
    properties = next(shape.iter("{*}cNvPr"), None)
    return str(properties.get("descr", "")) if properties is not None else ""


def _placeholder(shape: etree._Element) -> etree._Element | None:
    for names in shape.iterchildren("{*}nvSpPr", "{*}nvPicPr", "{*}nvGraphicFramePr"):
        return next(names.iter("{*}ph"), None)
    return None


def _type(shape: etree._Element) -> str | None:
    placeholder = _placeholder(shape)
    return placeholder.get("type") if placeholder is not None else None


def _keys(placeholder: etree._Element) -> list[str]:
    index, kind = placeholder.get("idx"), placeholder.get("type") or "body"
    return [f"#{index}", kind] if index is not None else [kind]


def _place(shape: etree._Element, slide: Slide) -> Place | None:
    place = _own_place(shape)
    placeholder = _placeholder(shape)
    if place is None and placeholder is not None:
        known = (slide.places.get(key) for key in _keys(placeholder))
        place = next((found for found in known if found is not None), None)
    return place


def _own_place(shape: etree._Element) -> Place | None:
    for properties in shape.iterchildren("{*}spPr", "{*}grpSpPr", "{*}xfrm"):
        offset = next(properties.iter("{*}off"), None)
        if offset is not None:
            return _number(offset.get("y")), _number(offset.get("x"))
    return None


def _number(value: str | None) -> int:
    try:
        return int(value or 0)
    except ValueError:
        return 0
