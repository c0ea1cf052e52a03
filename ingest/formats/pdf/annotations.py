"""Annotations of a page: links, ticked form boxes, comments, attached files."""

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from ingest.formats.common.links import web_address
from ingest.formats.pdf.engine import pdfium_annotations as pdfium
from ingest.formats.pdf.layout.links import Link
from ingest.optional_steps import improve

_MOST = 20_000  # annotations per page; forms have fields behind thousands of links
_MOST_READ = 2000  # fields, links, comments and files per page, of each kind
_LONGEST = 20_000  # characters per comment or field
_FEWEST_WORDS = 5
_NO_WORDS = {"on", "yes", "1", "true", "off", ""}


@dataclass(slots=True)
class PageAnnotations:
    """Content of the annotations of a page."""

    needs_flattening: bool = False
    """Whether it has fields, and annotations that may show something but links."""
    ticked: list[str] = field(default_factory=list)
    entered: list[tuple[str, str]] = field(default_factory=list)
    """Label and value of text fields."""
    lost: list[tuple[str, str]] = field(default_factory=list)
    """Those whose value the text of the page does not hold."""
    comments: list[str] = field(default_factory=list)
    files: list[int] = field(default_factory=list)
    """Indices of annotations with a file."""
    links: list[Link] = field(default_factory=list)
    """To the web."""

    def markdown(self) -> Iterator[str]:
        """Yield `- [x] label` for each ticked box, and each comment as a Markdown quote.

        Also `- label: value` of fields that the text of the page does not hold.
        """
        for label in self.ticked:
            yield f"- [x] {label}"
        for label, value in self.lost:
            yield f"- {label}: {value}" if label else f"- {value}"
        for comment in self.comments:
            yield "> " + "\n> ".join(comment.splitlines())


def read_annotations(document: int, form: Any, page: int) -> PageAnnotations:
    """Fields, comments, files and links of a page, given by its handle and the document's.

    `form`: the form environment, None if the document has none.
    """
    found = PageAnnotations()
    has_fields = may_show = False
    for index, kind, annotation in pdfium.annotations(page, _MOST):
        if kind == pdfium.WIDGET:
            has_fields = True
            may_show = may_show or not pdfium.is_unseen_signature(form, annotation)
            continue
        may_show = may_show or kind != pdfium.LINK
        if kind == pdfium.FILE and len(found.files) < _MOST_READ:
            found.files.append(index)
        elif kind == pdfium.LINK and len(found.links) < _MOST_READ:
            found.links += improve("links", partial(_links, document, annotation), otherwise=list)
        elif kind in pdfium.COMMENTS and len(found.comments) < _MOST_READ:
            text = improve("notes", partial(pdfium.contents, annotation), otherwise=str).strip()
            if text:
                found.comments.append(text[:_LONGEST])
    found.needs_flattening = has_fields and may_show
    return found


def _links(document: int, annotation: int) -> list[Link]:
    """The link of an annotation, unless it leads elsewhere than to the web."""
    stated, areas = pdfium.link(document, annotation) or ("", [])
    address = web_address(stated)
    return [] if address is None else [(address, areas)]


def read_fields(form: Any, page: int, notes: PageAnnotations) -> None:
    """Add ticked boxes, radio buttons and text fields; the form must know the page."""
    fields = 0
    for _, kind, annotation in pdfium.annotations(page, _MOST):
        if kind != pdfium.WIDGET:
            continue
        fields += 1
        if fields > _MOST_READ:
            return
        if (ticked := pdfium.ticked(form, annotation)) is not None:
            notes.ticked += filter(None, [_label(*ticked)])
        elif (entered := pdfium.entered(form, annotation)) is not None:
            label, value = (" ".join(part.split()) for part in entered)
            notes.entered.append((label[:_LONGEST], value[:_LONGEST]))


def find_lost(notes: PageAnnotations, text: str) -> None:
    """Find the values that the text of the page, with its fields, does not hold.

    Fonts of fields may not say which letters they show.
    """
    shown = _folded(text)
    notes.lost = [
        (label, value)
        for label, value in dict.fromkeys(notes.entered)
        if (folded := _folded(value)) and folded not in shown
    ]


def is_damaged(before: str, after: str) -> bool:
    """Whether most words of a page are lost: pdfium may mix up its fonts with those of fields."""
    words = before.split()
    kept = set(after.split())
    return len(words) >= _FEWEST_WORDS and 2 * sum(word in kept for word in words) < len(words)


def _folded(text: str) -> str:
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKC", text))).casefold()


def _label(label: str, value: str) -> str:
    """The label, and the value if it says more."""
    shown = "" if value.lower() in _NO_WORDS or value == label else value
    return ": ".join(part for part in (label.strip(), shown.strip()) if part)
