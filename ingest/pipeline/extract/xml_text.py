"""XML: articles and feeds with their structure, data as records, drawings as their texts.

Nothing outside of the file is read. Entities that the file itself declares are left out of
articles and feeds, and resolved in data as far as they do not multiply.
"""

import html
import re
from html.entities import html5
from typing import Any
from xml.parsers import expat

from lxml import etree

from ingest.errors import Permanent
from ingest.model import Encoding
from ingest.pipeline.extract import html as web_page
from ingest.pipeline.extract import xml_article, xml_feed, xml_names, xml_records
from ingest.pipeline.extract.lines import Lines, read_text
from ingest.pipeline.extract.source import Extraction, Source

_VERSION = f"lxml {etree.__version__}"
_LARGEST_TREE = 32 * 1024 * 1024  # characters; a tree takes ten times as many bytes
_FEEDS = frozenset({"rss", "RDF", "feed"})
_LOOKED_AT = 200_000  # characters
_FEW_PARAGRAPHS = 5
_PARAGRAPH = re.compile(r"<(?:\w+:)?(?:p|para)[\s>]")
_ROOT = re.compile(
    r"(?:[^<]|<\?.*?\?>|<!--.*?-->|<!DOCTYPE(?:[^\[>]|\[.*?\]\s*(?=>))*>)*<(?:[\w.-]+:)?([\w.-]+)",
    re.DOTALL,
)
_DECLARATION = re.compile(r"\s*<\?xml\b[^>]*\?>")
_ENTITY = re.compile(r"&([A-Za-z][A-Za-z0-9]{1,31});")
_OF_XML = frozenset({"amp", "lt", "gt", "quot", "apos"})
_AMPLIFIED = 43  # expat: XML_ERROR_AMPLIFICATION_LIMIT_BREACH
_TAG = re.compile(r"<[^<>]*>")


def extract(source: Source) -> Extraction:
    """Markdown by the kind of document. Permanent: `corrupt` for entities that multiply,
    `too_large`."""
    text, encoding = read_text(source)
    text = _ENTITY.sub(_resolved, _DECLARATION.sub("", text.removeprefix("\ufeff"), count=1))
    root = _root(text)
    if root == "html":
        source.stream.seek(0)
        return web_page.extract(source)
    if len(text) <= _LARGEST_TREE and (found := _as_document(text, root)) is not None:
        body, title, is_valid = found
        return _extraction(body, encoding, title=title, is_valid=is_valid)
    body, is_valid = _as_records(text)
    return _extraction(body, encoding, title=None, is_valid=is_valid)


def _extraction(body: str, encoding: Encoding, *, title: str | None, is_valid: bool) -> Extraction:
    return Extraction(
        parts=[body],
        extractor=_VERSION,
        title=title,
        encoding=encoding,
        warnings=() if is_valid else ("invalid_xml",),
    )


def _resolved(match: re.Match[str]) -> str:
    """Names of characters that HTML knows; XML has them in DTDs, which are not read."""
    return match[0] if match[1] in _OF_XML else html5.get(f"{match[1]};", match[0])


def _root(text: str) -> str:
    """Local name of the outermost element."""
    match = _ROOT.match(text[:_LOOKED_AT])
    return match[1] if match else ""


def _as_document(text: str, root: str) -> tuple[str, str | None, bool] | None:
    """Markdown, title and whether it is well-formed; None if this is no kind of document."""
    is_feed, is_drawing = root in _FEEDS, root == "svg"
    is_article = root in xml_names.ROOTS or (
        len(_PARAGRAPH.findall(text[:_LOOKED_AT])) >= _FEW_PARAGRAPHS
    )
    if not (is_feed or is_drawing or is_article):
        return None
    tree, is_valid = _tree(text)
    if tree is None:
        return None
    out = Lines()
    if is_feed:
        title = xml_feed.write(tree, out)
    elif is_drawing:
        title = _write_drawing(tree, out)
    else:
        title = xml_article.write(tree, out)
    return str(out), title, is_valid


def _write_drawing(root: etree._Element, out: Lines) -> str | None:
    title: str | None = root.findtext("{*}title")
    for element in root.iter("{*}title", "{*}desc", "{*}text"):
        if line := " ".join("".join(element.itertext()).split()):
            out.text(line)
    return title


def _as_records(text: str) -> tuple[str, bool]:
    """Markdown, and whether the text was well-formed; what cannot be mended loses its tags."""
    out = Lines()
    try:
        xml_records.write(text.encode("utf-8", "replace"), out)
    except expat.ExpatError as error:
        if error.code == _AMPLIFIED:
            raise Permanent("The entities of the XML file multiply.", code="corrupt") from error
    else:
        return str(out), True
    tree, _ = _tree(text) if len(text) <= _LARGEST_TREE else (None, False)
    out = Lines()
    if tree is None:
        out.text(html.unescape(_TAG.sub(" ", text)))
    else:
        xml_records.write(etree.tostring(tree, encoding="utf-8"), out)
    return str(out), False


def _tree(text: str) -> tuple[Any, bool]:
    """The outermost element, None if there is none, and whether all of it was well-formed."""
    parser = etree.XMLParser(
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        recover=True,
        remove_comments=True,
        remove_pis=True,
        encoding="utf-8",
    )
    try:
        tree = etree.fromstring(text.encode("utf-8", "replace"), parser)
    except etree.XMLSyntaxError:
        return None, False
    return tree, not len(parser.error_log)
