"""Parts of an Office package (OOXML) and their relationships.

Elements and relationships are found by local name, so that transitional and strict packages read
the same. XML is parsed without external entities, DTDs or network.
"""

import posixpath
import zipfile
from dataclasses import dataclass
from typing import BinaryIO, cast
from urllib.parse import unquote

from lxml import etree

from ingest.formats.office.xml_tree import parse
from ingest.optional_steps import attempt

_CORE = "docProps/core.xml"
_PROPERTIES = {
    "title": "title",
    "creator": "author",
    "subject": "subject",
    "keywords": "keywords",
    "created": "created",
    "modified": "modified",
    "language": "language",
}


@dataclass(frozen=True, slots=True)
class Relation:
    """A relationship from one part to another, or to an external address."""

    kind: str
    """Last segment of the relationship type: `slide`, `image`, `comments` …"""
    target: str
    """Part name, or the address if it is external."""
    is_external: bool


class Package:
    """An open package. Check the stream with `inflate_limit.guard` first."""

    def __init__(self, stream: BinaryIO) -> None:
        """Raises zipfile.BadZipFile if the stream is not a ZIP archive."""
        stream.seek(0)
        self._archive = zipfile.ZipFile(stream)
        self._members = {_normal(name): name for name in self._archive.namelist()}
        self.broken: dict[str, None] = {}
        """Parts that exist but could not be read."""
        self._relations: dict[str, dict[str, Relation]] = {}

    def __contains__(self, part: object) -> bool:
        return part in self._members

    def read(self, part: str) -> bytes:
        """Raises KeyError if there is no such part; zipfile and zlib errors if it is broken."""
        return self._archive.read(self._members[part])

    def open(self, part: str) -> BinaryIO:
        """Like read(), but as a stream, to save memory."""
        return cast(BinaryIO, self._archive.open(self._members[part]))

    def member(self, part: str) -> tuple[zipfile.ZipFile, zipfile.ZipInfo]:
        """The archive and the entry of a part, to read it in blocks. Raises KeyError."""
        return self._archive, self._archive.getinfo(self._members[part])

    def xml(self, part: str) -> etree._Element:
        """Parse a part; returns its root. Raises the errors of read(), and etree.XMLSyntaxError."""
        return parse(self.read(part))

    def find_xml(self, part: str) -> etree._Element | None:
        """The root of an optional part; None if it is missing or broken (noted in `broken`)."""
        if part not in self:
            return None
        try:
            return self.xml(part)
        except Exception:  # damage makes zipfile raise arbitrary exceptions
            self.broken[part] = None
            return None

    def main(self, usual: str) -> str:
        """The main part of the package; `usual` is the default if none is declared."""
        named = self.related("", "officeDocument")
        return named[0] if named else usual

    def relations(self, part: str) -> dict[str, Relation]:
        """Relationships of a part by id, in file order; an empty name means the package itself."""
        if part not in self._relations:
            self._relations[part] = self._read_relations(part)
        return self._relations[part]

    def _read_relations(self, part: str) -> dict[str, Relation]:
        folder, name = posixpath.split(part)
        root = self.find_xml(posixpath.join(folder, "_rels", f"{name}.rels"))
        if root is None:
            return {}
        return {
            item.get("Id", ""): _relation(item, folder)
            for item in root.iterchildren("{*}Relationship")
        }

    def related(self, part: str, kind: str) -> list[str]:
        """Names of existing parts that `part` refers to with this kind."""
        return [
            relation.target
            for relation in self.relations(part).values()
            if relation.kind == kind and relation.target in self
        ]

    def properties(self) -> dict[str, str]:
        """Title, author, subject, keywords, created, modified and language, if stated."""
        root = self.find_xml(_CORE)
        if root is None:
            return {}
        stated = {
            etree.QName(item).localname: (item.text or "").strip()
            for item in root.iterchildren("*")
        }
        return {ours: stated[theirs] for theirs, ours in _PROPERTIES.items() if stated.get(theirs)}


def resolve_alternate_content(root: etree._Element) -> None:
    """Replace each mc:AlternateContent by its first branch with text, else by its first branch."""
    attempt("graphics", lambda: _resolve_alternate_content(root))


def _resolve_alternate_content(root: etree._Element) -> None:
    for alternatives in list(root.iter("{*}AlternateContent")):
        parent = alternatives.getparent()
        if parent is None:
            continue
        branches = list(alternatives.iterchildren("{*}Choice", "{*}Fallback"))
        spoken = [branch for branch in branches if "".join(branch.itertext()).strip()]
        for child in list((spoken or branches or [alternatives])[0]):
            alternatives.addprevious(child)
        parent.remove(alternatives)


def _relation(item: etree._Element, folder: str) -> Relation:
    is_external = item.get("TargetMode") == "External"
    target = item.get("Target", "")
    if not is_external:
        path = unquote(target).replace("\\", "/")
        target = _normal(posixpath.normpath(posixpath.join("/", folder, path)))
    return Relation(item.get("Type", "").rpartition("/")[2], target, is_external)


def _normal(name: str) -> str:
    return name.replace("\\", "/").lstrip("/")
