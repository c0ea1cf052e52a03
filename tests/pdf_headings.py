"""How well the headings of PDFs are found, measured against outlines that extraction does not see.

Usage: python -m tests.pdf_headings FOLDER [--show FILE]

A heading is right if its page or a neighbour has a bookmark of the same words; its parent is right
if the outline has it below the same bookmark. Many outlines end above the deepest headings, and
lack the title, the contents and the index. The last row leaves these out: not bookmarked, larger
than the text and smaller than all that is bookmarked, or with a number of more parts; the title on
the first page, and the usual names of such sections.
"""

import argparse
import logging
import re
import warnings
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

from pypdfium2 import PdfDocument, PdfiumError

from ingest.errors import Permanent
from ingest.formats.pdf import document as pdf
from ingest.formats.pdf.headings.mark import body_size
from ingest.formats.pdf.layout.text_lines import PageLines
from ingest.formats.registry import extract

# Numbers before a heading, which outlines often lack.
_NUMBER = re.compile(
    r"^(?:(?:chapter|appendix|part|chapitre|annexe|kapitel|cap[ií]tulo|capitolo|глава) )?"
    r"(?:[A-Z]|[IVXLC]+|\d+)((?:[.-]\d+)*)[.:]*\s+",
    re.IGNORECASE,
)
# Sections that many outlines lack.
_UNLISTED = frozenset(
    re.findall(
        r"\w+",
        "abstract contents tableofcontents listoftables listoffigures index references bibliography"
        " acknowledgements acknowledgments changehistory glossary preface"
        " inhaltsverzeichnis zusammenfassung literatur index résumé tabledesmatières bibliographie"
        " indice sommario bibliografia ringraziamenti índice resumen resumo sumário 目次 目录 摘要",
    )
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
    """Found and not right, but headings that outlines usually lack."""

    @property
    def figures(self) -> str:
        """Precision, recall, F1."""
        precision, recall = self.right / max(self.found, 1), self.right / max(self.wanted, 1)
        f1 = 2 * self.right / max(self.found + self.wanted, 1)
        return f"{precision:9.3f} {recall:7.3f} {f1:6.3f}"


def measure(folder: Path, show: str | None) -> None:
    """Print precision, recall, F1 and the share of right parents per file, and over all."""
    totals: list[Counts] = []
    levels: list[bool] = []
    print(f"{'precision':>9} {'recall':>7} {'F1':>6} {'parent':>6} {'wanted':>7}  file")
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
        same = list(_parents_right(found, wanted, hits))
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
    return [heading for heading in found if heading.is_text], body_size(lines) or 0.0


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
    largest = max((heading.size for heading in found if heading.page == 0), default=0.0)
    title = next((h for h in found if h.page == 0 and h.size == largest), None)
    return {
        id(heading)
        for heading in found
        if id(heading) not in right
        and (
            1.05 * body < heading.size < 0.95 * smallest
            or heading.depth > deepest
            or heading is title
            or heading.keys & _UNLISTED
        )
    }


def _parents_right(
    found: Sequence[Heading], wanted: Sequence[Heading], hits: Hits
) -> Iterator[bool]:
    """Whether each right heading is below the heading that the outline has it below.

    A heading that has none in the outline may be below the first one, the title.
    """
    mark_of = {id(heading): mark for heading, mark in hits}
    above_found, above_mark = _parents(found), _parents(wanted)
    for heading, mark in hits:
        parent, right = above_found[id(heading)], above_mark[id(mark)]
        if parent is None or right is None:
            yield right is None and (parent is None or parent is found[0])
        else:
            yield mark_of.get(id(parent)) is right


def _parents(headings: Sequence[Heading]) -> dict[int, Heading | None]:
    parents: dict[int, Heading | None] = {}
    above: list[Heading] = []
    for heading in headings:
        while above and above[-1].level >= heading.level:
            above.pop()
        parents[id(heading)] = above[-1] if above else None
        above.append(heading)
    return parents


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
