"""OpenDocument texts and presentations (.odt, .odp, their templates, and flat .fodt, .fodp).

Read: headings, lists, tables, frames and shapes, equations, charts, links, notes, alternative
text, speaker notes, headers and footers, once; comments with their authors. Tracked deletions are
left out. So is hidden and white-on-white text, which is reported if it is as long as a sentence.
Embedded files become members. Not read: pictures, forms, macros, emphasis.

xberg is not used, because it mixes the texts of notes, slides and masters.
"""

from collections.abc import Iterator

from lxml import etree

from ingest.errors import Permanent
from ingest.formats import media_types as types
from ingest.formats.common import inflate_limit
from ingest.formats.common.input_file import Extraction, InputFile, filled, present
from ingest.formats.common.markdown import plain
from ingest.formats.common.notes import end_sections
from ingest.formats.office.blocks import child_texts
from ingest.formats.office.xml_tree import attribute
from ingest.formats.opendocument.body import OdfBody
from ingest.formats.opendocument.inline import OdfNotes
from ingest.formats.opendocument.package import Objects, OdfParts
from ingest.formats.opendocument.slides import read_slides
from ingest.formats.opendocument.styles import OdfStyles
from ingest.optional_steps import improve

_VERSION = "odf 6"
_FLAT = frozenset({types.FODT, types.FODP})
_PRESENTATIONS = frozenset({types.ODP, types.FODP})
_FIELDS = {
    "title": "title",
    "creator": "author",
    "subject": "subject",
    "keyword": "keywords",
    "creation-date": "created",
    "date": "modified",
    "language": "language",
}
_MARGINS = {"header": "Header", "footer": "Footer"}
_COUNTERS = ("{*}page-number", "{*}page-count")
_ONLY_A_NUMBER = 20  # characters; a shorter footer with a page field holds only the page number


def extract(source: InputFile) -> Extraction:
    """Extract a text as one part, a presentation as one part per slide.

    Raises Permanent `encrypted`, `too_many_pages`, and the codes of `inflate_limit.guard`.
    """
    if source.media_type in _FLAT:
        data = source.stream.read()
        inflate_limit.guard_xml(data)
        parts = OdfParts.flat(data)
    else:
        inflate_limit.guard(source.stream, inflate_limit.TREES)
        parts = OdfParts.package(source.stream)
    objects = Objects(parts)
    content = _content(parts.content)
    styles = improve(
        "styles", lambda: OdfStyles(parts.content, parts.styles), otherwise=lambda: OdfStyles(None)
    )
    is_presentation = source.media_type in _PRESENTATIONS
    body, pages, hidden = _read(content, styles, objects, is_presentation, drop_faint=True)
    if body.hidden.is_mostly_faint:
        body, pages, hidden = _read(content, styles, objects, is_presentation, drop_faint=False)
    if is_presentation:
        repeated = improve(
            "headers_footers", lambda: _of_masters(parts, content), otherwise=list[str]
        )
        pages = [*pages[:-1], "\n\n".join([*pages[-1:], *repeated])]
    else:
        margins = improve(
            "headers_footers", lambda: _margins(parts), otherwise=lambda: _plain_margins(parts)
        )
        pages = ["\n\n".join([*margins["header"], *pages, *margins["footer"]])]
    if is_presentation and len(pages) > source.max_pages:
        raise Permanent(
            f"The presentation has {len(pages)} slides; at most {source.max_pages} are read.",
            code="too_many_pages",
        )
    properties = improve("metadata", lambda: _properties(parts.meta), otherwise=dict[str, str])
    title = properties.pop("title", None)
    attachments = improve("attachments", lambda: objects.hand_over(source.members), otherwise=list)
    return Extraction(
        parts=pages,
        extractor=_VERSION,
        paged=is_presentation,
        title=title,
        metadata=properties | filled(hiddenSlides=hidden, attachments=attachments),
        warnings=present(hidden_text=body.hidden.has_sentence, hidden_slides=hidden),
    )


def _content(root: etree._Element) -> etree._Element:
    """The element that holds the text or the slides."""
    body = root if root.tag.endswith("}body") else next(root.iter("{*}body"), None)
    content = None if body is None else next(body.iterchildren("*"), None)
    if content is None:
        raise ValueError("no body")
    return content


def _read(
    content: etree._Element,
    styles: OdfStyles,
    objects: Objects,
    is_presentation: bool,
    *,
    drop_faint: bool,
) -> tuple[OdfBody, list[str], list[int]]:
    notes = OdfNotes()
    body = OdfBody(styles=styles, notes=notes, show=objects.show, drop_faint=drop_faint)
    if is_presentation:
        return body, *read_slides(content, body)
    text = body.read(content)
    blocks = [
        *improve(
            "notes",
            lambda: end_sections(text, dict(enumerate(notes.texts, start=1))),
            otherwise=lambda: [*text, *notes.texts],
        ),
        *filter(None, body.comments()),
    ]
    return body, blocks, []


def _margins(parts: OdfParts) -> dict[str, list[str]]:
    """Each distinct header and footer, except those with only a page number."""
    found: dict[str, dict[str, None]] = {kind: {} for kind in _MARGINS}
    for root in parts.trees():
        for master in root.iter("{*}master-page"):
            for kind, word in _MARGINS.items():
                for margin in master.iterchildren(f"{{*}}{kind}", f"{{*}}{kind}-left"):
                    text = " ".join(_margin_texts(margin))
                    if text:
                        found[kind][plain(f"{word}: {text}")] = None
    return {kind: list(texts) for kind, texts in found.items()}


def _of_masters(parts: OdfParts, content: etree._Element) -> list[str]:
    """Each distinct header and footer of slides: typed into the master, or for some slides."""
    found: dict[str, None] = {}
    for root in parts.trees():
        for shape in root.iterfind(".//{*}master-page/{*}frame"):
            word = _MARGINS.get(attribute(shape, "class") or "")
            text = " ".join(_margin_texts(shape)) if word else ""
            if text:
                found[plain(f"{word}: {text}")] = None
    for kind, word in _MARGINS.items():
        for declared in content.iterchildren(f"{{*}}{kind}-decl"):
            text = " ".join("".join(declared.itertext()).split())
            if text:
                found[plain(f"{word}: {text}")] = None
    return list(found)


def _plain_margins(parts: OdfParts) -> dict[str, list[str]]:
    return {
        kind: [
            plain(text)
            for root in parts.trees()
            for margin in root.iter(f"{{*}}{kind}")
            if (text := " ".join(" ".join(margin.itertext()).split()))
        ]
        for kind in _MARGINS
    }


def _margin_texts(margin: etree._Element) -> Iterator[str]:
    for paragraph in margin.iter("{*}p", "{*}h"):
        text = " ".join("".join(paragraph.itertext()).split())
        counts = next(paragraph.iter(*_COUNTERS), None) is not None
        if text and not (counts and len(text) < _ONLY_A_NUMBER):
            yield text


def _properties(root: etree._Element | None) -> dict[str, str]:
    meta = None if root is None else next(root.iter("{*}meta"), None)
    return child_texts(meta, _FIELDS)
