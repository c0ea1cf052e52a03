"""How many chunks of generated files are found where they are: `python -m tests.chunk_places`.

A chunk's place is right if it overlaps the true one by half of both together (IoU). The true one is
made of the boxes of the chunk's words, which the builder of the file knows.
"""

import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import groupby

import numpy as np

from ingest.chunking.chunk import chunk
from ingest.formats.registry import extract
from ingest.model import Chunk, Document, OcrSettings
from ingest.providers.ocr.factory import build_recogniser
from ingest.sandbox import page_views
from ingest.sandbox.messages import LocateRequest
from ingest.tokens.tokenizers import load_tokenizer
from tests.builders import placed_pages as placed
from tests.builders import placed_scans as scans
from tests.builders.placed_pages import Box, PlacedPage, PlacedWord, Writer
from tests.builders.placed_scans import Scan

_GRID = 1000
_TOKENS = 80
_ENGINE = "rapidocr"

Words = Sequence[PlacedWord]


@dataclass(frozen=True)
class Case:
    data: bytes
    pages: Sequence[Words]
    """The true words of each page."""
    engine: str | None = None


def text_cases() -> dict[str, Case]:
    """PDFs with a text layer."""
    writer = Writer(1)
    flow = [PlacedPage(placed.with_furniture(placed.prose(writer), page)) for page in range(1, 5)]
    turned = [scans.turned(PlacedPage(placed.prose(writer)), turns) for turns in (1, 2, 3)]
    upright = [scans.turned_upright(placed.prose(writer), turns) for turns in (1, 2, 3)]
    return {
        "prose, four pages": _pdf(flow),
        "hyphenated": _pdf([PlacedPage(placed.prose(writer, hyphenate=True))]),
        "two columns": _pdf([PlacedPage(placed.columns(writer)) for _ in range(2)]),
        "columns, right one drawn first": _pdf([_reversed(PlacedPage(placed.columns(writer)))]),
        "repeated paragraph": _pdf([PlacedPage(placed.repeated(writer))]),
        "table": _pdf([placed.table(writer)]),
        "pages rotated to be upright": _pdf(upright),
        "pages rotated to lie on their side": _pdf(turned),
        "cropped page": _pdf([scans.cropped(PlacedPage(placed.prose(writer)), 40, 50)]),
    }


def ocr_cases(engine: str = _ENGINE) -> dict[str, Case]:
    """Scans."""
    writer = Writer(2)
    prose, columns = (
        scans.scan(placed.prose(writer)),
        scans.scan(placed.columns(writer)),
    )
    skewed = scans.skewed(scans.scan(placed.prose(writer, paragraphs=3)), 2.5)
    side = scans.on_its_side(scans.scan(placed.prose(writer, paragraphs=4, size=20)))
    return {
        "scanned PDF": _scans([prose, columns], engine, scans.pdf_of_scans),
        "TIFF": _scans([prose], engine, scans.tiff_of),
        "skewed scan": _scans([skewed], engine, scans.tiff_of),
        "scan on its side": _scans([side], engine, scans.tiff_of),
    }


def overlaps(case: Case) -> list[float]:
    """The IoU of each chunk on each page that it is on."""
    ocr = None if case.engine is None else build_recogniser(OcrSettings(engine=case.engine))
    document = extract(io.BytesIO(case.data), ocr=ocr)
    chunks = chunk(document, tokenizer=load_tokenizer("minilm"), size=_TOKENS, overlap=10)
    found: list[float] = []
    for number, words in enumerate(case.pages, start=1):
        found += _on_page(case.data, document, chunks, number, words)
    return found


def _on_page(
    data: bytes, document: Document, chunks: Sequence[Chunk], number: int, words: Words
) -> Iterator[float]:
    page = document.pages[number - 1]
    text = document.text[page.start : page.end]
    ranges = tuple(
        (max(0, piece.start - page.start), min(piece.end, page.end) - page.start)
        for piece in chunks
        if piece.start < page.end and piece.end > page.start
    )
    packed = {words.page: words.packed for words in document.page_words}
    request = LocateRequest(
        media_type=document.media_type,
        page=number,
        text=text,
        ranges=ranges,
        words=packed.get(number),
    )
    located = page_views.locate(io.BytesIO(data), request)
    for (start, end), boxes in zip(ranges, located.places, strict=True):
        if true := _true_place(text, start, end, words):
            yield _iou(boxes, true)


def _true_place(text: str, start: int, end: int, words: Words) -> list[Box]:
    """One box per line of the words in this range."""
    letters = [(place, letter) for place, letter in enumerate(text.lower()) if letter.isalnum()]
    inside = {
        index
        for at, index in _word_of_letter("".join(letter for _, letter in letters), words)
        if start <= letters[at][0] < end
    }
    lines = groupby((words[index] for index in sorted(inside)), key=lambda word: word.line)
    return [_around([word.box for word in line]) for _, line in lines]


def _word_of_letter(page: str, words: Words) -> Iterator[tuple[int, int]]:
    """Place of a letter in the text, and its word: line by line, where lines are exact."""
    theirs = [
        (index, letter)
        for index, word in enumerate(words)
        for letter in word.text.lower()
        if letter.isalnum()
    ]
    seen: dict[str, int] = {}
    exact: list[tuple[int, int]] = []
    for _, line in groupby(theirs, key=lambda item: words[item[0]].line):
        members = list(line)
        own = "".join(letter for _, letter in members)
        at = page.find(own, seen.get(own, 0))  # equal lines are in order
        if at < 0:
            break
        seen[own] = at + len(own)
        exact += ((at + step, index) for step, (index, _) in enumerate(members))
    else:
        yield from exact
        return
    # With errors of recognition: a plain diff of all letters.
    other = "".join(letter for _, letter in theirs)
    diff = SequenceMatcher(None, page, other, autojunk=False)
    for first, second, length in diff.get_matching_blocks():
        yield from ((first + step, theirs[second + step][0]) for step in range(length))


def _around(boxes: Sequence[Box]) -> Box:
    sides = np.array(boxes)
    left, top, _, _ = sides.min(axis=0)
    _, _, right, bottom = sides.max(axis=0)
    return float(left), float(top), float(right), float(bottom)


def _iou(boxes: Sequence[Box], true: Sequence[Box]) -> float:
    mine, theirs = _raster(boxes), _raster(true)
    return float((mine & theirs).sum() / max(1, (mine | theirs).sum()))


def _raster(boxes: Sequence[Box]) -> np.ndarray[tuple[int, int], np.dtype[np.bool_]]:
    grid = np.zeros((_GRID, _GRID), np.bool_)
    for left, top, right, bottom in boxes:
        rows = slice(round(top * _GRID), max(round(bottom * _GRID), round(top * _GRID) + 1))
        grid[rows, round(left * _GRID) : round(right * _GRID)] = True
    return grid


def _pdf(pages: Sequence[PlacedPage]) -> Case:
    return Case(placed.pdf_of(pages), [list(page.words) for page in pages])


def _reversed(page: PlacedPage) -> PlacedPage:
    head, *lines = page.lines
    right = [line for line in lines if line.x > 300]
    left = [line for line in lines if line.x < 300]
    return PlacedPage([*right, head, *left])


def _scans(scans: Sequence[Scan], engine: str, make) -> Case:  # type: ignore[no-untyped-def]
    return Case(make(scans), [page.words for page in scans], engine)


def report(cases: Mapping[str, Case]) -> tuple[str, float]:
    """A table, and the share of chunks that are at their places."""
    rows, every = [], []
    for name, case in cases.items():
        found = overlaps(case)
        every += found
        right = sum(iou >= 0.5 for iou in found)
        rows.append(
            f"| {name} | {right} of {len(found)} | {np.mean(found):.2f} | {min(found):.2f} |"
        )
    share = sum(iou >= 0.5 for iou in every) / len(every)
    head = "| pages | chunks with IoU ≥ .5 | mean | least |\n|---|---|---|---|"
    return "\n".join([head, *rows, f"| all | {share:.1%} | {np.mean(every):.2f} | |"]), share


if __name__ == "__main__":
    for cases in (text_cases(), ocr_cases()):
        print(report(cases)[0])
