"""Web pages as Markdown: all of their text, without boilerplate and hidden text."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import html_to_markdown
from html_to_markdown import ConversionOptions, PreprocessingOptions
from lxml import etree, html

from ingest.formats.common.inflate_limit import guard_xml
from ingest.formats.common.input_file import Extraction, InputFile, present
from ingest.formats.common.letter_order import is_visual
from ingest.formats.encoding.charset_labels import declarations
from ingest.formats.encoding.decode import decode
from ingest.formats.html.embedded.inner_documents import unfold_documents
from ingest.formats.html.embedded.script_data import HAS_TAGS, ScriptData, collect, missing_parts
from ingest.formats.html.form_values import write_form_values
from ingest.formats.html.hidden_text import drop_hidden
from ingest.formats.html.letter_order import reorder_page
from ingest.formats.html.main_content import LeftOut, descriptions, drop_boilerplate
from ingest.formats.html.page_links import web_page
from ingest.formats.html.page_signals import Scripts, read_scripts, read_signals, refresh_target
from ingest.formats.html.parse import flat_text, is_deep, parse_page, unstorable_characters
from ingest.formats.html.pictures import name_drawings
from ingest.formats.html.style_sheets.inline_styles import write_styles
from ingest.formats.html.tidy import tidy
from ingest.formats.html.unseen import Unseen
from ingest.model import WebPage
from ingest.optional_steps import attempt, improve
from ingest.web.placeholders import Verdict, judge

_VERSION = f"html-to-markdown {html_to_markdown.__version__}, html 2"
_LONGEST_TITLE = 300  # characters; every search hit shows the title
_META = {
    "description": ("description", "og:description"),
    "author": ("author", "article:author"),
    "date": ("article:published_time", "date", "dc.date"),
}
_OPTIONS = ConversionOptions(
    extract_metadata=False,
    skip_images=True,
    highlight_style="none",
    compact_tables=True,
    autolinks=False,
    # By default the converter drops `nav`, `form` and some `header` with their content.
    preprocessing=PreprocessingOptions(remove_navigation=False, remove_forms=False),
)


def extract(source: InputFile) -> Extraction:
    """Extract the page as Markdown, with title, language, dates. Raises Permanent `too_large`."""
    return improve(
        "main_content", lambda: _extract(source), otherwise=lambda: _without_structure(source)
    )


def _without_structure(source: InputFile) -> Extraction:
    """Fallback: the text of the page, and its links and robots rules if they can be read."""
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
        removed=unstorable_characters(text),
        web=web or None,
    )


def _extract(source: InputFile) -> Extraction:
    data = source.stream.read()
    guard_xml(data)
    text, encoding = decode(data, declared=source.declared)
    if not text.strip():
        return Extraction(parts=[""], extractor=_VERSION, encoding=encoding)
    tree, is_whole = parse_page(text)
    if is_visual(text, encoding, is_declared=bool(declarations(data, source.declared))):
        attempt("right_to_left", lambda: reorder_page(tree))
    web = None if source.url is None else web_page(tree, source.url)
    scripts = Scripts()
    if web is not None:
        scripts = improve("placeholder", lambda: read_scripts(tree), otherwise=Scripts)
    data_of_scripts = improve("main_content", lambda: collect(tree), otherwise=ScriptData)
    unseen = improve("tidying", lambda: unfold_documents(tree), otherwise=lambda: Unseen.NOTHING)
    attempt("styles", lambda: write_styles(tree))
    unseen |= drop_hidden(tree)
    meta = _meta(tree)
    title = _title(tree, meta)
    if web is not None and source.url is not None:
        judged = partial(_judged, web, tree, title, scripts, source.url)
        web = improve("placeholder", judged, otherwise=partial(replace, web))
    left_out = LeftOut()
    if not is_whole:
        body = flat_text(text)
    elif is_deep(tree):
        body = flat_text(etree.tostring(tree, encoding="unicode", method="html"))
    else:
        described = descriptions(tree)
        etree.strip_elements(tree, "head", with_tail=False)
        attempt("tidying", lambda: name_drawings(tree))
        attempt("tidying", lambda: write_form_values(tree))
        left_out = drop_boilerplate(tree, described)
        tidy(tree)
        body = to_markdown(etree.tostring(tree, encoding="unicode", method="html"))
        missing, inside = improve(
            "main_content",
            lambda: _missing(data_of_scripts, body, title),
            otherwise=lambda: ("", Unseen.NOTHING),
        )
        if missing:
            unseen |= inside | Unseen.SCRIPT
            body = "\n\n".join(filter(None, (body.strip("\n"), missing))) + "\n"
        if missing and web is not None and web.placeholder == "needs_javascript":
            web = replace(web, placeholder=None)
    if web is not None and scripts.has_any and not body.strip():
        web = replace(web, placeholder="needs_javascript")
    return Extraction(
        parts=[_headed(body, title)],
        extractor=_VERSION,
        title=title,
        encoding=encoding,
        metadata=_metadata(tree, meta, left_out),
        removed=unstorable_characters(text),
        warnings=present(
            hidden_text=Unseen.HIDDEN in unseen,
            folded_text=Unseen.FOLDED in unseen,
            script_text=Unseen.SCRIPT in unseen,
            main_content_unsure=left_out.is_unsure,
        ),
        web=web,
    )


def _judged(
    web: WebPage, tree: html.HtmlElement, title: str | None, scripts: Scripts, url: str
) -> WebPage:
    """Add whether the page sends its readers on, or is a placeholder."""
    signals = read_signals(tree, title, scripts)
    verdict = Verdict() if signals is None else judge(signals)
    return replace(
        web,
        refresh=refresh_target(scripts, signals, url),
        placeholder=verdict.placeholder,
        may_be_missing=verdict.may_be_missing,
    )


def _missing(data: ScriptData, body: str, title: str | None) -> tuple[str, Unseen]:
    """The texts of scripts that the page does not show, and what is hidden in them."""
    found, unseen = [], Unseen.NOTHING
    for part in missing_parts(data, body, title):
        if HAS_TAGS.search(part.text):
            tree, _ = parse_page(part.text)
            if is_deep(tree):
                continue
            unseen |= drop_hidden(tree)
            tidy(tree)
            text = to_markdown(etree.tostring(tree, encoding="unicode", method="html"))
        else:
            is_markdown = "\n\n" in part.text or part.text.startswith("- ")
            text = part.text if is_markdown else "\n\n".join(part.text.split("\n"))
        found += [f"## {part.heading}"] if part.heading else []
        found.append(text.strip())
    return "\n\n".join(found), unseen


def to_markdown(markup: str) -> str:
    """Convert a fragment or page without leaving anything out."""
    return html_to_markdown.convert(markup, _OPTIONS).content or ""


def _headed(body: str, title: str | None) -> str:
    """The body under its title, unless the first line or a top-level heading repeats it."""
    if not body.strip() or title is None:
        return body
    first, *others = body.lstrip().splitlines()
    named = title.casefold()
    for line in (first, *(other for other in others if other.startswith("# "))):
        heading = line.lstrip("# ").strip().casefold()
        if heading and (heading in named or named in heading):
            return body
    return f"# {title}\n\n{body}"


def _title(tree: html.HtmlElement, meta: Mapping[str, str]) -> str | None:
    found = meta.get("og:title") or tree.findtext(".//head/title") or tree.findtext(".//h1")
    return " ".join(found[:_LONGEST_TITLE].split()) or None if found else None


def _metadata(tree: html.HtmlElement, meta: Mapping[str, str], left_out: LeftOut) -> dict[str, Any]:
    found: dict[str, Any] = {
        key: next((meta[name] for name in names if name in meta), None)
        for key, names in _META.items()
    }
    found["language"] = tree.get("lang")
    if left_out.text:
        found["leftOut"] = {"bytes": left_out.text, "share": left_out.share}
    return {key: value for key, value in found.items() if value}


def _meta(tree: html.HtmlElement) -> dict[str, str]:
    """Content of the `meta` elements by name or property; the first one wins."""
    found: dict[str, str] = {}
    for element in tree.iter("meta"):
        content = element.get("content")
        if content and content.strip(" \t\r\n"):
            for name in (element.get("name"), element.get("property")):
                if name is not None:
                    found.setdefault(name, content)
    return found
