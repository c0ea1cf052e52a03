"""How well the headings of PDFs are found, measured against outlines that extraction does not see.

Usage: python -m tests.pdf_headings FOLDER [--show FILE]

A heading is right if its page or a neighbour has a bookmark of the same words. Many outlines end
above the deepest headings. The last row leaves out what is below: not bookmarked, larger than the
text and smaller than all that is bookmarked, or with a number of more parts.
"""

import argparse
import logging
import re
import warnings
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

from pypdfium2 import PdfDocument, PdfiumError

from ingest.errors import Permanent
from ingest.formats.pdf import document as pdf
from ingest.formats.pdf.layout.headings import _body_size
from ingest.formats.pdf.layout.text_lines import PageLines
from ingest.formats.registry import extract

# Numbers before a heading, which outlines often lack.
_NUMBER = re.compile(
    r"^(?:(?:chapter|appendix|part|chapitre|annexe|kapitel) )?"
    r"(?:[A-Z]|[IVXLC]+|\d+)((?:[.-]\d+)*)[.:]*\s+",
    re.IGNORECASE,
)
_NO_LETTERS = re.compile(r"[\W\d_]+")
_FEWEST = 5  # bookmarks of a file that is worth measuring


class Heading(NamedTuple):
    """A heading that was found, or a bookmark."""

    page: int
    level: int
    title: str
    size: float = 0.0
    """Font size; 0 of a bookmark."""

    @property
    def keys(self) -> set[str]:
        """Its letters, with and without what may be its number."""
        texts = self.title, _NUMBER.sub("", self.title)
        return {_NO_LETTERS.sub("", text).lower() for text in texts} - {""}

    @property
    def is_text(self) -> bool:
        """Whether it has letters to compare."""
        return max(map(len, self.keys), default=0) > 1

    @property
    def depth(self) -> int:
        """Dots in its number."""
        number = _NUMBER.match(self.title)
        return number.group(1).count(".") if number else 0


Hits = list[tuple[Heading, Heading]]
"""Headings with their bookmarks."""


class Counts(NamedTuple):
    """Headings of one file."""

    right: int
    found: int
    wanted: int
    below: int
    """Found and not right, because the outline ends above them."""

    @property
    def figures(self) -> str:
        """Precision, recall, F1."""
        precision, recall = self.right / max(self.found, 1), self.right / max(self.wanted, 1)
        f1 = 2 * self.right / max(self.found + self.wanted, 1)
        return f"{precision:9.3f} {recall:7.3f} {f1:6.3f}"


def measure(folder: Path, show: str | None) -> None:
    """Print precision, recall, F1 and the share of right levels per file, and over all."""
    totals: list[Counts] = []
    levels: list[bool] = []
    print(f"{'precision':>9} {'recall':>7} {'F1':>6} {'level':>6} {'wanted':>7}  file")
    for path in sorted(folder.rglob("*.pdf")):
        wanted = _bookmarks(path)
        if len(wanted) < _FEWEST:
            continue
        read = _read(path)
        if read is None:
            continue
        found, body = read
        hits = _hits(found, wanted)
        below = _below(found, hits, body)
        counts = Counts(len(hits), len(found), len(wanted), len(below))
        totals.append(counts)
        same = list(_same_order(hits))
        levels += same
        share = f"{sum(same) / max(len(same), 1):6.2f}"
        print(f"{counts.figures} {share} {counts.wanted:7}  {path.name}")
        if show is not None and show in path.name:
            _print_faults(found, wanted, hits, below)
    right, found_all, wanted_all, below_all = (sum(column) for column in zip(*totals, strict=True))
    every = Counts(right, found_all, wanted_all, below_all)
    share = f"{sum(levels) / max(len(levels), 1):6.2f}"
    print(f"{every.figures} {share} {wanted_all:7}  all headings of {len(totals)} files")
    precision = sum(each.right / max(each.found, 1) for each in totals) / len(totals)
    recall = sum(each.right / each.wanted for each in totals) / len(totals)
    print(f"{precision:9.3f} {recall:7.3f} {'':21}  mean of the files")
    judged = Counts(right, found_all - below_all, wanted_all, 0)
    print(f"{judged.figures} {'':14}  all headings without {below_all} below the outlines")


def _read(path: Path) -> tuple[list[Heading], float] | None:
    """Headings, and the font size of the text."""
    kept: list[PageLines] = []
    finish = pdf._finish

    def keep(document: PdfDocument, pages: list[PageLines], unread: set[int]) -> None:
        finish(document, pages, unread)
        kept.extend(pages)

    with (
        patch.object(pdf, "_outline", lambda *_: iter(())),
        patch.object(pdf, "_finish", keep),
        path.open("rb") as file,
    ):
        try:
            extract(file, name=path.name)
        except Permanent:
            return None
    lines = [line for page in kept if page.has_places for line in page.lines]
    found = (
        Heading(number, line.level, line.text, line.size)
        for number, page in enumerate(kept)
        for line in page.lines
        if line.level and line.text
    )
    return [heading for heading in found if heading.is_text], _body_size(lines) or 0.0


def _bookmarks(path: Path) -> list[Heading]:
    try:
        document = PdfDocument(path)
    except PdfiumError:
        return []
    try:
        marks = [Heading(*mark) for mark in pdf._outline(document, 10**6)]
    finally:
        document.close()
    return [mark for mark in marks if mark.is_text]


def _hits(found: Sequence[Heading], wanted: Sequence[Heading]) -> Hits:
    left: dict[str, list[Heading]] = defaultdict(list)
    for mark in wanted:
        for key in mark.keys:
            left[key].append(mark)
    hits: Hits = []
    used = set[int]()
    for heading in found:
        marks = (mark for key in heading.keys for mark in left[key])
        near = (mark for mark in marks if abs(mark.page - heading.page) <= 1)
        match = next((mark for mark in near if id(mark) not in used), None)
        if match is not None:
            used.add(id(match))
            hits.append((heading, match))
    return hits


def _below(found: Sequence[Heading], hits: Hits, body: float) -> set[int]:
    """Ids of headings that are below all that the outline lists."""
    right = {id(heading) for heading, _ in hits}
    sizes, depths = (
        sorted(values) for values in ([h.size for h, _ in hits], [h.depth for h, _ in hits])
    )
    some = len(hits) // 20  # may be right by chance
    smallest, deepest = (sizes[some], depths[-1 - some]) if hits else (0.0, 9)
    return {
        id(heading)
        for heading in found
        if id(heading) not in right
        and (1.05 * body < heading.size < 0.95 * smallest or heading.depth > deepest)
    }


def _same_order(hits: Hits) -> Iterator[bool]:
    """Whether each heading is deeper, equal or higher than the one before it, as it should be."""
    for (heading, mark), (next_heading, next_mark) in pairwise(hits):
        found, right = next_heading.level - heading.level, next_mark.level - mark.level
        yield (found > 0, found < 0) == (right > 0, right < 0)


def _print_faults(
    found: Sequence[Heading], wanted: Sequence[Heading], hits: Hits, below: set[int]
) -> None:
    right = {id(part) for hit in hits for part in hit}
    for heading in found:
        word = "ok" if id(heading) in right else "below" if id(heading) in below else "WRONG"
        print(f"   {word} p{heading.page + 1} {heading.level} {heading.size:.1f} {heading.title}")
    for mark in wanted:
        if id(mark) not in right:
            print(f"   MISSED p{mark.page + 1} {mark.level} {mark.title}")


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument(
        "--show", metavar="FILE", help="print right, wrong and missed headings of these files"
    )
    arguments = parser.parse_args()
    logging.disable()
    warnings.simplefilter("ignore")
    measure(arguments.folder, arguments.show)


if __name__ == "__main__":
    main()
