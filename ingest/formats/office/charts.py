"""Charts of Office documents as tables: a row per category, a column per series."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import NamedTuple

from lxml import etree

from ingest.formats.common.cells import number_text
from ingest.formats.common.markdown import plain, table
from ingest.formats.common.number_format import is_plain, shown
from ingest.formats.office.drawing_text import text_of
from ingest.formats.office.xml_tree import child, local

_MOST_POINTS = 5000  # per series
_MOST_LEVELS = 8
_MOST_CELLS = 200_000  # of a table; a series without points costs a cell per category too
_SAME = "1"  # what programs write for bubbles without a size
_AXES = frozenset({"catAx", "dateAx", "valAx", "serAx", "axis"})
_NUMBERS = etree.XPath(
    "*[local-name() = 'numLit' or local-name() = 'numCache']"
    "| *[local-name() = 'numRef']/*[local-name() = 'numCache']"
)

_Points = dict[int, str]
"""Texts by index."""


class _Series(NamedTuple):
    name: str
    categories: _Points
    values: _Points


def chart(root: etree._Element) -> str:
    """Title, axes and stored values of a chart, of either generation."""
    extended = next(root.iter("{*}chartData"), None)
    columns = list(_series(root) if extended is None else _extended(root, extended))
    categories: _Points = {}
    for column in columns:
        for key in column.values:
            categories.setdefault(key, "")
        for key, name in column.categories.items():
            categories[key] = categories.get(key) or name
    most = max(1, _MOST_CELLS // (1 + len(columns)))
    across, along = _axes(root)
    rows = [[across, *(column.name for column in columns)]]
    rows += [
        [categories[key], *(column.values.get(key, "") for column in columns)]
        for key in sorted(categories)[:most]
    ]
    heading = next((_line(title) for title in root.iter("{*}title") if not _is_axis(title)), "")
    if along:
        heading = f"{heading} ({along})" if heading else along
    return "\n\n".join(piece for piece in (plain(heading), table(rows)) if piece)


def _is_axis(title: etree._Element) -> bool:
    parent = title.getparent()
    return parent is not None and local(parent) in _AXES


def _axes(root: etree._Element) -> tuple[str, str]:
    """Titles of the axis of the categories, and of those of the values."""
    named = list(root.iter("{*}catAx", "{*}dateAx"))
    values = list(root.iter("{*}valAx"))
    if not named:  # of a scatter chart, the first one is horizontal
        named, values = values[:-1][:1], values[1:] or values
    return _titles(named), _titles(values)


def _titles(axes: Iterable[etree._Element]) -> str:
    titles = (child(axis, "title") for axis in axes)
    texts = (_line(title) for title in titles if title is not None)
    return " / ".join(dict.fromkeys(filter(None, texts)))


def _line(title: etree._Element) -> str:
    return " ".join(text_of(title).split())


def _series(root: etree._Element) -> Iterator[_Series]:
    stated = next(root.iter("{*}date1904"), None)
    is_1904 = stated is not None and stated.get("val", "1") in ("1", "true")
    for series in root.iter("{*}ser"):
        name = " ".join(_points(series, "tx", is_1904=is_1904).values())
        categories = _points(series, "cat", "xVal", is_1904=is_1904)
        yield _Series(name, categories, _points(series, "val", "yVal", is_1904=is_1904))
        sizes = _points(series, "bubbleSize", is_1904=is_1904)
        if any(size != _SAME for size in sizes.values()):
            yield _Series(f"{name} (size)".strip(), categories, sizes)


def _points(series: etree._Element, *names: str, is_1904: bool) -> _Points:
    for item in series.iterchildren(*(f"{{*}}{name}" for name in names)):
        levels = list(islice(item.iter("{*}lvl"), _MOST_LEVELS))
        if levels:
            return _nested([_cached(level, "", is_1904=is_1904) for level in levels])
        code = next(item.iter("{*}formatCode"), None)
        code_text = "" if code is None else code.text or ""
        found = _cached(item, code_text, is_1904=is_1904)
        return found or {0: " ".join(value.text or "" for value in item.iterchildren("{*}v"))}
    return {}


def _cached(item: etree._Element, code: str, *, is_1904: bool) -> _Points:
    """Cached values by index, as their number format shows them."""
    found: _Points = {}
    is_number = local(item.getparent()) == "numDim" or bool(_NUMBERS(item))
    for position, point in enumerate(islice(item.iter("{*}pt"), _MOST_POINTS)):
        value = child(point, "v")
        text = (point.text if value is None else value.text) or ""
        index = point.get("idx", "")
        found[int(index) if index.isdecimal() else position] = (
            _formatted(text, point.get("formatCode") or code, is_1904=is_1904)
            if is_number
            else text
        )
    return found


def _formatted(text: str, code: str, *, is_1904: bool) -> str:
    try:
        number = float(text)
        return number_text(number) if is_plain(code) else shown(number, code, is_1904=is_1904)
    except (ValueError, OverflowError):
        return text


def _nested(levels: list[_Points]) -> _Points:
    """Categories of several levels: `2024 Q1`; the innermost level is first in the file."""
    inner, *outer = levels
    found = dict(inner)
    for level in outer:
        label = ""
        for index in sorted(inner):
            label = level.get(index) or label
            found[index] = f"{label} {found[index]}".strip()
    return found


def _extended(root: etree._Element, data: etree._Element) -> Iterator[_Series]:
    """Series of a chart of Office 2016: funnel, waterfall, treemap, sunburst, box plot."""
    sets = {item.get("id", ""): item for item in data.iterchildren("{*}data")}
    seen: set[str] = set()
    left = _MOST_CELLS  # elements of data that are read again
    for series in root.iter("{*}series"):
        chosen = child(series, "dataId")
        key = "" if chosen is None else chosen.get("val", "")
        dimensions = None if chosen is None else sets.get(key)
        if dimensions is None:
            continue
        if key in seen:
            left -= sum(1 for _ in dimensions.iter())
        if left < 0:
            return
        seen.add(key)
        names: list[_Points] = []
        values: _Points = {}
        for dimension in dimensions:
            levels = [
                _cached(level, level.get("formatCode") or "", is_1904=False)
                for level in islice(dimension.iter("{*}lvl"), _MOST_LEVELS)
            ]
            if local(dimension) == "strDim":
                names = names or levels
            elif levels and not values:
                values = levels[0]
        label = child(series, "tx")
        name = "" if label is None else " ".join(v.text or "" for v in label.iter("{*}v"))
        yield _Series(name, _nested(names) if names else {}, values)
