"""News feeds (RSS, Atom): each entry under its title, with date, author and link."""

import re
from collections.abc import Iterator

from lxml import etree

from ingest.formats.common.markdown import shift_headings
from ingest.formats.common.markdown_writer import Lines
from ingest.formats.html.page import to_markdown
from ingest.formats.office.xml_tree import local

_ENTRIES = ("{*}item", "{*}entry")
_BODIES = ("encoded", "content", "description", "summary", "subtitle", "tagline")
_FIELDS = {
    "pubDate": "Date",
    "date": "Date",
    "published": "Date",
    "updated": "Updated",
    "lastBuildDate": "Updated",
    "creator": "Author",
    "author": "Author",
    "category": "Category",
    "subject": "Category",
    "link": "Link",
}
_TECHNICAL = frozenset(
    {"title", "guid", "id", "items", "item", "entry", "generator", "docs", "ttl"}
)
_MARKUP = re.compile(r"<[a-zA-Z/!][^<>]*>|&(?:\w+|#\d+);")


def write(root: etree._Element, out: Lines) -> str | None:
    """Write all entries. Returns the title of the feed."""
    channel = root.find("{*}channel")
    about = root if channel is None else channel
    title = _title(about)
    out.heading(1, title or "")
    _write_about(about, out)
    for entry in root.iter(*_ENTRIES):
        out.heading(2, _title(entry) or "")
        _write_about(entry, out)
    return title


def _write_about(element: etree._Element, out: Lines) -> None:
    out.item(_fields(element))
    for name in _BODIES:
        body = next((child for child in element if local(child) == name), None)
        if body is not None and (text := _body(body)):
            out.block(text)
            return


def _fields(element: etree._Element) -> Iterator[str]:
    for child in element:
        name = local(child)
        if not name or name in _TECHNICAL or name in _BODIES:
            continue
        text = " ".join("".join(child.itertext()).split())
        text = text or child.get("href") or child.get("term") or child.get("url") or ""
        if text and child.get("rel", "alternate") in ("alternate", "enclosure"):
            yield f"{_FIELDS.get(name, name)}: {text}"


def _body(element: etree._Element) -> str:
    """Markdown of a body, which is text, escaped HTML or XHTML."""
    if len(element):
        inner = [etree.tostring(child, encoding="unicode") for child in element]
        markup = (element.text or "") + "".join(inner)
    else:
        markup = element.text or ""
    if _MARKUP.search(markup):
        return shift_headings(to_markdown(markup), 2)
    return shift_headings(markup.strip(), 2)


def _title(element: etree._Element) -> str | None:
    found = element.find("{*}title")
    if found is None:
        return None
    text = "".join(found.itertext())
    if _MARKUP.search(text):
        text = to_markdown(text)
    return " ".join(text.split()) or None
