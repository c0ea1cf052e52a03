"""Converts Word documents to Markdown from their XML.

Read: headings with the numbers that Word generates, lists, tables (nested and merged ones too),
fields of forms, text boxes, equations, charts, SmartArt, links, alternative text of pictures, foot-
and endnotes at the end of their section, embedded HTML, text, RTF and Word parts (altChunk);
headers and footers, once; comments with their authors, at the end. Tracked insertions are kept,
tracked deletions dropped. Hidden, white-on-white and tiny text is left out, and reported if it is
as long as a sentence. Embedded documents become members. Not read: pictures, bold and italic.

mammoth is not used: it skips half of this, fails on harmless damage (dangling links and pictures),
and takes over ten times as long (872 pages: 12.6 s instead of 0.9 s).
"""

import io
from collections.abc import Callable, Iterable, Iterator
from typing import BinaryIO

from lxml import etree

from ingest.formats.common import inflate_limit
from ingest.formats.common.input_file import Extraction, InputFile, MemberSink, filled, present
from ingest.formats.common.markdown import plain
from ingest.formats.common.notes import end_sections
from ingest.formats.office import ole_package
from ingest.formats.office.blocks import cell_text, comment_text, one_line
from ingest.formats.office.opc import Package, resolve_alternate_content
from ingest.formats.office.xml_tree import child, value, words
from ingest.formats.word.body import WordBody
from ingest.formats.word.embedded import EmbeddedContent
from ingest.formats.word.numbering import Numbering
from ingest.formats.word.runs import Runs
from ingest.formats.word.styles import WordStyles
from ingest.model import Step
from ingest.optional_steps import improve

_VERSION = "docx 6"
_ONLY_A_NUMBER = 20  # characters; a shorter footer with a page field holds only the page number
_WHITE = {"FFFFFF", "AUTO"}
_MOST_LISTED = 200


def extract(source: InputFile) -> Extraction:
    """Read the document and its properties."""
    inflate_limit.guard(source.stream, inflate_limit.TREES)
    return read_package(source.stream, source.members)


def read_package(stream: BinaryIO, members: MemberSink | None, depth: int = 0) -> Extraction:
    """Like extract(), for a package that passed inflate_limit.guard(); `depth`: nesting level."""
    document = _Document(Package(stream), depth=depth)
    blocks = document.read(drop_faint=True)
    body = document.body
    if body.hidden.is_mostly_faint:
        blocks = document.read(drop_faint=False)
    properties = improve("metadata", document.package.properties, otherwise=dict[str, str])
    title = properties.pop("title", None)
    attachments = improve("attachments", lambda: document.attachments(members), otherwise=list)
    broken = document.package.broken
    return Extraction(
        parts=["\n\n".join(blocks)],
        extractor=_VERSION,
        title=title,
        metadata=properties
        | filled(attachments=attachments, unreadableParts=list(broken)[:_MOST_LISTED]),
        warnings=present(hidden_text=body.hidden.has_sentence, parts_unreadable=broken),
    )


class _Document:
    def __init__(self, package: Package, *, depth: int) -> None:
        self.package = package
        self._main = package.main("word/document.xml")
        self._depth = depth
        self._root = package.xml(self._main)
        resolve_alternate_content(self._root)
        self._styles = improve(
            "styles", lambda: WordStyles(self._part("styles")), otherwise=lambda: WordStyles(None)
        )

    def read(self, *, drop_faint: bool) -> list[str]:
        """Read all blocks: headers, body, notes, footers, comments."""
        self._numbering = improve(
            "numbering",
            lambda: Numbering(self._part("numbering")),
            otherwise=lambda: Numbering(None),
        )
        self.body = self._reader(self._main, drop_faint=drop_faint)
        self.body.has_dark_page = _has_colour(child(self._root, "background"))
        content = child(self._root, "body")
        blocks = [] if content is None else self.body.read(content)
        return [
            *self._beside("headers_footers", lambda: self._margins("header"), "header"),
            *improve(
                "notes",
                lambda: end_sections(blocks, self._notes(drop_faint=drop_faint)),
                otherwise=lambda: [*blocks, *self._plain(("footnotes", "endnotes"))],
            ),
            *self._beside("headers_footers", lambda: self._margins("footer"), "footer"),
            *self._beside("comments", self._comments, "comments"),
        ]

    def _beside(self, step: Step, read: Callable[[], Iterator[str]], *kinds: str) -> list[str]:
        """Blocks of parts other than the body; their plain words if `read` fails."""
        return improve(step, lambda: list(read()), otherwise=lambda: self._plain(kinds))

    def _plain(self, kinds: Iterable[str]) -> list[str]:
        parts = (part for kind in kinds for part in self.package.related(self._main, kind))
        roots = (self.package.find_xml(part) for part in parts)
        texts = (words(root).strip() for root in roots if root is not None)
        return [plain(text) for text in texts if text]

    def attachments(self, members: MemberSink | None) -> list[dict[str, object]]:
        """Hand embedded documents over as members, and list them."""
        parts = [
            part
            for kind in ("package", "oleObject")
            for part in self.package.related(self._main, kind)
        ]
        unread = self._embedded.unread
        found = dict.fromkeys([*parts, *unread])
        return ole_package.hand_over(found, self.package.open, members)

    def _reader(self, part: str, *, drop_faint: bool) -> WordBody:
        relations = self.package.relations(part)
        embedded = EmbeddedContent(
            self.package, relations, depth=self._depth, read_document=_embedded_text
        )
        if part == self._main:
            self._embedded = embedded
        return WordBody(
            styles=self._styles,
            numbering=self._numbering,
            runs=Runs(relations, drop_faint=drop_faint),
            show=embedded.show,
        )

    def _part(self, kind: str) -> etree._Element | None:
        parts = self.package.related(self._main, kind)
        return self.package.find_xml(parts[0]) if parts else None

    def _notes(self, *, drop_faint: bool) -> dict[int, str]:
        """Notes that the text refers to, by the number of the reference."""
        found: dict[tuple[str, str], str] = {}
        for kind in ("footnote", "endnote"):
            for part in self.package.related(self._main, f"{kind}s"):
                root = self.package.find_xml(part)
                if root is None:
                    continue
                resolve_alternate_content(root)
                reader = self._reader(part, drop_faint=drop_faint)
                for note in root.iterchildren("{*}" + kind):
                    key = (kind, value(note, "id") or "")
                    if key in self.body.runs.notes:
                        found[key] = cell_text(reader.read(note))
                self.body.hidden.has_sentence |= reader.hidden.has_sentence
        return {number: found.get(key, "") for key, number in self.body.runs.notes.items()}

    def _margins(self, kind: str) -> Iterator[str]:
        """Each distinct header or footer, except those with only a page number."""
        texts: dict[str, None] = {}
        for part in self.package.related(self._main, kind):
            root = self.package.find_xml(part)
            if root is not None:
                resolve_alternate_content(root)
                runs = Runs(self.package.relations(part), drop_faint=False)
                texts[margin_text(root, runs)] = None
        return (plain(f"{kind.capitalize()}: {text}") for text in texts if text)

    def _comments(self) -> Iterator[str]:
        root = self._part("comments")
        if root is None:
            return
        runs = Runs({}, drop_faint=False)
        for comment in root.iterchildren("{*}comment"):
            inlines = (
                runs.read(item, may_be_faint=False, is_hidden=False)
                for item in comment.iter("{*}p")
            )
            text = one_line(" ".join(inline.text for inline in inlines))
            yield comment_text(value(comment, "author"), text)


def margin_text(root: etree._Element, runs: Runs) -> str:
    """The text of a header or footer on one line; empty if it is only a page number."""
    texts = []
    for paragraph in root.iter("{*}p"):
        inline = runs.read(paragraph, may_be_faint=False, is_hidden=False)
        text = " ".join(inline.text.split())
        if text and not (inline.has_page_number and len(text) < _ONLY_A_NUMBER):
            texts.append(text)
    return " ".join(texts)


def _embedded_text(data: bytes, depth: int) -> str:
    """Markdown of a Word document inside another one."""
    stream = io.BytesIO(data)
    inflate_limit.guard(stream, inflate_limit.TREES)
    return "".join(part or "" for part in read_package(stream, None, depth).parts)


def _has_colour(background: etree._Element | None) -> bool:
    colour = value(background, "color")
    return colour is not None and colour.upper() not in _WHITE
