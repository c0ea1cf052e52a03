"""Word 2003 documents in XML (WordprocessingML before standardisation), read as those of Word 2007.

Read: headings, paragraphs, lists with their numbers, tables, links, text boxes; foot- and endnotes
at the end of their section; headers and footers, once; comments with their authors, at the end.
"""

from collections.abc import Iterator

from lxml import etree

from ingest.formats.common.inflate_limit import guard_xml
from ingest.formats.common.input_file import Extraction, InputFile, present
from ingest.formats.common.markdown import plain
from ingest.formats.common.notes import end_sections
from ingest.formats.office.blocks import cell_text, child_texts, comment_text, one_line
from ingest.formats.office.xml_tree import attribute, child, parse, words
from ingest.formats.word.body import WordBody
from ingest.formats.word.docx import margin_text
from ingest.formats.word.numbering import Numbering
from ingest.formats.word.runs import Runs
from ingest.formats.word.styles import WordStyles
from ingest.formats.word.word_2003_tree import Taken, modernise, numbering
from ingest.optional_steps import improve

_VERSION = "word_xml 3"
_PROPERTIES = {"Title": "title", "Author": "author", "Created": "created", "Subject": "subject"}


def extract(source: InputFile) -> Extraction:
    """Read the document and its properties."""
    data = source.stream.read()
    guard_xml(data)
    root = parse(data)
    properties = improve(
        "metadata",
        lambda: child_texts(child(root, "DocumentProperties"), _PROPERTIES),
        otherwise=dict[str, str],
    )
    taken = modernise(root)
    lists = improve("numbering", lambda: numbering(root), otherwise=lambda: None)
    body = _reader(root, taken, Numbering(lists))
    content = child(root, "body")
    blocks = body.read(content) if content is not None else []
    title = properties.pop("title", None)
    return Extraction(
        parts=[
            "\n\n".join(
                [
                    *_margins(taken, "hdr", "Header"),
                    *improve(
                        "notes",
                        lambda: end_sections(blocks, _notes(root, body, taken)),
                        otherwise=lambda: [*blocks, *map(_plain, taken.notes.values())],
                    ),
                    *_margins(taken, "ftr", "Footer"),
                    *improve(
                        "comments",
                        lambda: list(_comments(taken)),
                        otherwise=lambda: list(map(_plain, taken.comments)),
                    ),
                ]
            )
        ],
        extractor=_VERSION,
        title=title,
        metadata=dict(properties),
        warnings=present(hidden_text=body.hidden.has_sentence),
    )


def _reader(root: etree._Element, taken: Taken, lists: Numbering) -> WordBody:
    return WordBody(
        styles=improve(
            "styles", lambda: WordStyles(child(root, "styles")), otherwise=lambda: WordStyles(None)
        ),
        numbering=lists,
        runs=Runs(taken.relations, drop_faint=False),
        show=_nothing,
    )


def _notes(root: etree._Element, body: WordBody, taken: Taken) -> dict[int, str]:
    """Notes by the numbers of their marks in the text."""
    reader = _reader(root, taken, Numbering(None))
    return {
        number: cell_text(reader.read(taken.notes[key])) if key in taken.notes else ""
        for key, number in body.runs.notes.items()
    }


def _margins(taken: Taken, kind: str, label: str) -> list[str]:
    """Each distinct header or footer."""

    def read() -> list[str]:
        runs = Runs(taken.relations, drop_faint=False)
        return [margin_text(item, runs) for item in taken.margins[kind]]

    texts = improve(
        "headers_footers", read, otherwise=lambda: list(map(words, taken.margins[kind]))
    )
    return [plain(f"{label}: {text}") for text in dict.fromkeys(texts) if text]


def _comments(taken: Taken) -> Iterator[str]:
    for comment in taken.comments:
        runs = Runs(taken.relations, drop_faint=False)
        inlines = (
            runs.read(item, may_be_faint=False, is_hidden=False) for item in comment.iter("{*}p")
        )
        text = one_line(" ".join(inline.text for inline in inlines))
        found = comment_text(attribute(comment, "author"), text)
        if found:
            yield found


def _plain(item: etree._Element) -> str:
    return plain(words(item).strip())


def _nothing(_: etree._Element) -> list[str]:
    return []
