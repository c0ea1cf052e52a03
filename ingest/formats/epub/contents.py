"""The table of contents of an e-book: the EPUB 3 navigation document, else the EPUB 2 NCX."""

import posixpath
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import unquote, urldefrag

from lxml import etree

from ingest.formats.office.opc import Package

TYPE = "{http://www.idpf.org/2007/ops}type"
"""The attribute with the role of an element (`epub:type`)."""

_MOST = 20_000  # entries
_DEEPEST = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """An entry of the table of contents."""

    title: str
    depth: int
    """1-based."""
    fragment: str
    """Id of the element it points to; empty for the start of the part."""


Contents = dict[str, list[Entry]]
"""Entries by the part they point into, in order."""


def read_contents(package: Package, navigation: Sequence[str], ncx: str | None) -> Contents:
    """Read the first table of contents that has entries; empty if there is none."""
    for part in navigation:
        root = package.find_xml(part)
        if root is not None and (found := _by_part(part, _from_navigation(root))):
            return found
    root = package.find_xml(ncx) if ncx is not None else None
    return _by_part(ncx or "", _from_ncx(root)) if root is not None else {}


def resolve(base: str, reference: str) -> tuple[str, str]:
    """Resolve a reference in the part `base` to a part and a fragment."""
    path, fragment = urldefrag(reference)
    joined = posixpath.join(posixpath.dirname(base), unquote(path)) if path else base
    return posixpath.normpath(joined).lstrip("/"), unquote(fragment)


def _by_part(base: str, lines: Iterator[tuple[str, str, int]]) -> Contents:
    contents: Contents = {}
    for (title, reference, depth), _ in zip(lines, range(_MOST), strict=False):
        if not title or not reference:
            continue
        part, fragment = resolve(base, reference)
        contents.setdefault(part, []).append(Entry(title=title, depth=depth, fragment=fragment))
    return contents


def _from_navigation(root: etree._Element) -> Iterator[tuple[str, str, int]]:
    """Title, reference and depth of each entry."""
    for nav in root.iter("{*}nav"):
        if "toc" not in nav.get(TYPE, "toc").split():
            continue
        for link in nav.iter("{*}a"):
            yield _line("".join(link.itertext())), link.get("href", ""), _depth(link, "{*}ol", nav)
        return


def _from_ncx(root: etree._Element) -> Iterator[tuple[str, str, int]]:
    for point in root.iter("{*}navPoint"):
        title = next(point.iterfind("{*}navLabel/{*}text"), None)
        target = next(point.iterfind("{*}content"), None)
        if title is not None and target is not None:
            depth = 1 + _depth(point, "{*}navPoint", root)
            yield _line("".join(title.itertext())), target.get("src", ""), depth


def _depth(element: etree._Element, tag: str, top: etree._Element) -> int:
    depth = 0
    for above in element.iterancestors(tag, top.tag):
        if above is top or depth >= _DEEPEST:
            break
        depth += 1
    return depth


def _line(text: str) -> str:
    return " ".join(text.split())
