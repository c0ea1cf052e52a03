"""The XML parts of OpenDocument packages and flat files, and the objects embedded in them."""

import posixpath
import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO, cast

from lxml import etree

from ingest.errors import Permanent
from ingest.formats.common.input_file import MemberSink
from ingest.formats.office.ole_package import hand_over
from ingest.formats.office.opendocument_chart import chart
from ingest.formats.office.xml_tree import attribute, local, parse

_MANIFEST = "META-INF/manifest.xml"
_ENCRYPTED = b"encryption-data"
_OBJECT = re.compile(r"(?:\./)?Object[^/]*")


@dataclass(frozen=True, slots=True)
class OdfParts:
    """The XML trees of a document. A flat file has one tree for all."""

    content: etree._Element
    styles: etree._Element | None
    meta: etree._Element | None
    archive: zipfile.ZipFile | None

    @classmethod
    def package(cls, stream: BinaryIO) -> "OdfParts":
        """Open a ZIP package that passed inflate_limit.guard(). Raises Permanent `encrypted`."""
        stream.seek(0)
        archive = zipfile.ZipFile(stream)
        if _MANIFEST in archive.namelist() and _ENCRYPTED in archive.read(_MANIFEST):
            raise Permanent("The document is protected by a password.", code="encrypted")
        styles, meta = (_optional(archive, name) for name in ("styles.xml", "meta.xml"))
        return cls(parse(archive.read("content.xml")), styles, meta, archive)

    @classmethod
    def flat(cls, data: bytes) -> "OdfParts":
        """Parse a flat file."""
        root = parse(data)
        return cls(root, None, root, None)

    def trees(self) -> Iterator[etree._Element]:
        """The trees that may hold styles and master pages."""
        yield self.content
        if self.styles is not None:
            yield self.styles


class Objects:
    """Objects in frames: charts and equations become blocks, files become members."""

    def __init__(self, parts: OdfParts) -> None:
        self._archive = parts.archive
        names = [] if parts.archive is None else parts.archive.namelist()
        self._names = frozenset(names)

    def show(self, element: etree._Element) -> list[str]:
        """Blocks of a draw:object: a chart as a table, else an equation or the plain words."""
        root = self._root(element)
        if root is None:
            return []
        text = chart(root)
        if not text:
            drop = set(root.iter("{*}annotation"))
            text = " ".join("".join(_words(root, drop)).split())
        return [text] if text else []

    def hand_over(self, members: MemberSink | None) -> list[dict[str, object]]:
        """Hand embedded files over as members; returns the list for the metadata."""
        archive = self._archive
        if archive is None:
            return []
        names = [name for name in archive.namelist() if _OBJECT.fullmatch(name)]
        return hand_over(names, lambda name: cast(BinaryIO, archive.open(name)), members)

    def _root(self, element: etree._Element) -> etree._Element | None:
        # LibreOffice writes an empty paragraph into objects that are parts of the package.
        inner = next((child for child in element.iterchildren("*") if local(child) != "p"), None)
        if inner is not None:
            return inner
        folder = posixpath.normpath(attribute(element, "href") or "")
        name = f"{folder}/content.xml"
        if self._archive is None or name not in self._names:
            return None
        root = _optional(self._archive, name)
        return None if root is None else next(root.iter("{*}body"), root)


def _optional(archive: zipfile.ZipFile, name: str) -> etree._Element | None:
    """The root of a part; None if it is missing or broken."""
    try:
        return parse(archive.read(name))
    except Exception:  # damage makes zipfile raise arbitrary exceptions
        return None


def _words(root: etree._Element, without: set[etree._Element]) -> Iterator[str]:
    for item in root.iter("*"):
        if item not in without and item.text:
            yield item.text + " "
