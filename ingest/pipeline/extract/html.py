"""Web pages: the main content as Markdown, without navigation, advertising and hidden text."""

import re
from collections.abc import Mapping
from functools import partial
from typing import Any

import html_to_markdown
import trafilatura
from html_to_markdown import ConversionOptions
from lxml import etree, html
from trafilatura.settings import Extractor

from ingest.improve import improve
from ingest.pipeline.decode import decode
from ingest.pipeline.extract.archive import guard_xml
from ingest.pipeline.extract.html_flat import flat_text
from ingest.pipeline.extract.html_hidden import drop_hidden
from ingest.pipeline.extract.html_kinds import ask_by_kind
from ingest.pipeline.extract.html_parse import is_deep, parse_page, strange_characters
from ingest.pipeline.extract.html_tidy import tidy
from ingest.pipeline.extract.html_web import web_page
from ingest.pipeline.extract.source import Extraction, Source

_VERSION = f"trafilatura {trafilatura.__version__}"
_LITTLE = 250  # characters: below, main-content detection may have thrown away the content
_CONVINCING = 0.2  # share of the visible text; below, a second look is worth its time
_SMALL = 2000  # characters: a page this small has too little boilerplate to be worth the risk
_MOST_ELEMENTS = 100_000  # main-content detection takes 10 s for so many; pages have thousands
_ELEMENTS = etree.XPath("count(//*)")
_LONGEST_TITLE = 300  # characters; every hit of a search shows it
_FURNITURE = etree.XPath(
    "//noscript|//iframe|//head|//nav|//footer|//aside|//form//button"
    "|//*[@role='navigation' or @role='banner' or @role='contentinfo']"
)
_FENCED = re.compile(r"(^```.*?^```|`[^`\n]+`)", re.MULTILINE | re.DOTALL)
_ESCAPED = re.compile(r"(?<=[^\s\\])\\([_*\[\]<>~])|(?<=\S )\\([_*\[\]<>~])")
_META = {
    "description": ("description", "og:description"),
    "author": ("author", "article:author"),
    "date": ("article:published_time", "date", "dc.date"),
}
_detection = partial(Extractor, output_format="markdown", comments=False, links=True)
_FAST, _THOROUGH = _detection(fast=True), _detection(fast=False)
_OPTIONS = ConversionOptions(
    extract_metadata=False, skip_images=True, compact_tables=True, autolinks=False
)

ask_by_kind()


def extract(source: Source) -> Extraction:
    """Main content in Markdown with links and tables; title, language and dates from the head.

    Permanent `too_large` for more markup than a tree can hold.
    """
    return improve(
        "main_content", lambda: _extract(source), otherwise=lambda: _without_structure(source)
    )


def _without_structure(source: Source) -> Extraction:
    """The words of the page, and what it says to crawlers if that can be read."""
    source.stream.seek(0)
    text, encoding = decode(source.stream.read(), declared=source.declared)
    url = source.url
    web = url and improve(
        "links", lambda: web_page(parse_page(text)[0], url), otherwise=lambda: None
    )
    return Extraction(
        parts=[flat_text(text)],
        extractor=_VERSION,
        encoding=encoding,
        removed=strange_characters(text),
        web=web or None,
    )


def _extract(source: Source) -> Extraction:
    data = source.stream.read()
    guard_xml(data)
    text, encoding = decode(data, declared=source.declared)
    if not text.strip():
        return Extraction(parts=[""], extractor=_VERSION, encoding=encoding)
    tree, is_whole = parse_page(text)
    web = None if source.url is None else web_page(tree, source.url)
    has_hidden_text = drop_hidden(tree)
    stated = _stated(tree)
    title = _title(tree, stated)
    if not is_whole or is_deep(tree):
        body = flat_text(text)
    else:
        tidy(tree)
        body = _main_content(tree) if tree.text_content().strip() else to_markdown(text)
    return Extraction(
        parts=[_headed(body, title)],
        extractor=_VERSION,
        title=title,
        encoding=encoding,
        metadata=_metadata(tree, stated),
        removed=strange_characters(text),
        warnings=("hidden_text",) if has_hidden_text else (),
        web=web,
    )


def to_markdown(markup: str) -> str:
    """A fragment or page in Markdown, all of it."""
    return html_to_markdown.convert(markup, _OPTIONS).content or ""


def _main_content(tree: html.HtmlElement) -> str:
    found = "" if _is_crowded(tree) else _detected(tree)
    if found:
        return found
    for element in _FURNITURE(tree):
        if element.getparent() is not None:
            element.drop_tree()
    return to_markdown(etree.tostring(tree, encoding="unicode", method="html"))


def _is_crowded(tree: html.HtmlElement) -> bool:
    return bool(_ELEMENTS(tree) > _MOST_ELEMENTS)


def _detected(tree: html.HtmlElement) -> str:
    """What is the page's own, without what surrounds it; empty if that is not convincing."""
    etree.strip_elements(tree, "meta", "link", with_tail=False)  # each costs time at every look
    visible = len(" ".join(tree.text_content().split()))
    body = _trafilatura(tree, fast=True)
    if len(body) >= max(_LITTLE, visible * _CONVINCING):
        return body
    if visible > _SMALL:
        body = _trafilatura(tree, fast=False)  # asks other algorithms, too
        if len(body) >= _LITTLE:
            return body
    return ""


def _trafilatura(tree: html.HtmlElement, *, fast: bool) -> str:
    found = trafilatura.extract(tree, options=_FAST if fast else _THOROUGH)
    return _unescaped(found or "")


def _unescaped(markdown: str) -> str:
    """Words as they were written: what is no structure needs no escape, and is searched for."""
    if "\\" not in markdown:
        return markdown
    pieces = _FENCED.split(markdown)
    pieces[::2] = [_ESCAPED.sub(r"\1\2", piece) for piece in pieces[::2]]
    return "".join(pieces)


def _headed(body: str, title: str | None) -> str:
    """The body under its title; main-content detection often leaves the page's heading out."""
    if not body.strip() or title is None:
        return body
    first = body.lstrip().split("\n", 1)[0].lstrip("# ").strip()
    if first and (first in title or title in first):
        return body
    return f"# {title}\n\n{body}"


def _title(tree: html.HtmlElement, stated: Mapping[str, str]) -> str | None:
    found = stated.get("og:title") or tree.findtext(".//head/title") or tree.findtext(".//h1")
    return " ".join(found[:_LONGEST_TITLE].split()) or None if found else None


def _metadata(tree: html.HtmlElement, stated: Mapping[str, str]) -> dict[str, Any]:
    found = {
        key: next((stated[name] for name in names if name in stated), None)
        for key, names in _META.items()
    }
    found["language"] = tree.get("lang")
    return {key: value for key, value in found.items() if value}


def _stated(tree: html.HtmlElement) -> dict[str, str]:
    """What the page says of itself, by name or property; of two that say something the first."""
    found: dict[str, str] = {}
    for element in tree.iter("meta"):
        content = element.get("content")
        if content and content.strip(" \t\r\n"):
            for name in (element.get("name"), element.get("property")):
                if name is not None:
                    found.setdefault(name, content)
    return found
