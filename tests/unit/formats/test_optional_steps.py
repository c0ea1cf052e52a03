"""A step that only improves what was read never costs the file: it is skipped, and that is said."""

import io
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import pytest

import ingest.chunking.chunk
from ingest import optional_steps as steps
from ingest.chunking.chunk import chunk
from ingest.formats import registry
from ingest.formats.common.input_file import Recogniser
from ingest.formats.pdf.layout.roll_back import run_or_roll_back
from ingest.formats.pdf.layout.text_lines import Line, PageLines
from ingest.model import Document, Step
from ingest.optional_steps import recording
from ingest.page_words import Recognised
from ingest.tokens.tokenizers import load_tokenizer
from tests.builders.rich_files import rich_files

_ARCHIVES = (".zip", ".tar", ".tgz")
FILES = {name: data for name, data in rich_files().items() if not name.endswith(_ARCHIVES)}
IMPROVE = steps.improve
ERRORS = (IndexError, RecursionError, ValueError, ZeroDivisionError)
PANIC = type("PanicException", (BaseException,), {})
# What steps add: names of columns and fields, who wrote a comment, the joints of a cut word.
ADDED = {
    "Age", "Ann", "Comment", "DOI", "Footer", "Header", "Journal", "Link", "Name", "Notes",
    "Summary", "explanation", "page", "python",
}  # fmt: skip
CHART = {"Cargo", "Rome", "Tonnes"}
# What only this step can read: comments of PDF, notes, comments and charts of PPT, words in
# pictures, fields by another engine.
ONLY_BY: dict[Step, set[str]] = {
    "notes": {"reader"},
    "ocr": {"Words", "picture"},
    "graphics": CHART,
    "attachments": CHART,
    "layout": CHART,
    "engine": CHART | {"Words", "Say", "this", "Yes", "picture", "reader", "filled"},
}
_WORD = re.compile(r"[^\W\d_]{3,}")


class Picture(Recogniser):
    """Text recognition that finds some words."""

    name = "fake 1"

    def recognise(self, image: object) -> Recognised:
        return Recognised("Words in a picture")


def read(name: str) -> Document:
    return registry.extract(io.BytesIO(FILES[name]), name=name, ocr=Picture())


@cache
def read_whole(name: str) -> Document:
    """With all steps."""
    return read(name)


def lost(whole: Document, document: Document, step: Step) -> Counter[str]:
    """Words of the author that a document lacks although one can do without the step."""
    before, after = (Counter(_WORD.findall(read.text)) for read in (whole, document))
    forgiven = ADDED | ONLY_BY.get(step, set())
    return Counter({word: n for word, n in (before - after).items() if word not in forgiven})


def steps_of(name: str) -> set[Step]:
    """The steps that reading this file goes through."""
    seen: set[Step] = set()

    def noted(step: Step, work: Callable[[], Any], *, otherwise: Callable[[], Any]) -> Any:
        seen.add(step)
        return IMPROVE(step, work, otherwise=otherwise)

    with pytest.MonkeyPatch.context() as patch:
        replace_everywhere(patch, noted)
        read(name)
    return seen


def replace_everywhere(patch: pytest.MonkeyPatch, other: Callable[..., Any]) -> None:
    for module in [*sys.modules.values()]:
        if getattr(module, "improve", None) is IMPROVE:
            patch.setattr(module, "improve", other)


def raising(error: type[BaseException]) -> Callable[..., Any]:
    def fails(*_: object, **__: object) -> Any:
        raise error("text of the document")

    return fails


@contextmanager
def sabotage(wanted: Step, error: type[BaseException]) -> Iterator[None]:
    """A step does its work and raises then, each time."""

    def broken(step: Step, work: Callable[[], Any], *, otherwise: Callable[[], Any]) -> Any:
        def fails_at_its_end() -> Any:
            work()
            raise error

        return IMPROVE(step, fails_at_its_end if step == wanted else work, otherwise=otherwise)

    with pytest.MonkeyPatch.context() as patch:
        replace_everywhere(patch, broken)
        yield


def _only_reader(name: str) -> set[Step]:
    """A picture has nothing but what is recognised in it."""
    return {"ocr"} if name.endswith((".png", ".jpg", ".tif", ".gif", ".webp", ".bmp")) else set()


@pytest.mark.parametrize("name", sorted(FILES))
def test_text_is_complete_whichever_optional_step_fails(name: str) -> None:
    whole = read_whole(name)

    for number, step in enumerate(sorted(steps_of(name) - _only_reader(name))):
        error = ERRORS[number % len(ERRORS)]
        with sabotage(step, error):
            document = read(name)

        assert lost(whole, document, step) == Counter(), step
        assert f"{step}_skipped" in document.warnings
        (skipped,) = document.skipped
        assert (skipped.step, skipped.times >= 1) == (step, True)
        assert skipped.cause.startswith(f"{error.__name__} at ")


@pytest.mark.parametrize("error", [*ERRORS, PANIC])
@pytest.mark.parametrize(
    ("function", "name", "step"),
    [
        ("pdf.document.mark_headings", "rich.pdf", "headings"),
        ("pdf.headings.mark._by_number", "rich.pdf", "headings"),
        ("pdf.document._outline", "rich.pdf", "headings"),
        ("pdf.document.drop_headers_and_footers", "rich.pdf", "furniture"),
        ("pdf.document.drop_stamps", "rich.pdf", "furniture"),
        ("pdf.document.join_hyphenated", "rich.pdf", "hyphens"),
        ("pdf.document.page_markdown", "rich.pdf", "markup"),
        ("pdf.document.add_document_files", "rich.pdf", "attachments"),
        ("pdf.document.metadata", "rich.pdf", "metadata"),
        ("pdf.document.title", "rich.pdf", "title"),
        ("pdf.document._info", "rich.pdf", "metadata"),
        ("pdf.document.language", "rich.pdf", "metadata"),
        ("pdf.forms.add_xfa", "rich.pdf", "forms"),
        ("pdf.page.read_annotations", "rich.pdf", "notes"),
        ("pdf.page.read_lines", "rich.pdf", "layout"),
        ("pdf.page.turned_if_vertical", "rich.pdf", "vertical"),
        ("pdf.page.better_text", "rich.pdf", "engine"),
        ("pdf.page.drop_hidden", "rich.pdf", "hidden_text"),
        ("pdf.page.sort_lines", "rich.pdf", "reading_order"),
        ("pdf.page.tables_to_markdown", "rich.pdf", "tables"),
        ("pdf.headings.bold.candidates", "rich.pdf", "headings"),
        ("pdf.page.read_fields", "form.pdf", "forms"),
        ("pdf.page.is_garbled", "rich.pdf", "ocr"),
        ("word.numbering.Numbering.label", "rich.docx", "numbering"),
        ("word.styles.WordStyles.get", "rich.docx", "styles"),
        ("word.body.own_level", "rich.docx", "styles"),
        ("word.body.merged_table", "rich.docx", "tables"),
        ("office.opc._resolve_alternate_content", "rich.docx", "graphics"),
        ("word.docx._Document._notes", "rich.docx", "notes"),
        ("word.docx._Document._comments", "rich.docx", "comments"),
        ("word.docx._Document._margins", "rich.docx", "headers_footers"),
        ("word.docx._Document.attachments", "rich.docx", "attachments"),
        ("office.opc.Package.properties", "rich.docx", "metadata"),
        ("slides.pptx._comments", "rich.pptx", "comments"),
        ("slides.pptx._note_texts", "rich.pptx", "notes"),
        ("slides.pptx._hand_over", "rich.pptx", "attachments"),
        ("slides.pptx.slide_text", "rich.pptx", "layout"),
        ("slides.shapes._in_order", "rich.pptx", "reading_order"),
        ("slides.shapes.slide_table", "rich.pptx", "tables"),
        ("slides.shapes.Layouts.places", "rich.pptx", "reading_order"),
        ("opendocument.document._properties", "rich.odt", "metadata"),
        ("opendocument.document._margins", "rich.odt", "headers_footers"),
        ("opendocument.styles.OdfStyles.of", "rich.odt", "styles"),
        ("opendocument.body.merged_table", "rich.odt", "tables"),
        ("opendocument.body.OdfBody._list", "rich.odt", "numbering"),
        ("html.tidy.end_sections", "a.html", "notes"),
        ("sheets.workbook._beside", "rich.xlsx", "graphics"),
        ("opendocument.document.end_sections", "rich.odt", "notes"),
        ("opendocument.slides._place", "a.odp", "reading_order"),
        ("epub.package.read_contents", "rich.epub", "contents"),
        ("epub.package._metadata", "rich.epub", "metadata"),
        ("epub.chapter._place_headings", "rich.epub", "contents"),
        ("html.fragment.drop_hidden", "page.eml", "hidden_text"),
        ("html.fragment.tidy", "page.eml", "tidying"),
        ("html.fragment.to_markdown", "page.eml", "markup"),
        ("mail.headers.fields", "rich.eml", "fields"),
        ("mail.headers.header", "rich.eml", "fields"),
        ("mail.message.calendar_text", "rich.eml", "calendar"),
        ("mail.message.says_more", "rich.eml", "markup"),
        ("mail.message.plain_markdown", "a.eml", "markup"),
        ("mail.message._MessageReader._attach", "a.eml", "attachments"),
        ("mail.msg_fields.fields", "a.msg", "fields"),
        ("mail.msg._attached", "a.msg", "attachments"),
        ("mail.msg.body_encoding", "a.msg", "metadata"),
        ("sheets.workbook.column_groups", "rich.xlsx", "columns"),
        ("sheets.workbook.has_uncalculated_formulas", "rich.xlsx", "metadata"),
        ("common.table_records.find_header", "rich.xlsx", "header_row"),
        ("common.table_records.names", "rich.xlsx", "header_row"),
        ("common.table_records.are_names", "rich.xlsx", "header_row"),
        ("sheets.csv._detect", "a.csv", "dialect"),
        ("sheets.csv._table", "a.csv", "tables"),
        ("xml.front_matter.take_front", "article.xml", "front_matter"),
        ("xml.front_matter.authors", "article.xml", "front_matter"),
        ("xml.article.table_rows", "article.xml", "tables"),
        ("xml.document._as_document", "article.xml", "layout"),
        ("xml.feed._fields", "a.xml", "layout"),
        ("json.notebook._write_outputs", "a.ipynb", "outputs"),
        ("json.notebook._language", "a.ipynb", "metadata"),
        ("text.plain.read_markdown", "a.md", "markup"),
        ("text.markdown.split_front_matter", "a.md", "front_matter"),
        ("markdown.tidy.as_commonmark", "rich.md", "markup"),
        ("text.markdown._first_heading", "rich.md", "title"),
        ("text.plain.read_code", "a.py", "markup"),
        ("text.plain.read_subtitles", "a.srt", "markup"),
        ("json.document._document", "a.json", "layout"),
        ("word.word_97.reader.summary", "a.doc", "metadata"),
        ("office.rtf.reader.without_fields", "a.rtf", "fields"),
        ("office.xberg_text.tidy", "a.rtf", "tidying"),
        ("word.word_97.document.read", "a.doc", "layout"),
        ("word.word_97.document.Styles", "a.doc", "styles"),
        ("word.word_97.document.numbering", "a.doc", "numbering"),
        ("word.word_97.document._Document._margins", "a.doc", "headers_footers"),
        ("word.word_97.document.end_sections", "a.doc", "notes"),
        ("word.word_97.document._Document._comments", "a.doc", "comments"),
        ("html.page.tidy", "a.html", "main_content"),
    ],
    ids=lambda value: str(getattr(value, "__name__", value)),
)
def test_failing_optional_function_loses_no_text(
    function: str,
    name: str,
    step: Step,
    error: type[BaseException],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole = read_whole(name)
    monkeypatch.setattr(f"ingest.formats.{function}", raising(error))

    document = read(name)

    assert lost(whole, document, step) == Counter()
    assert f"{step}_skipped" in document.warnings


def test_pages_are_as_they_were_after_a_step_that_fails_half_way() -> None:
    line, other = Line("A heading", level=1), Line("of two lines")
    page = PageLines([line, other])

    def fails_half_way() -> None:
        line.text, other.text, line.level = "A heading of two lines", "", 2
        page.lines = [line]
        raise IndexError

    with recording() as skipped:
        run_or_roll_back("headings", [page], fails_half_way)

    assert [found.step for found in skipped.found()] == ["headings"]
    assert page.lines == [Line("A heading", level=1), Line("of two lines")]


@pytest.mark.parametrize("function", ["read_structure", "Sections"])
def test_chunks_are_cut_by_size_where_the_structure_cannot_be_read(
    function: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = read("rich.md")
    tokenizer = load_tokenizer("wordllama")
    whole = getattr(ingest.chunking.chunk, function)

    def fails_on_headings(found: Any, *rest: Any) -> Any:
        if found:
            raise IndexError
        return whole(found, *rest)

    monkeypatch.setattr(ingest.chunking.chunk, function, fails_on_headings)
    with recording() as skipped:
        chunks = chunk(document, tokenizer=tokenizer, size=64, overlap=0)

    assert "".join(piece.text for piece in chunks).split() == document.text.split()
    assert [found.step for found in skipped.found()] == ["chunk_structure"]
