"""The package of an e-book (EPUB 2 and 3): metadata, reading order, table of contents."""

import posixpath
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from urllib.parse import unquote

from lxml import etree

from ingest.errors import Permanent
from ingest.formats.epub.contents import Entry, read_contents, resolve
from ingest.formats.office.opc import Package
from ingest.optional_steps import improve

_CONTAINER, _ENCRYPTION = "META-INF/container.xml", "META-INF/encryption.xml"
_NCX = "application/x-dtbncx+xml"
_DUBLIN_CORE = "http://purl.org/dc/elements/1.1/"
_TEXTS = frozenset(
    {"application/xhtml+xml", "text/html", "application/x-dtbook+xml", "text/x-oeb1-document"}
)
_TEXT_SUFFIXES = (".xhtml", ".html", ".htm")
_DIGITS = re.compile(r"(\d{1,18})")
_FIELDS = {
    "creator": "author",
    "language": "language",
    "publisher": "publisher",
    "date": "date",
    "subject": "subject",
    "identifier": "identifier",
}
_GUIDED = frozenset({"cover", "toc"})
_DAMAGED = "The e-book is damaged: "


@dataclass(frozen=True, slots=True, kw_only=True)
class Book:
    """An e-book without its text; parts are named as in the container."""

    title: str | None
    metadata: dict[str, str]
    chapters: tuple[str, ...]
    """Parts with text in reading order."""
    aside: frozenset[str] = frozenset()
    """Those that are said to be the cover or a table of contents; a chapter may follow in them."""
    contents: dict[str, list[Entry]] = field(default_factory=dict)
    """The table of contents by part."""


def read_book(package: Package, names: Sequence[str]) -> Book:
    """Read the book, with all part `names`. Raises Permanent: `corrupt`, `encrypted` (DRM)."""
    path = _package_document(package, names)
    root = package.find_xml(path)
    if root is None:  # by the names of the parts
        root = etree.Element("package")
    parts = _Parts(names)
    items = {item.get("id", ""): item for item in root.iter("{*}item")}
    places = {key: parts.find(path, item.get("href", "")) for key, item in items.items()}
    chapters = _chapters(root, items, places) or parts.texts
    if not chapters:
        raise Permanent(f"{_DAMAGED}it has no reading order.", code="corrupt")
    _refuse_drm(package, chapters)
    title, metadata = improve("metadata", lambda: _metadata(root), otherwise=lambda: (None, {}))
    navigation = [places[key] for key, item in items.items() if _is_navigation(item)]
    aside = {*navigation, *improve("contents", lambda: _guided(root, path), otherwise=set[str])}
    return Book(
        title=title,
        metadata=metadata,
        chapters=chapters,
        aside=frozenset(aside),
        contents=improve(
            "contents",
            lambda: read_contents(package, navigation, _ncx(root, items, places)),
            otherwise=dict[str, list[Entry]],
        ),
    )


class _Parts:
    """Finds parts by references, whose letters may differ in case or be encoded."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = frozenset(names)
        self._by_lower = {name.lower(): name for name in names}
        texts = [name for name in names if name.lower().endswith(_TEXT_SUFFIXES)]
        self.texts = tuple(sorted(texts, key=_counted))
        """All with text, in the order of their names."""

    def find(self, base: str, reference: str) -> str:
        place = resolve(base, reference)[0]
        literal = posixpath.join(posixpath.dirname(base), reference)
        if place not in self._names and literal in self._names:
            return literal
        return place if place in self._names else self._by_lower.get(place.lower(), place)


def _counted(name: str) -> list[tuple[int, str]]:
    """A sort key that puts part 10 after part 9."""
    return [(int(piece), "") if piece.isdecimal() else (-1, piece) for piece in _DIGITS.split(name)]


def _package_document(package: Package, names: Sequence[str]) -> str:
    container = package.find_xml(_CONTAINER)
    roots = [] if container is None else list(container.iter("{*}rootfile"))
    for rootfile in roots:
        path = unquote(rootfile.get("full-path", "")).lstrip("/")
        if path in package:
            return path
    for part in names:  # the container part is missing or broken
        if part.lower().endswith(".opf"):
            return part
    raise Permanent(f"{_DAMAGED}it has no package document.", code="corrupt")


def _chapters(
    root: etree._Element, items: dict[str, etree._Element], places: dict[str, str]
) -> tuple[str, ...]:
    order = [reference.get("idref", "") for reference in root.iter("{*}itemref")] or list(items)
    texts = [key for key in order if key in items and _is_text(items[key])]
    return tuple(dict.fromkeys(places[key] for key in texts))


def _is_text(item: etree._Element) -> bool:
    is_named = item.get("href", "").partition("#")[0].lower().endswith(_TEXT_SUFFIXES)
    return is_named or item.get("media-type", "").lower() in _TEXTS


def _is_navigation(item: etree._Element) -> bool:
    return "nav" in item.get("properties", "").split()


def _guided(root: etree._Element, path: str) -> set[str]:
    """Parts that the EPUB 2 guide marks as cover or table of contents."""
    return {
        resolve(path, reference.get("href", ""))[0]
        for reference in root.iter("{*}reference")
        if reference.get("type", "").lower() in _GUIDED
    }


def _ncx(
    root: etree._Element, items: dict[str, etree._Element], places: dict[str, str]
) -> str | None:
    """The part with the EPUB 2 table of contents."""
    stated = [spine.get("toc", "") for spine in root.iter("{*}spine")]
    typed = [key for key, item in items.items() if item.get("media-type") == _NCX]
    return next((places[key] for key in (*stated, *typed) if key in places), None)


def _refuse_drm(package: Package, chapters: tuple[str, ...]) -> None:
    root = package.find_xml(_ENCRYPTION)
    if root is None:
        return
    for data in root.iter("{*}EncryptedData"):
        parts = {
            unquote(reference.get("URI", "")).lstrip("/")
            for reference in data.iter("{*}CipherReference")
        }
        if parts & set(chapters):  # else only fonts or pictures
            raise Permanent("The e-book is protected against copying (DRM).", code="encrypted")


def _metadata(root: etree._Element) -> tuple[str | None, dict[str, str]]:
    stated: dict[str, list[str]] = {}
    for item in root.iter(f"{{{_DUBLIN_CORE}}}*"):
        value = " ".join("".join(item.itertext()).split())
        if value:
            stated.setdefault(etree.QName(item).localname, []).append(value)
    metadata = {
        ours: ", ".join(stated[theirs]) for theirs, ours in _FIELDS.items() if theirs in stated
    }
    return next(iter(stated.get("title", [])), None), metadata
