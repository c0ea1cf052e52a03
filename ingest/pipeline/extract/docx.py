"""Word documents: mammoth makes HTML of the structure, that becomes Markdown.

Read: body, tables, text boxes, foot- and endnotes, alternative text of pictures, embedded HTML
and text parts (altChunk). Not read: headers and footers, comments, deleted text.
"""

import posixpath
import zipfile
from importlib.metadata import version
from typing import Any

import mammoth
from lxml import etree
from mammoth import html as mammoth_html

from ingest.pipeline.decode import decode
from ingest.pipeline.extract import archive
from ingest.pipeline.extract.html import to_markdown
from ingest.pipeline.extract.source import Extraction, Source

_VERSION = f"mammoth {version('mammoth')}"
_STYLES = """
p[style-name='Title'] => h1:fresh
p[style-name='Subtitle'] => h2:fresh
"""
_CORE = "docProps/core.xml"
_FIELDS = {
    "creator": "author",
    "subject": "subject",
    "keywords": "keywords",
    "created": "created",
    "modified": "modified",
    "language": "language",
}
_CHUNK_RELATION = "/aFChunk"


def extract(source: Source) -> Extraction:
    """The document in Markdown, and its properties."""
    archive.guard(source.stream)
    result = mammoth.convert_to_html(
        source.stream, style_map=_STYLES, convert_image=_alternative_text
    )
    source.stream.seek(0)
    with zipfile.ZipFile(source.stream) as package:
        properties = _properties(package)
        embedded = _embedded(package)
    return Extraction(
        parts=["\n\n".join([to_markdown(result.value), *embedded])],
        extractor=_VERSION,
        title=properties.pop("title", None),
        metadata=properties,
    )


def _alternative_text(image: Any) -> list[Any]:
    return [mammoth_html.text(image.alt_text)] if image.alt_text else []


def _properties(package: zipfile.ZipFile) -> dict[str, str]:
    """Title, author and dates; empty if the part is missing or broken."""
    try:
        root = _parse(package.read(_CORE))
    except (KeyError, etree.XMLSyntaxError, zipfile.BadZipFile):
        return {}
    stated = {etree.QName(item).localname: (item.text or "").strip() for item in _elements(root)}
    found = {ours: stated.get(theirs, "") for theirs, ours in _FIELDS.items()}
    return {
        key: value for key, value in {**found, "title": stated.get("title", "")}.items() if value
    }


def _embedded(package: zipfile.ZipFile) -> list[str]:
    """Parts in other formats that Word shows inside the text, which mammoth leaves out."""
    folder = "word"
    try:
        root = _parse(package.read(f"{folder}/_rels/document.xml.rels"))
    except (KeyError, etree.XMLSyntaxError):
        return []
    found = []
    for relation in _elements(root):
        if not relation.get("Type", "").endswith(_CHUNK_RELATION):
            continue
        name = posixpath.normpath(posixpath.join("/", folder, relation.get("Target", "")))[1:]
        if name in package.namelist():
            found.append(_chunk(package.read(name), name))
    return found


def _chunk(data: bytes, name: str) -> str:
    if name.lower().endswith((".htm", ".html", ".xhtml")):
        return to_markdown(decode(data)[0])
    return decode(data)[0] if name.lower().endswith(".txt") else ""


def _parse(data: bytes) -> etree._Element:
    """XML without reaching for anything outside of it."""
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False)
    return etree.fromstring(data, parser)


def _elements(root: etree._Element) -> list[etree._Element]:
    return [item for item in root if isinstance(item.tag, str)]
