"""Detects the format of a text. Bytes prove little here, so these rules apply in order:

1. a start that only one format has: HTML and XML documents, mail, mailboxes, RTF;
2. complete JSON, if the name implies plain text, Markdown, CSV, HTML, XML or nothing;
3. the name, then the declared type;
4. signs of Markdown or of a table; a file named .txt needs those of a clear table.
"""

import csv
import json
import re

from ingest.formats import catalog
from ingest.formats import media_types as types
from ingest.formats.detect.mail import mail_family

_LOOKED_AT = 8192  # characters searched for signs of a format
_PROLOGUE = re.compile(
    r"[\s\ufeff]*(?:(?:<\?(?:(?!\?>).)*\?>|<!--(?:(?!-->).)*-->)\s*)*", re.DOTALL
)
_HTML = re.compile(r"<!doctype\s+html|<(?:html|head|body)[\s>]", re.IGNORECASE)
_LATE_HTML = re.compile(r"^[ \t]*<!doctype\s+html", re.IGNORECASE | re.MULTILINE)
_COMMENTS = r"(?:<!--(?:(?!-->).)*-->\s*)*"
_ROOT = re.compile(
    rf"(?:<!DOCTYPE[^>\[]*(?:\[[^\]]*\]\s*)?>\s*{_COMMENTS})?<([\w.:-]+)", re.DOTALL | re.IGNORECASE
)
_XHTML = re.compile(r"<\w+\b[^>]{0,1000}\sxmlns=[\"']http://www\.w3\.org/1999/xhtml[\"']")
_TAG = re.compile(
    r"<(?:head|body|title|meta|div|p|h[1-6]|table|tr|t[dh]|ul|ol|span|a|br|script)\b[^<>]*>",
    re.IGNORECASE,
)
_XML_ROOTS = frozenset(
    {"rss", "feed", "svg", "rdf:RDF", "opml", "kml", "gpx", "urlset", "sitemapindex"}
)
_MARKDOWN = tuple(
    re.compile(pattern, re.MULTILINE)
    for pattern in (
        r"^#{1,6} \S",
        r"^(?:```|~~~)",
        r"\[[^\]\n]{1,200}\]\([^)\s]{1,400}\)",
        r"^ {0,3}[-*+] \S",
        r"^\|.+\|\s*$",
        r"\*\*[^*\s][^*\n]{0,200}\*\*",
    )
)
_HASH_LINES = re.compile(r"^#(?: .*)?\n(?:#(?: .*)?(?:\n|\Z))+", re.MULTILINE)
"""Comments of scripts, changelogs and licences: headings do not stand line by line."""
_SEPARATORS = (",", ";", "\t", "|")
_ROWS = 50
_CUT = 16  # characters; the end of a head may cut a number or a word off
_SHEETS = frozenset({types.XLS, types.XLSX, types.XLSB, types.ODS})
_NOT_JSON = frozenset({types.TEXT, types.CSV, types.TSV, types.MARKDOWN, types.HTML, types.XML})


def text_family(
    text: str, *, implied: str | None, declared: str | None, is_code: bool, is_whole: bool
) -> str:
    """Media type of a text by its start.

    `implied`: the type that the name implies; `declared`: that of the sender. `is_code`: the
    name is that of source code, which may contain any format. `is_whole`: `text` is not cut off.
    """
    start = text[_prologue_end(text) :]
    sure = None if is_code else _sure(text, start, implied=implied, is_whole=is_whole)
    if sure is not None:
        return sure
    if implied is not None and catalog.is_text(implied):
        return implied
    if implied in (types.EMAIL, types.MHTML, types.MBOX):
        return implied
    if declared is not None and catalog.is_text(declared):
        return declared
    return _by_signs(text, start, is_sheet=implied in _SHEETS)


def _prologue_end(text: str) -> int:
    match = _PROLOGUE.match(text)
    return match.end() if match else 0


def _sure(text: str, start: str, *, implied: str | None, is_whole: bool) -> str | None:
    """The media type if the content is unambiguous."""
    if start.startswith("{\\rtf"):
        return types.RTF
    if _HTML.match(start) or _XHTML.match(start):
        return types.HTML
    if start.startswith("<"):
        return _xml_family(text, start, implied)
    mail = mail_family(text, implied)
    if mail is not None:
        return mail
    if implied is None or implied in _NOT_JSON:
        found = _json_family(start, is_whole=is_whole)
        if found is not None:
            return found
    return types.CSV if implied == types.TEXT and _is_table(text, least=5, width=3) else None


def _xml_family(text: str, start: str, implied: str | None) -> str | None:
    root = _ROOT.match(start)
    has_declaration = text.lstrip("\ufeff \t\r\n").startswith("<?xml")
    # That of a page was recognised before.
    has_declaration |= start[:10].lower().startswith("<!doctype ")
    if root is None or not (has_declaration or root[1] in _XML_ROOTS or "xmlns" in start[:2000]):
        return None
    for declared in catalog.formats():
        if any(mark in text[:_LOOKED_AT] for mark in declared.xml_marks):
            return declared.media_type
    # An XHTML fragment is a page if its name says so; Markdown may start with an inline SVG.
    is_fragment = implied == types.HTML and _TAG.match(start) is not None
    if is_fragment or (implied == types.MARKDOWN and not has_declaration):
        return None
    return types.XML


def _json_family(start: str, *, is_whole: bool) -> str | None:
    """The JSON type, if the text is valid or fails only where the head is cut off."""
    if not start.startswith(("{", "[")):
        return None
    try:
        value, end = json.JSONDecoder().raw_decode(start)
    except json.JSONDecodeError as error:
        cut = error.msg.startswith("Unterminated string") or error.pos >= len(start) - _CUT
        return types.JSON if cut and not is_whole else None
    except (RecursionError, ValueError):  # nested too deep, or a number that is too long
        return None
    rest = start[end:].lstrip()
    if not rest:
        is_notebook = isinstance(value, dict) and {"cells", "nbformat"} <= value.keys()
        return types.NOTEBOOK if is_notebook else types.JSON if value else None
    between = start[end : len(start) - len(rest)]
    return types.JSON_LINES if rest.startswith("{") and "\n" in between else None


def _by_signs(text: str, start: str, *, is_sheet: bool) -> str:
    is_fragment = start.startswith("<") and len(_TAG.findall(text[:4096])) >= 2
    if is_fragment or _LATE_HTML.search(text[:2048]):
        return types.HTML
    prose = _HASH_LINES.sub("", text[:_LOOKED_AT])
    if sum(bool(sign.search(prose)) for sign in _MARKDOWN) >= 2:
        return types.MARKDOWN
    if is_sheet and _is_table(text, least=2, width=2):
        return types.CSV
    if _is_table(text, least=3, width=3) or _is_table(text, least=4, width=2):
        return types.CSV
    return types.TEXT


def _is_table(text: str, *, least: int, width: int) -> bool:
    """Whether at least `least` rows all have `width` cells or more, the same number each."""
    lines = text[:_LOOKED_AT].splitlines(keepends=True)
    lines = lines[:_ROWS] if len(text) <= _LOOKED_AT else lines[:_ROWS][:-1]
    for separator in _SEPARATORS:
        if sum(separator in line for line in lines) * 2 < len(lines):
            continue
        try:
            rows = [row for row in csv.reader(lines, delimiter=separator) if row]
        except csv.Error:
            continue
        if len(rows) >= least and {len(row) for row in rows} == {max(width, len(rows[0]))}:
            # Prose has a space after each comma, CSV has none.
            prose = sum(cell.startswith(" ") for row in rows for cell in row[1:])
            return separator != "," or prose * 2 < sum(len(row) - 1 for row in rows)
    return False
