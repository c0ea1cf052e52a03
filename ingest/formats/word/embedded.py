"""Content of a Word document outside WordprocessingML: charts, diagrams, embedded texts."""

import re
from collections.abc import Callable, Mapping
from email.parser import BytesParser
from email.policy import default

from lxml import etree

from ingest.formats import media_types as types
from ingest.formats.encoding.decode import decode
from ingest.formats.html.page import to_markdown
from ingest.formats.office import xberg_text
from ingest.formats.office.graphics import Graphics
from ingest.formats.office.opc import Package, Relation
from ingest.formats.office.xml_tree import attribute, local
from ingest.optional_steps import improve

_DEEP = 3  # nested documents
_HTML = (".htm", ".html", ".xhtml")
_MARKUP = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*<(?:!doctype html|html|head|body|p|div|h[1-6]|table|ul|ol|span)\b", re.I
)
_WEB_ARCHIVE = re.compile(rb"\s*(?:MIME-Version|Content-Type|From|Subject|Date):", re.IGNORECASE)


class EmbeddedContent:
    """Reads charts, diagrams and texts that a part refers to."""

    def __init__(
        self,
        package: Package,
        relations: Mapping[str, Relation],
        *,
        depth: int,
        read_document: Callable[[bytes, int], str],
    ) -> None:
        """`read_document`: Markdown of a Word document, given its bytes and nesting level."""
        self._read_document = read_document
        self._package = package
        self._relations = dict(relations)
        self._graphics = Graphics(package, relations)
        self._depth = depth
        self.unread: list[str] = []
        """Parts with embedded texts in other formats, or that failed to read."""

    def show(self, element: etree._Element) -> list[str]:
        """Blocks of an altChunk, or of the charts and diagrams in a drawing."""
        if local(element) != "altChunk":
            return list(self._graphics.show(element))
        relation = self._relations.pop(attribute(element, "id") or "", None)  # shown once
        if relation is None or relation.is_external or relation.target not in self._package:
            return []
        part = relation.target
        text = improve(
            "graphics", lambda: self._chunk(part, self._package.read(part)), otherwise=lambda: None
        )
        if text is None:
            self.unread.append(relation.target)
        return [text] if text else []

    def _chunk(self, name: str, data: bytes) -> str | None:
        """Markdown of an embedded text; None for an unsupported format.

        Programs name these parts as they like, so that most formats are told by their content.
        """
        name = name.lower()
        if data.startswith(b"{\\rtf"):
            return xberg_text.read(data, types.RTF).text
        if data.startswith(b"PK\x03\x04"):
            is_allowed = self._depth < _DEEP
            return self._read_document(data, self._depth + 1) if is_allowed else None
        if _WEB_ARCHIVE.match(data):
            return _archived(data)
        if name.endswith(_HTML) or _MARKUP.match(data):
            return to_markdown(decode(data)[0]).strip()
        return decode(data)[0] if name.endswith(".txt") else None


def _archived(data: bytes) -> str | None:
    """Markdown of the page in an MHTML file; None if there is none."""
    message = BytesParser(policy=default).parsebytes(data.lstrip())
    page = next((part for part in message.walk() if part.get_content_type() == "text/html"), None)
    content = None if page is None else page.get_payload(decode=True)
    if page is None or not isinstance(content, bytes):
        return None
    declared = f"text/html; charset={page.get_content_charset()}"
    return to_markdown(
        decode(content, declared=declared if page.get_content_charset() else None)[0]
    ).strip()
