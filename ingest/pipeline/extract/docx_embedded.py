"""What a Word document shows that is not WordprocessingML: charts, diagrams, embedded texts."""

import io
from collections.abc import Mapping

from lxml import etree

from ingest.improve import improve
from ingest.pipeline import mediatypes as types
from ingest.pipeline.decode import decode
from ingest.pipeline.extract import archive, xberg_text
from ingest.pipeline.extract.html import to_markdown
from ingest.pipeline.extract.office_graphics import Graphics
from ingest.pipeline.extract.office_xml import attribute, local
from ingest.pipeline.extract.opc import Package, Relation

_DEEP = 3  # documents in documents
_HTML = (".htm", ".html", ".xhtml")
_WORD = (".docx", ".docm", ".dotx", ".dotm")


class Embedded:
    """Reads what a part refers to."""

    def __init__(self, package: Package, relations: Mapping[str, Relation], *, depth: int) -> None:
        self._package = package
        self._relations = dict(relations)
        self._graphics = Graphics(package, relations)
        self._depth = depth
        self.unread: list[str] = []
        """Embedded texts in formats that are not shown here."""

    def show(self, element: etree._Element) -> list[str]:
        """Blocks of an altChunk, or of the charts and diagrams in a drawing."""
        if local(element) != "altChunk":
            return list(self._graphics.show(element))
        relation = self._relations.pop(attribute(element, "id") or "", None)  # shown once
        if relation is None or relation.is_external or relation.target not in self._package:
            return []
        part = relation.target
        text = improve(
            "graphics",
            lambda: self._chunk(part, self._package.read(part)),
            otherwise=lambda: None,
        )
        if text is None:
            self.unread.append(relation.target)
        return [text] if text else []

    def _chunk(self, name: str, data: bytes) -> str | None:
        """Markdown of an embedded text; None if it is in another format."""
        name = name.lower()
        if name.endswith(_HTML):
            return to_markdown(decode(data)[0]).strip()
        if name.endswith(".txt"):
            return decode(data)[0]
        if data.startswith(b"{\\rtf"):
            return xberg_text.read(data, types.RTF).text
        if name.endswith(_WORD) and self._depth < _DEEP:
            return self._document(data)
        return None

    def _document(self, data: bytes) -> str:
        from ingest.pipeline.extract.docx import read_package  # it reads us, too

        stream = io.BytesIO(data)
        archive.guard(stream, archive.TREES)
        return "".join(part or "" for part in read_package(stream, None, self._depth + 1).parts)
