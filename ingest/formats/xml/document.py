"""XML: articles and feeds with their structure, data as records, drawings as their texts.

Nothing outside the file is read. Entities that the file declares are resolved, unless they expand
too much.
"""

import contextlib
import html
import re
from dataclasses import dataclass, field
from html.entities import html5
from typing import Any
from xml.parsers import expat

from lxml import etree

from ingest.errors import Permanent
from ingest.formats.common.input_file import Extraction, InputFile
from ingest.formats.common.markdown_writer import Lines, read_text
from ingest.formats.html import page as web_page
from ingest.formats.xml import article, feed, records, workbook
from ingest.formats.xml import names as xml_names
from ingest.optional_steps import improve

_VERSION = f"lxml {etree.__version__}, xml 1"
_LARGEST_TREE = 32 * 1024 * 1024  # characters; a tree takes ten times as many bytes
_FEEDS = frozenset({"rss", "RDF", "feed"})
_START = 20_000  # characters; comments and a DTD may precede the first element
_LOOKED_AT = 200_000  # characters
_FEW_PARAGRAPHS = 5
_PARAGRAPH = re.compile(r"<(?:\w+:)?(?:p|para)[\s>]")
_DECLARATION = re.compile(r"[\s\ufeff]*<\?xml\b[^>]*\?>")
_CDATA, _CDATA_END = "<![CDATA[", "]]>"
_REFERENCE = re.compile(r"&#(?:\d{1,7}|x[0-9A-Fa-f]{1,6});|&([A-Za-z][\w.-]{0,60});|&")
_OF_XML = frozenset({"amp", "lt", "gt", "quot", "apos"})
_AMPLIFIED = 43  # expat: XML_ERROR_AMPLIFICATION_LIMIT_BREACH
_MENDED = 0.8  # share of the text; a parser that recovers from errors may drop most of a document
_TAG = re.compile(r"<[^<>]*>")


def extract(source: InputFile) -> Extraction:
    """Markdown by kind of document. Raises Permanent: `corrupt` (entities), `too_large`."""
    text, encoding = read_text(source)
    declaration = _DECLARATION.match(text)
    text = _mended(text[declaration.end() :] if declaration else text)
    root = _root(text)
    if root == "html":
        source.stream.seek(0)
        return web_page.extract(source)
    read = None
    if len(text) <= _LARGEST_TREE:
        read = improve("layout", lambda: _as_document(text, root), otherwise=lambda: None)
    read = read or improve(
        "layout", lambda: _as_records(text), otherwise=lambda: _plain(text, is_valid=True)
    )
    return Extraction(
        parts=[read.markdown],
        extractor=_VERSION,
        title=read.title,
        encoding=encoding,
        metadata=read.metadata,
        warnings=() if read.is_valid else ("invalid_xml",),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Read:
    markdown: str
    is_valid: bool
    """Well-formed."""
    title: str | None = None
    metadata: dict[str, Any] = field(default_factory=dict)


def _mended(text: str) -> str:
    """Escape bare ampersands, and replace HTML entity names with their characters.

    XML defines such names in external DTDs, which are not read.
    """
    if "&" not in text:
        return text
    may_declare = "<!DOCTYPE" in text[:_LOOKED_AT]

    def mended(match: re.Match[str]) -> str:
        name = match[1]
        if match[0] == "&":
            return "&amp;"
        if name is None or name in _OF_XML:
            return match[0]
        if f"{name};" in html5:
            return html.escape(html5[f"{name};"])
        return match[0] if may_declare else f"&amp;{name};"

    pieces = []
    position = 0
    while (start := text.find(_CDATA, position)) >= 0:
        end = text.find(_CDATA_END, start)
        if end < 0:
            break
        pieces += [_REFERENCE.sub(mended, text[position:start]), text[start:end]]
        position = end
    return "".join([*pieces, _REFERENCE.sub(mended, text[position:])])


def _root(text: str) -> str:
    """Local name of the root element; empty if the text does not start with one."""
    names: list[str] = []
    parser = expat.ParserCreate("utf-8")
    parser.StartElementHandler = lambda name, _: names.append(name)
    with contextlib.suppress(expat.ExpatError):
        parser.Parse(text[:_START].encode("utf-8", "replace"), False)
    return names[0].rpartition(":")[2] if names else ""


def _as_document(text: str, root: str) -> _Read | None:
    """Read an article, feed, drawing or workbook; None if it is none of these."""
    is_article = root in xml_names.ROOTS or (
        len(_PARAGRAPH.findall(text[:_LOOKED_AT])) >= _FEW_PARAGRAPHS
    )
    if not is_article and root not in _FEEDS | {"svg", "tt", "Workbook"}:
        return None
    tree, is_valid = _tree(text)
    if tree is None or (root == "RDF" and tree.find("{*}item") is None):
        return None
    out = Lines()
    title: str | None = None
    metadata: dict[str, Any] = {}
    if root in _FEEDS:
        title = feed.write(tree, out)
    elif root == "svg":
        title = _write_drawing(tree, out)
    elif root == "tt":
        _write_captions(tree, out)
    elif root == "Workbook":
        workbook.write(tree, out)
    else:
        title, metadata = article.write(tree, out)
    markdown = str(out)
    if not markdown:  # RDF that is not a feed, a drawing without text
        return None if root != "svg" else _Read(markdown="", is_valid=is_valid)
    return _Read(markdown=markdown, is_valid=is_valid, title=title, metadata=metadata)


def _write_captions(tree: etree._Element, out: Lines) -> None:
    """TTML: what is said, without times and styles; a line that is repeated appears once."""
    before = ""
    for cue in tree.iter("{*}p"):
        for line_break in cue.iter("{*}br"):
            line_break.tail = f" {line_break.tail or ''}"
        said = " ".join("".join(cue.itertext()).split())
        if said and said != before:
            out.text(said)
            before = said


def _write_drawing(root: etree._Element, out: Lines) -> str | None:
    title: str | None = root.findtext("{*}title")
    for element in root.iter("{*}title", "{*}desc", "{*}text"):
        if line := " ".join("".join(element.itertext()).split()):
            out.text(line)
    return title


def _as_records(text: str) -> _Read:
    """Read as records; XML that cannot be repaired becomes its text without tags."""
    out = Lines()
    try:
        records.write(text.encode("utf-8", "replace"), out)
    except expat.ExpatError as error:
        if error.code == _AMPLIFIED:
            raise Permanent(
                "The entities of the XML file expand too much.", code="corrupt"
            ) from error
    else:
        return _Read(markdown=str(out), is_valid=True)
    words = _words(text)
    tree, _ = _tree(text) if len(text) <= _LARGEST_TREE else (None, False)
    out = Lines()
    if tree is not None:
        records.write(etree.tostring(tree, encoding="utf-8"), out)
    markdown = str(out)
    if len(markdown) < _MENDED * len(" ".join(words.split())):
        return _plain(text, is_valid=False)
    return _Read(markdown=markdown, is_valid=False)


def _plain(text: str, *, is_valid: bool) -> _Read:
    """The text without its tags."""
    out = Lines()
    out.text(_words(text))
    return _Read(markdown=str(out), is_valid=is_valid)


def _words(text: str) -> str:
    return html.unescape(_TAG.sub(" ", text.replace(_CDATA, " ").replace(_CDATA_END, " ")))


def _tree(text: str) -> tuple[Any, bool]:
    """The root element, and whether the text is well-formed.

    None if there is none, if it is too deep or too large for a tree, or if entities expand too
    much.
    """
    parser = etree.XMLParser(
        resolve_entities="internal",
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
    if any(error.type_name == "ERR_RESOURCE_LIMIT" for error in parser.error_log):
        return None, False
    return tree, not len(parser.error_log)
