"""Turns a file into a Document: sniff, extract by type, clean, check.

To add a format, add a package beside this module with a `declaration.py` (its fields:
formats/declaration.py) and a reader with `extract(source: InputFile) -> Extraction`.
"""

import importlib
from collections import Counter
from collections.abc import Iterator
from functools import partial
from typing import Any, BinaryIO, cast

import orjson

from ingest import storable_text
from ingest.errors import IsArchive, Permanent, Transient
from ingest.formats import catalog
from ingest.formats.archives import compressed
from ingest.formats.common.input_file import Extraction, InputFile, MemberSink, Recogniser, present
from ingest.formats.detect.sniff import Sniffed
from ingest.formats.encoded_data import without_encoded
from ingest.model import LONGEST_METADATA, Coverage, Document, Page
from ingest.optional_steps import improve, is_panic, recording
from ingest.page_words import MOST_PAGE_WORDS, PageWords, pack

_SUPPORTED = "This format is not supported; docs/formats.md lists those that are."
_PAGE_BREAK = "\n\n"
_MOST_LOST = 100
_A_FEW_WORDS = 20  # invisible tag characters, enough to spell a hidden text
_SWITCH_ON = (
    "Text recognition (OCR) is off: it needs tesseract or the extra `ocr` (pip install"
    " 'rag-ingest[ocr]') on the machine that processes files, and INGEST_OCR must not be `off`."
)
"""How to enable OCR; correct for every reason why it is off."""
_GARBLED = (
    "The text of the file is unreadable: its fonts do not say which letters they show. OCR can read"
    " its pages if it is on and knows their script."
)


def extract(
    file: BinaryIO,
    *,
    name: str | None = None,
    declared: str | None = None,
    max_pages: int = 5000,
    url: str | None = None,
    ocr: Recogniser | None = None,
    members: MemberSink | None = None,
    max_inflated: int = compressed.LARGEST,
) -> Document:
    """Read a seekable file into a Document; `name` and `declared` (content type) are only hints.

    A compressed file is read as the file in it, of at most `max_inflated` bytes. `url` is the final
    URL after redirects; with it, HTML gets a WebPage. `members` receives the attachments; only if
    it gets any, the Document may be without text. Raises IsArchive for a container of files that
    has no text itself.

    Raises Permanent with every code of content_of(), and with: `unsupported_type`, `corrupt`,
    `encrypted`, `empty_content`, `no_text`, `too_many_pages`, `too_large`, `archive_unsafe`,
    `parser_memory`, `parser_crashed`, `parser_missing`. Messages do not expose parser internals.

    A step that only improves the result never fails the file (optional_steps.py): if it fails,
    it is skipped with a warning such as `headings_skipped`.
    """
    with compressed.content_of(
        file, name=name, declared=declared, max_bytes=max_inflated
    ) as content:
        reader = _reader_of(content.sniffed.media_type)
        source = InputFile(
            stream=content.stream,
            media_type=content.sniffed.media_type,
            declared=content.declared,
            max_pages=max_pages,
            name=content.name,
            url=url,
            ocr=ocr,
            members=members,
        )
        with recording() as skipped:
            document = _assemble(source, content.sniffed, _run(reader, source))
    return skipped.noted_in(document)


def _reader_of(media_type: str) -> str:
    found = catalog.find(media_type)
    what = catalog.label(media_type)
    if found is not None and found.is_archive:
        raise IsArchive(f"This is {what}, not a document.")
    if found is None or found.reader is None:
        raise Permanent(f"This is {what}. {_SUPPORTED}", code="unsupported_type")
    return found.reader


def _run(module: str, source: InputFile) -> Extraction:
    what = catalog.label(source.media_type)
    try:
        return cast(Extraction, importlib.import_module(module).extract(source))
    except (Permanent, Transient):
        raise
    except ImportError as error:
        raise Permanent(
            f"The parser for {what} cannot be loaded: {missing_module(error)} is not installed.",
            code="parser_missing",
        ) from error
    except MemoryError:
        raise Permanent(f"Reading {what} took too much memory.", code="parser_memory") from None
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # a Rust panic is not an Exception
        if is_panic(error):
            raise Permanent(f"The parser for {what} crashed.", code="parser_crashed") from error
        raise Permanent(
            f"This looks like {what}, but it is damaged and could not be read.", code="corrupt"
        ) from error


def missing_parsers() -> dict[str, list[str]]:
    """Modules that are not installed, each with the formats that need it.

    Imports all extractors, which takes a second and 100 MB: call it in a parser process.
    """
    missing: dict[str, dict[str, None]] = {}
    for declared in catalog.formats():
        try:
            importlib.import_module(declared.reader or __name__)
        except ImportError as error:
            formats = missing.setdefault(missing_module(error), {})
            formats[catalog.format_name(declared.media_type)] = None
    return {module: list(formats) for module, formats in missing.items()}


def missing_module(error: ImportError) -> str:
    """The name of the module that could not be imported.

    Libraries that explain what to install wrap the error in another ImportError without a name.
    """
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ImportError) and cause.name:
            return cause.name
        cause = cause.__cause__ or cause.__context__
    return type(error).__name__


def _metadata(extraction: Extraction) -> dict[str, Any]:
    metadata: dict[str, Any] = storable_text.clean_json(extraction.metadata)
    if metadata and len(orjson.dumps(metadata)) > LONGEST_METADATA:
        raise ValueError("the metadata is too large")
    return metadata


def _assemble(source: InputFile, sniffed: Sniffed, extraction: Extraction) -> Document:
    ocr = source.ocr
    counts: Counter[str] = Counter(extraction.removed)
    texts: list[str] = []
    pages: list[Page] = []
    position = 0
    for number, part in enumerate(extraction.parts, start=1):
        text, removed = storable_text.clean(part or "")
        text, encoded = improve(
            "tidying", partial(without_encoded, text), otherwise=partial(_as_it_is, text)
        )
        for found in (removed, storable_text.unreadable(text), {"encoded": encoded}):
            if any(found.values()):
                counts.update(found)
        pages.append(Page(number=number, start=position, end=position + len(text)))
        texts.append(text)
        position += len(text) + len(_PAGE_BREAK)
    coverage = _coverage(extraction, texts)
    # An empty page may still say what it is: a redirect, or one that needs scripts.
    web = extraction.web
    says_why = web is not None and (web.refresh or web.placeholder)
    if coverage.with_text == 0 and not says_why and not source.has_handed_on:
        if "garbled_text" in extraction.warnings and coverage.unread:
            raise Permanent(_GARBLED, code="no_text")
        raise _nothing(sniffed.media_type, coverage, has_ocr=ocr is not None)
    metadata: dict[str, Any] = improve("metadata", lambda: _metadata(extraction), otherwise=dict)
    if counts:
        metadata["hygiene"] = dict(counts)
    return Document(
        text=_PAGE_BREAK.join(texts),
        media_type=sniffed.media_type,
        extractor=improve(
            "ocr", lambda: _readers(extraction, ocr), otherwise=lambda: extraction.extractor
        ),
        title=improve(
            "title",
            lambda: storable_text.clean_line(extraction.title or ""),
            otherwise=lambda: None,
        ),
        encoding=extraction.encoding,
        pages=tuple(pages) if extraction.paged else (),
        coverage=coverage,
        page_words=improve(
            "ocr", lambda: tuple(_page_words(extraction)), otherwise=tuple[PageWords]
        ),
        metadata=metadata,
        warnings=_warnings(sniffed, extraction, counts, length=position),
        web=extraction.web,
    )


def _as_it_is(text: str) -> tuple[str, int]:
    return text, 0


def _page_words(extraction: Extraction) -> Iterator[PageWords]:
    """Of the first pages, if there are so many that they would not fit into an answer."""
    room = MOST_PAGE_WORDS
    for index in sorted(extraction.by_ocr & extraction.words.keys()):
        packed = pack(extraction.words[index])
        if packed is not None:
            room -= len(packed)
            if room < 0:
                return
            yield PageWords(page=index + 1, packed=packed)


def _readers(extraction: Extraction, ocr: Recogniser | None) -> str:
    """The library, and the OCR engine if it recognised text."""
    if ocr is None or not extraction.by_ocr:
        return extraction.extractor
    return f"{extraction.extractor}, {ocr.name}"


def _coverage(extraction: Extraction, texts: list[str]) -> Coverage:
    failed = {index for index, part in enumerate(extraction.parts) if part is None}
    filled = {index for index, text in enumerate(texts) if text and not text.isspace()}
    unread = extraction.unread - filled - failed
    return Coverage(
        pages=len(texts),
        with_text=len(filled),
        empty=len(texts) - len(filled) - len(unread) - len(failed),
        failed=len(failed),
        unread=len(unread),
        by_ocr=len(extraction.by_ocr & filled),
        lost=tuple(index + 1 for index in sorted(failed | unread)[:_MOST_LOST]),
    )


def _nothing(media_type: str, coverage: Coverage, *, has_ocr: bool) -> Permanent:
    if catalog.is_text(media_type):
        return Permanent("The file contains no text.", code="empty_content")
    if coverage.failed:
        return Permanent("No page of the file could be read: it is damaged.", code="corrupt")
    return _no_text(media_type, coverage, has_ocr=has_ocr)


def _warnings(
    sniffed: Sniffed, extraction: Extraction, counts: Counter[str], *, length: int
) -> tuple[str, ...]:
    found = present(
        type_mismatch=sniffed.mismatch,
        undecodable_characters=extraction.encoding and extraction.encoding.replaced,
        removed_characters=any(counts[kind] for kind in ("nul", "surrogate", "control")),
        garbled_text=storable_text.is_garbled(counts, length),
        hidden_text=counts["tag"] >= _A_FEW_WORDS,
        pages_failed=any(part is None for part in extraction.parts),
        pages_unread=extraction.unread,
    )
    return tuple(dict.fromkeys((*found, *extraction.warnings)))


def _no_text(media_type: str, coverage: Coverage, *, has_ocr: bool) -> Permanent:
    """Raises Permanent `no_text`; its message says what to do."""
    is_picture = media_type.startswith("image/")
    if not has_ocr:
        what = "is a picture" if is_picture else "contains no text, only pictures or blank pages"
        return Permanent(f"The file {what}. {_SWITCH_ON}", code="no_text")
    if coverage.unread:
        return Permanent(
            f"No text was recognised: {coverage.unread} of {coverage.pages} pages have writing that"
            " OCR could not read (blurred, or in another script than it knows), or took longer than"
            " INGEST_OCR_PAGE_TIMEOUT.",
            code="no_text",
        )
    if is_picture:
        return Permanent("No text was found in the picture.", code="no_text")
    what = catalog.label(media_type)
    return Permanent(f"This is {what} without text; OCR found none either.", code="no_text")
