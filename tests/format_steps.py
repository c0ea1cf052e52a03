"""What each step of extraction changes: the corpus of corpus.py, read with and without it.

Usage: python -m tests.format_steps MANIFEST [--only TYPE …]

A row per step: files of these types, files whose text or warnings differ without the step, phrases
lost without it. A step that changes nothing lacks files in the corpus, or a reason.
"""

import argparse
import contextlib
import logging
import warnings
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

from ingest.errors import IsArchive, Permanent, Transient
from ingest.formats.html.main_content import LeftOut
from ingest.formats.html.unseen import Unseen
from ingest.formats.office.rtf.notes import Notes
from ingest.formats.registry import extract
from tests.corpus import PhraseFound, load_norm, read_manifest


class Step(NamedTuple):
    """One step, and what takes its place."""

    types: tuple[str, ...]
    name: str
    target: str
    """Dotted path below ingest.formats."""
    instead: Callable[..., Any]


def _nothing(*_: object, **__: object) -> None: ...


def _no_notes(data: bytes) -> tuple[bytes, Notes]:
    return data, Notes()


def _false(*_: object, **__: object) -> bool:
    return False


def _no_items(*_: object, **__: object) -> list[Any]:
    return []


def _same(first: Any, *_: object, **__: object) -> Any:
    return first


def _no_text(*_: object, **__: object) -> str:
    return ""


class _NoSecondaryContent:
    def __init__(self, *_: object) -> None:
        self.boilerplate: list[Any] = []
        self.doubtful: list[Any] = []


_PDF, _HTML, _DOCX, _PPTX = ("pdf",), ("html", "mhtml"), ("docx",), ("pptx",)
_SHEETS, _LEGACY = ("xlsx", "xlsb", "xls", "ods"), ("doc", "ppt", "rtf")
STEPS = (
    Step(_PDF, "hidden text", "pdf.page.drop_hidden", _nothing),
    Step(_PDF, "reading order", "pdf.page.sort_lines", _nothing),
    Step(_PDF, "right to left", "pdf.page.restore_logical_order", _nothing),
    Step(_PDF, "vertical text", "pdf.page.turned_if_vertical", _same),
    Step(_PDF, "letters spaced apart", "pdf.page.better_text", _same),
    Step(_PDF, "garbled text layers", "pdf.page.is_garbled", _false),
    Step(_PDF, "text off the page", "pdf.layout.text_lines._drop_off_page", _nothing),
    Step(_PDF, "ruled tables", "pdf.tables.page_tables.find_grids", _no_items),
    Step(_PDF, "aligned tables", "pdf.tables.page_tables.find_aligned", _nothing),
    Step(_PDF, "headers and footers", "pdf.document.drop_headers_and_footers", _nothing),
    Step(_PDF, "hyphens", "pdf.document.join_hyphenated", _nothing),
    Step(_PDF, "headings by size", "pdf.headings.mark._by_size", _nothing),
    Step(_PDF, "headings by number", "pdf.headings.mark._by_number", _nothing),
    Step(_PDF, "headings by weight", "pdf.headings.mark._by_weight", _nothing),
    Step(_PDF, "headings by outline", "pdf.headings.mark.match_outline", lambda *_: {}),
    Step(_PDF, "paragraphs", "pdf.layout.markdown.line_ends", lambda _: {}),
    Step(_PDF, "raised figures", "pdf.page.mark_raised", _nothing),
    Step(_PDF, "parts of lines", "pdf.page.join_broken", _nothing),
    Step(_PDF, "footnotes and margins", "pdf.document.move_margins_last", _nothing),
    Step(_PDF, "headers of continued tables", "pdf.document.carry_headers", _nothing),
    Step(_PDF, "annotations", "pdf.engine.pdfium.count_annotations", _false),
    Step(_PDF, "XFA forms", "pdf.forms.add_xfa", _false),
    Step(_PDF, "fallback engine", "pdf.engine.pypdf_fallback.PdfReader", _nothing),
    Step(_HTML, "boilerplate", "html.page.drop_boilerplate", lambda *_: LeftOut()),
    Step(_HTML, "secondary content", "html.main_content.SecondaryContent", _NoSecondaryContent),
    Step(_HTML, "hidden text", "html.page.drop_hidden", lambda _: Unseen.NOTHING),
    Step(_HTML, "tidying", "html.page.tidy", _nothing),
    Step(_HTML, "values of fields", "html.page.write_form_values", _nothing),
    Step(_HTML, "spans of cells", "html.tidy.expand_spans", _nothing),
    Step(_DOCX, "list numbers", "word.body.WordBody._label", _nothing),
    Step(_DOCX, "equations", "word.runs.math_text", _no_text),
    Step(_DOCX, "charts and embedded texts", "word.embedded.EmbeddedContent.show", _no_items),
    Step(_DOCX, "alternate content", "office.opc._resolve_alternate_content", _nothing),
    Step(_DOCX, "notes", "word.docx._Document._notes", lambda *_, **__: {}),
    Step(_DOCX, "headers and footers", "word.docx._Document._margins", _no_items),
    Step(_DOCX, "comments", "word.docx._Document._comments", _no_items),
    Step(_PPTX, "reading order", "slides.shapes._in_order", _same),
    Step(_PPTX, "charts and SmartArt", "office.graphics.Graphics.show", _no_items),
    Step(_PPTX, "comments", "slides.pptx._comments", _no_items),
    Step(_SHEETS, "tables side by side", "sheets.workbook.column_groups", lambda _: [slice(None)]),
    Step(_SHEETS, "header rows", "common.table_records.find_header", _nothing),
    Step(_LEGACY, "structure of Word 97", "word.word_97.reader.is_word_97", _false),
    Step(_LEGACY, "notes and deletions of RTF", "office.rtf.reader.take_notes", _no_notes),
    Step(_LEGACY, "field codes", "office.rtf.reader.without_fields", _same),
    Step(_LEGACY, "escapes of xberg", "office.xberg_text.tidy", _same),
    Step(("epub",), "headings by contents", "epub.chapter._place_headings", lambda *_: 0),
    Step(("xml",), "articles", "xml.article.write", lambda *_: (None, {})),
    Step(("txt",), "subtitles", "text.plain.is_subtitles", _false),
)


class Read(NamedTuple):
    """One file as read."""

    text: str
    warnings: tuple[str, ...]
    found: int


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("manifest", type=Path)
    parser.add_argument("--only", nargs="+", metavar="TYPE", default=[])
    arguments = parser.parse_args()
    manifest = arguments.manifest.resolve()
    phrase_found = load_norm(manifest.parent)
    logging.disable()
    warnings.simplefilter("ignore")

    @cache
    def complete(types: tuple[str, ...]) -> list[Read]:
        return _read(manifest, types, phrase_found)

    print("| files | step | number | changed | phrases lost |\n|---|---|---|---|---|")
    for step in STEPS:
        if arguments.only and not set(step.types) & set(arguments.only):
            continue
        with patch(f"ingest.formats.{step.target}", step.instead):
            without = _read(manifest, step.types, phrase_found)
        pairs = list(zip(complete(step.types), without, strict=True))
        changed = sum(one[:2] != other[:2] for one, other in pairs)
        lost = sum(one.found - other.found for one, other in pairs)
        types = ", ".join(step.types)
        print(f"| {types} | {step.name} | {len(pairs)} | {changed} | {lost} |", flush=True)


def _read(manifest: Path, types: Sequence[str], phrase_found: PhraseFound) -> list[Read]:
    found = []
    for row in read_manifest(manifest, types, with_ocr=False):
        text = ""
        codes: tuple[str, ...] = ("failed",)
        with (
            contextlib.suppress(Permanent, Transient, IsArchive),
            (manifest.parent / row.path).open("rb") as file,
        ):
            document = extract(file, name=row.path)
            text, codes = document.text, document.warnings
        found.append(Read(text, codes, sum(phrase_found(text, phrase) for phrase in row.phrases)))
    return found


if __name__ == "__main__":
    main()
