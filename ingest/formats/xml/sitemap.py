"""Reads the URLs in sitemaps and feeds: XML, gzip or plain text, even truncated or hostile."""

import gzip
import html
import io
import re
import zlib
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from dataclasses import replace
from itertools import islice

from lxml import etree

from ingest.model import Sitemap
from ingest.web.urls import fetchable, join

_GZIP = b"\x1f\x8b"
_MOST_BYTES = 50 * 1024 * 1024  # decompressed: the limit of the sitemap protocol
_STEP = 64 * 1024  # bytes between two checks of the limits
_MOST_EVENTS = 4_000_000  # elements and pieces of text, which take some seconds
_ADDRESS_COST = 20  # events that take as long as reading one URL
_MOST_LINES = 500_000  # lines, which take some seconds if none is a URL
_LONGEST_LINE = 10_000  # bytes
_MOST_PIECES = 1_000  # text events kept per element
_LISTS = frozenset({"urlset", "sitemapindex", "rss", "rdf", "feed"})
_REFERENCE = re.compile("&(?:amp|lt|gt|quot|apos|#[0-9]{1,7}|#x[0-9A-Fa-f]{1,6});")
_DECLARATION = re.compile(r"\A\s*<\?xml[^>]*\?>")


def read(data: bytes, *, base: str, limit: int = 50_000) -> Sitemap:
    """Read the first `limit` pages and sitemaps of a sitemap, its index, a feed or a plain list.

    Gzip is recognised by its magic bytes. Never fails: unreadable parts are left out. `base` is
    the sitemap's own URL. 50 MB can take some seconds.
    """
    is_whole = len(data) <= _MOST_BYTES
    if data.startswith(_GZIP):
        data, is_whole = _decompressed(data)
    data = _utf8(data[:_MOST_BYTES]).lstrip()
    if data.startswith(b"<"):
        found = _from_xml(data, base=base, limit=limit)
    else:
        found = _from_lines(data, limit=limit)
    return found if is_whole else replace(found, is_cut=True)


def _decompressed(data: bytes) -> tuple[bytes, bool]:
    """The decompressed data, up to slightly above the limit, and whether it is complete."""
    unpacked = bytearray()
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
            while len(unpacked) <= _MOST_BYTES and (piece := file.read(_STEP)):
                unpacked += piece
    except (OSError, EOFError, zlib.error):  # cut off or damaged, but the beginning is usable
        return bytes(unpacked), False
    return bytes(unpacked), len(unpacked) <= _MOST_BYTES


def _utf8(data: bytes) -> bytes:
    """Remove the byte order mark; convert UTF-16 to UTF-8 and drop its XML declaration."""
    if data.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        return _DECLARATION.sub("", data.decode("utf-16", "replace")).encode("utf-8", "replace")
    return data.removeprefix(BOM_UTF8)


def _from_lines(data: bytes, *, limit: int) -> Sitemap:
    pages: dict[str, None] = {}
    lines = io.BytesIO(data)
    for line in islice(lines, _MOST_LINES):
        if len(line) <= _LONGEST_LINE:
            _add(pages, _address(line.decode("utf-8", "replace")))
        if len(pages) >= limit:
            break
    return Sitemap(pages=tuple(pages), is_cut=lines.tell() < len(data))


def _from_xml(data: bytes, *, base: str, limit: int) -> Sitemap:
    listing = _Listing(base, limit)
    parser = etree.XMLParser(target=listing, recover=True, no_network=True, load_dtd=False)
    try:
        for start in range(0, len(data), _STEP):
            # Escape all entities; _unescaped() reads the standard ones. So entities that a document
            # defines have no effect, and the parser drops none, as it would after an error.
            parser.feed(data[start : start + _STEP].replace(b"&", b"&#38;"))
            if listing.is_full:
                break
    except etree.XMLSyntaxError:
        pass  # what came before the error is listed
    return Sitemap(
        pages=tuple(listing.pages), sitemaps=tuple(listing.sitemaps), is_cut=listing.is_cut
    )


class _Listing:
    """Receives the parser's events; no tree is built, so memory stays flat."""

    def __init__(self, base: str, limit: int) -> None:
        self.pages: dict[str, None] = {}
        self.sitemaps: dict[str, None] = {}
        self._base = base
        self._limit = limit
        self._events = 0
        self._is_list = False
        self._is_short = False
        self._path: list[str] = []
        self._text: list[str] = []

    @property
    def is_full(self) -> bool:
        listed = max(len(self.pages), len(self.sitemaps))
        return listed >= self._limit or self._events > _MOST_EVENTS

    @property
    def is_cut(self) -> bool:
        """Whether entries or the end are missing; False for a document that is not a list."""
        return self._is_list and (bool(self._path) or self._is_short)

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self._events += 1
        name = tag.rpartition("}")[2].lower()
        self._is_list |= not self._path and name in _LISTS
        self._path.append(name)
        self._text.clear()
        if self._path[-2:] == ["entry", "link"]:
            relation = attributes.get("rel", "alternate")
            self._list(self.pages, attributes.get("href", "") if relation == "alternate" else "")

    def data(self, text: str) -> None:
        self._events += 1
        if len(self._text) < _MOST_PIECES:
            self._text.append(text)

    def end(self, tag: str) -> None:
        where = self._path[-2:]
        if where in (["url", "loc"], ["item", "link"]):
            self._list(self.pages, "".join(self._text))
        elif where == ["sitemap", "loc"]:
            self._list(self.sitemaps, "".join(self._text))
        self._path.pop()
        self._text.clear()

    def close(self) -> None:
        """Required by the parser; returns nothing."""

    def _list(self, found: dict[str, None], reference: str) -> None:
        self._events += _ADDRESS_COST
        if len(found) >= self._limit:
            self._is_short = True
        elif reference := _unescaped(reference).strip():
            _add(found, _joined(self._base, reference))


def _unescaped(text: str) -> str:
    """Unescape twice: first our own escape, then the document's, which some use in CDATA too."""
    for _ in range(2):
        text = _REFERENCE.sub(lambda found: html.unescape(found.group()), text)
    return text


def _add(found: dict[str, None], address: str | None) -> None:
    if address is not None:
        found[address] = None


def _address(text: str) -> str | None:
    try:
        return fetchable(text)
    except ValueError:
        return None


def _joined(base: str, reference: str) -> str | None:
    try:
        return join(base, reference)
    except ValueError:
        return None
