"""What stands on the sheets of a workbook beside its cells: comments, text boxes, charts."""

import re
from collections.abc import Iterator, Mapping
from functools import partial

from lxml import etree

from ingest.formats.common import inflate_limit
from ingest.formats.common.markdown import plain
from ingest.formats.office.blocks import one_line
from ingest.formats.office.charts import chart
from ingest.formats.office.drawing_text import text_of
from ingest.formats.office.embedded_charts import chart_in
from ingest.formats.office.opc import Package
from ingest.formats.office.xml_tree import attribute, child, local
from ingest.formats.sheets.second_reader import SheetEntry
from ingest.optional_steps import improve

_FILE_NAME = re.compile(r"\S+\.[A-Za-z]{3,4}")
_MOST = 10_000  # comments of a sheet


class Drawings:
    """Values of charts on a sheet with cells are those of cells, so only their titles count."""

    def __init__(self, package: Package, workbook: str, sheets: list[SheetEntry]) -> None:
        self._package = package
        self._parts = [sheet.part or sheet.chart for sheet in sheets]
        self._people = _people(package, workbook)
        self._shown: set[str] = set()
        """Charts that were read; each is written once."""

    def of(self, index: int, has_cells: bool) -> list[str]:
        """Markdown blocks of the sheet with this index."""
        part = self._parts[index] if index < len(self._parts) else ""
        if not part:
            return []
        drawn = improve("graphics", lambda: list(self._drawn(part, has_cells)), otherwise=list[str])
        said = improve("comments", lambda: list(self._comments(part)), otherwise=list[str])
        return [*drawn, *said]

    def _drawn(self, sheet: str, has_cells: bool) -> Iterator[str]:
        for part in self._package.related(sheet, "drawing"):
            root = _root(self._package, part)
            for shape in () if root is None else root.iter("{*}sp", "{*}pic", "{*}chart"):
                if local(shape) == "chart":
                    yield from self._chart(part, shape, has_cells)
                elif text := one_line(self._text(shape)):
                    yield plain(text)
        for part in self._package.related(sheet, "oleObject"):
            read = partial(self._chart_of_object, part)
            if text := improve("graphics", read, otherwise=str):
                yield text

    def _chart_of_object(self, part: str) -> str:
        if (
            part in self._shown
            or self._package.member(part)[1].file_size > inflate_limit.TREES.part
        ):
            return ""
        self._shown.add(part)
        return chart_in(self._package.read(part))

    def _chart(self, part: str, shape: etree._Element, has_cells: bool) -> Iterator[str]:
        relation = self._package.relations(part).get(attribute(shape, "id") or "")
        if relation is None or relation.target in self._shown:
            return
        self._shown.add(relation.target)
        root = _root(self._package, relation.target)
        if root is None:
            return
        title = child(child(root, "chart"), "title")
        if not has_cells:
            text = chart(root)
        elif title is not None and (stated := one_line(text_of(title))):
            text = plain(f"Chart: {stated}")
        else:
            text = ""
        if text:
            yield text

    def _text(self, shape: etree._Element) -> str:
        body = child(shape, "txBody")
        if body is not None and text_of(body).strip():
            return text_of(body)
        named = next(shape.iter("{*}cNvPr"), None)
        described = "" if named is None else str(named.get("descr", ""))
        return "" if _FILE_NAME.fullmatch(described) else described

    def _comments(self, sheet: str) -> Iterator[str]:
        """Threads, and the notes that are no copies of them."""
        threads = self._roots(sheet, "threadedComment")
        replaced = set()
        for item in (item for root in threads for item in root.iter("{*}threadedComment")):
            replaced.add(item.get("ref"))
            text = "".join(part.text or "" for part in item.iterchildren("{*}text"))
            yield _comment(self._people.get(item.get("personId", ""), ""), item, text)
        for root in self._roots(sheet, "comments"):
            authors = [author.text or "" for author in root.iterfind("{*}authors/{*}author")]
            for number, item in enumerate(root.iterfind("{*}commentList/{*}comment")):
                if number >= _MOST:
                    break
                if item.get("ref") not in replaced:
                    at = item.get("authorId", "")
                    is_known = at.isdecimal() and int(at) < len(authors)
                    texts = (part.text or "" for part in item.iter("{*}t"))
                    yield _comment(authors[int(at)] if is_known else "", item, "".join(texts))

    def _roots(self, sheet: str, kind: str) -> list[etree._Element]:
        parts = (part for part in self._package.related(sheet, kind) if part.endswith(".xml"))
        roots = (_root(self._package, part) for part in parts)
        return [root for root in roots if root is not None]


def _root(package: Package, part: str) -> etree._Element | None:
    """The root of a part that is small enough for a tree; cells are streamed."""
    if part not in package or package.member(part)[1].file_size > inflate_limit.TREES.part:
        return None
    return package.find_xml(part)


def _people(package: Package, workbook: str) -> Mapping[str, str]:
    """Names of those who commented, by their ids."""
    parts = improve("comments", partial(package.related, workbook, "person"), otherwise=list[str])
    roots = (_root(package, part) for part in parts)
    people = (person for root in roots if root is not None for person in root.iter("{*}person"))
    return {person.get("id", ""): person.get("displayName", "") for person in people}


def _comment(author: str, item: etree._Element, text: str) -> str:
    return cell_comment(author, item.get("ref") or "", text)


def cell_comment(author: str, place: str, text: str) -> str:
    """`Comment by Ann on B3: text`; Excel begins a note with the name of its author."""
    author = one_line(author)
    said = one_line(text).removeprefix(f"{author}:").lstrip() if author else one_line(text)
    where = f" on {place}" if place else ""
    by = f" by {author}" if author else ""
    return plain(f"Comment{by}{where}: {said}") if said else ""
