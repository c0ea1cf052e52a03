"""Web pages as Markdown: all of their text, without furniture and without what is hidden."""

from collections.abc import Mapping
from typing import Any

import html_to_markdown
from html_to_markdown import ConversionOptions, PreprocessingOptions
from lxml import etree, html

from ingest.best_effort import improve
from ingest.formats.common.inflate_limit import guard_xml
from ingest.formats.common.source import Extraction, Source
from ingest.formats.encoding.decode import decode
from ingest.formats.html.content import LeftOut, drop_furniture
from ingest.formats.html.deeply_nested import flat_text
from ingest.formats.html.hidden import drop_hidden
from ingest.formats.html.page_links import web_page
from ingest.formats.html.parse import is_deep, parse_page, strange_characters
from ingest.formats.html.tidy import tidy

_VERSION = f"html-to-markdown {html_to_markdown.__version__}"
_LONGEST_TITLE = 300  # characters; every hit of a search shows it
_META = {
    "description": ("description", "og:description"),
    "author": ("author", "article:author"),
    "date": ("article:published_time", "date", "dc.date"),
}
_OPTIONS = ConversionOptions(
    extract_metadata=False,
    skip_images=True,
    compact_tables=True,
    autolinks=False,
    # By default it leaves out `nav`, `form` and some `header` with all that is in them.
    preprocessing=PreprocessingOptions(remove_navigation=False, remove_forms=False),
)


def extract(source: Source) -> Extraction:
    """The page in Markdown with links and tables; title, language and dates from the head.

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
    left_out = LeftOut()
    if not is_whole or is_deep(tree):
        body = flat_text(text)
    else:
        etree.strip_elements(tree, "head", with_tail=False)
        left_out = drop_furniture(tree)
        tidy(tree)
        body = to_markdown(etree.tostring(tree, encoding="unicode", method="html"))
    warnings = {"hidden_text": has_hidden_text, "main_content_unsure": left_out.is_unsure}
    return Extraction(
        parts=[_headed(body, title)],
        extractor=_VERSION,
        title=title,
        encoding=encoding,
        metadata=_metadata(tree, stated, left_out),
        removed=strange_characters(text),
        warnings=tuple(code for code, present in warnings.items() if present),
        web=web,
    )


def to_markdown(markup: str) -> str:
    """A fragment or page in Markdown, all of it."""
    return html_to_markdown.convert(markup, _OPTIONS).content or ""


def _headed(body: str, title: str | None) -> str:
    """The body under its title, unless its first line or one of its main headings says that."""
    if not body.strip() or title is None:
        return body
    first, *others = body.lstrip().splitlines()
    named = title.casefold()
    for line in (first, *(other for other in others if other.startswith("# "))):
        heading = line.lstrip("# ").strip().casefold()
        if heading and (heading in named or named in heading):
            return body
    return f"# {title}\n\n{body}"


def _title(tree: html.HtmlElement, stated: Mapping[str, str]) -> str | None:
    found = stated.get("og:title") or tree.findtext(".//head/title") or tree.findtext(".//h1")
    return " ".join(found[:_LONGEST_TITLE].split()) or None if found else None


def _metadata(
    tree: html.HtmlElement, stated: Mapping[str, str], left_out: LeftOut
) -> dict[str, Any]:
    found: dict[str, Any] = {
        key: next((stated[name] for name in names if name in stated), None)
        for key, names in _META.items()
    }
    found["language"] = tree.get("lang")
    if left_out.text:
        found["leftOut"] = {"bytes": left_out.text, "share": left_out.share}
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
