"""Converts charts, diagrams (SmartArt) and slide tables of Office documents to Markdown."""

from collections.abc import Iterator, Mapping

from lxml import etree

from ingest.formats.office.charts import chart
from ingest.formats.office.drawing_text import text_of
from ingest.formats.office.embedded_charts import chart_in
from ingest.formats.office.merged_cells import Covered, merged_table
from ingest.formats.office.opc import Package, Relation
from ingest.formats.office.xml_tree import attribute

_DEEP = 20  # levels of a diagram
_GRAPH = "MSGraph"
_ON = ("1", "true")
_NO_NODES = {"doc", "pres", "parTrans", "sibTrans"}


class Graphics:
    """Charts and diagrams that a part refers to; each is returned once."""

    def __init__(self, package: Package, relations: Mapping[str, Relation]) -> None:
        self._package = package
        self._relations = relations
        self._shown: set[str] = set()

    def show(self, frame: etree._Element) -> Iterator[str]:
        """Charts and diagrams in a frame or drawing; other embedded documents are skipped."""
        for item in frame.iter("{*}chart", "{*}relIds"):
            is_chart = etree.QName(item).localname == "chart"
            root = self._target(attribute(item, "id" if is_chart else "dm"))
            text = "" if root is None else chart(root) if is_chart else _diagram(root)
            if text:
                yield text
        for item in frame.iter("{*}OLEObject", "{*}oleObj"):
            program = item.get("ProgID") or item.get("progId") or ""
            relation = self._relation(attribute(item, "id")) if _GRAPH in program else None
            if relation is not None and (text := chart_in(self._package.read(relation.target))):
                yield text

    def _target(self, key: str | None) -> etree._Element | None:
        relation = self._relation(key)
        return None if relation is None else self._package.find_xml(relation.target)

    def _relation(self, key: str | None) -> Relation | None:
        relation = self._relations.get(key or "")
        if relation is None or relation.target in self._shown:
            return None
        self._shown.add(relation.target)
        return relation


def slide_table(frame: etree._Element) -> Iterator[str]:
    """The table in a frame of a slide."""
    for item in frame.iter("{*}tbl"):
        yield from merged_table(
            [list(map(_cell, row.iterchildren("{*}tc"))) for row in item.iterchildren("{*}tr")]
        )


def _cell(cell: etree._Element) -> str | Covered:
    if cell.get("hMerge") in _ON:
        return Covered.FROM_LEFT
    return Covered.FROM_ABOVE if cell.get("vMerge") in _ON else text_of(cell)


def _diagram(root: etree._Element) -> str:
    """The nodes as a nested list, as in the text pane of SmartArt."""
    texts = {
        point.get("modelId", ""): " ".join(text_of(point).split())
        for point in root.iter("{*}pt")
        if point.get("type") not in _NO_NODES
    }
    children = _children(root)
    below = {child for group in children.values() for _, child in group}
    lines: list[str] = []
    seen: set[str] = set()
    roots = [point.get("modelId", "") for point in root.iter("{*}pt")]
    stack = [(key, 0) for key in reversed([*(key for key in roots if key not in below), *roots])]
    while stack:
        key, depth = stack.pop()
        if key in seen:
            continue
        seen.add(key)
        if texts.get(key):
            lines.append(f"{'  ' * min(depth, _DEEP)}- {texts[key]}")
        inner = depth + 1 if key in texts else depth
        stack += [(child, inner) for _, child in sorted(children.get(key, []), reverse=True)]
    return "\n".join(lines)


def _children(root: etree._Element) -> dict[str, list[tuple[int, str]]]:
    found: dict[str, list[tuple[int, str]]] = {}
    for link in root.iter("{*}cxn"):
        if link.get("type", "parOf") == "parOf":
            order = link.get("srcOrd", "")
            position = int(order) if order.isdecimal() else 0
            found.setdefault(link.get("srcId", ""), []).append((position, link.get("destId", "")))
    return found
