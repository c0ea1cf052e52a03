"""How well the structure of PDFs comes out: tables, reading order, headings.

Usage: python -m tests.pdf_structure [--headings FOLDER] [--show CASE]

Tables and reading order are measured on generated pages whose truth is known (pdf_structure_cases;
needs reportlab, which is not among the project's dependencies). Tables: F1 of adjacent cells, which
is the measure of ICDAR 2013. Order: share of consecutive pieces of the truth that follow each other
in the result. `--headings` measures against the outlines of the PDFs in a folder, which extraction
does not see then: a heading is right if its page or a neighbour has a bookmark of the same words.
"""

import argparse
import io
import logging
import re
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from unittest.mock import patch

from pypdfium2 import PdfDocument, PdfiumError

from ingest.errors import Permanent
from ingest.formats.pdf.document import _outline
from ingest.formats.registry import extract
from tests.pdf_structure_cases import Case, Table, cases

_HEADING = re.compile(r"^(#{1,6}) (.+)$", re.MULTILINE)
# Numbers before a heading, which outlines often lack.
_NUMBER = re.compile(
    r"^(?:(?:chapter|appendix|part|chapitre|annexe|kapitel) )?"
    r"(?:[A-Z]|[IVXLC]+|\d+)(?:[.-]\d+)*[.:]*\s+",
    re.IGNORECASE,
)
_NO_LETTERS = re.compile(r"[\W\d_]+")
_RULE = re.compile(r"\|(?:---\|)+")
_FEWEST = 5  # bookmarks of a file that is worth measuring

Relation = tuple[str, str, str]
"""Direction, text of a cell, text of the next cell in that direction."""


def f1(right: int, found: int, wanted: int) -> float:
    """Harmonic mean of precision and recall; 1 if nothing is wanted and nothing found."""
    return 2 * right / (found + wanted) if found + wanted else 1.0


def tables_in(markdown: str) -> list[Table]:
    """The tables of a Markdown text; the header is a row like any other."""
    found: list[Table] = []
    inside = False
    for line in markdown.splitlines():
        if _RULE.fullmatch(line):
            continue
        if line.startswith("| "):
            if not inside:
                found.append([])
            found[-1].append([cell.strip() for cell in line.strip().strip("|").split("|")])
        inside = line.startswith("| ")
    return found


def relations(tables: Sequence[Table]) -> Counter[Relation]:
    """All pairs of neighbouring cells with text; empty cells between them do not count."""
    pairs: Counter[Relation] = Counter()
    for rows in tables:
        width = max(map(len, rows), default=0)
        columns = [[row[place] for row in rows if place < len(row)] for place in range(width)]
        for direction, sequences in (("right", rows), ("below", columns)):
            for sequence in sequences:
                cells = [" ".join(cell.split()) for cell in sequence if cell.strip()]
                pairs.update((direction, *pair) for pair in pairwise(cells))
    return pairs


def table_score(case: Case, markdown: str) -> float:
    """F1 of the neighbouring cells."""
    found, wanted = relations(tables_in(markdown)), relations(case.tables)
    return f1((found & wanted).total(), found.total(), wanted.total())


def order_score(case: Case, markdown: str) -> float:
    """Share of consecutive pieces of the truth that follow each other in the text."""
    text = " ".join(markdown.replace("\\", "").split())
    places = [text.find(" ".join(piece.split())) for piece in case.order]
    pairs = list(pairwise(places))
    return sum(0 <= first < second for first, second in pairs) / len(pairs) if pairs else 1.0


def measure_cases(show: str | None) -> None:
    """Print a row per kind of page, and the means."""
    scores: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for case in cases():
        found = extract(io.BytesIO(case.content), name="case.pdf")
        text = found.text
        scores[case.name].append((table_score(case, text), order_score(case, text)))
        if show == case.name:
            print(text)
    print(f"{'kind':26} {'tables':>7} {'order':>7}")
    kinds = {name: _means(values) for name, values in scores.items()}
    for name, (tables, order) in kinds.items():
        print(f"{name:26} {tables:7.3f} {order:7.3f}")
    tables, order = _means(list(kinds.values()))
    print(f"{'mean of kinds':26} {tables:7.3f} {order:7.3f}")


def _means(values: Sequence[tuple[float, float]]) -> tuple[float, float]:
    count = len(values)
    return sum(tables for tables, _ in values) / count, sum(order for _, order in values) / count


def measure_headings(folder: Path, show: str | None) -> None:
    """Print precision and recall per file, and over all."""
    totals: list[tuple[int, int, int]] = []
    print(f"{'precision':>9} {'recall':>7} {'F1':>6} {'level':>6} {'wanted':>7}  file")
    level_right = level_all = 0
    for path in sorted(folder.rglob("*.pdf")):
        wanted = _bookmarks(path)
        if len(wanted) < _FEWEST:
            continue
        with patch("ingest.formats.pdf.document._outline", lambda *_: iter(())):
            try:
                with path.open("rb") as file:
                    document = extract(file, name=path.name)
            except Permanent:
                continue
        found = [
            (number, len(marks), _plain(title))
            for number, page in enumerate(document.pages)
            for marks, title in _HEADING.findall(document.text[page.start : page.end])
        ]
        hits = list(_hits(found, wanted))
        right, levels = len(hits), sum(_same_order(hits))
        level_right, level_all = level_right + levels, level_all + max(right - 1, 0)
        totals.append((right, len(found), len(wanted)))
        share = f"{levels / max(right - 1, 1):6.2f}"
        print(_figures(right, len(found), len(wanted), share) + f"  {path.name}")
        if show is not None and show in path.name:
            known = {title for _, _, title in wanted}
            for number, level, title in found:
                print(f"   {'ok ' if title in known else 'BAD'} p{number + 1} {level} {title[:80]}")
            seen = {title for _, _, title in found}
            for number, level, title in wanted:
                if title not in seen:
                    print(f"   MISSED p{number + 1} {level} {title[:80]}")
    right, found_all, wanted_all = (sum(column) for column in zip(*totals, strict=True))
    share = f"{level_right / max(level_all, 1):6.2f}"
    print(_figures(right, found_all, wanted_all, share) + "  all headings")
    mean = sum(f1(*total) for total in totals) / len(totals)
    print(f"{mean:24.3f}  mean F1 of {len(totals)} files")


def _bookmarks(path: Path) -> list[tuple[int, int, str]]:
    try:
        document = PdfDocument(path)
    except PdfiumError:
        return []
    try:
        marks = [(index, level, _plain(title)) for index, level, title in _outline(document, 10**6)]
    finally:
        document.close()
    return [mark for mark in marks if len(mark[2]) > 2]


def _hits(
    found: Sequence[tuple[int, int, str]], wanted: Sequence[tuple[int, int, str]]
) -> Iterator[tuple[int, int]]:
    """Level found and level wanted of each heading that has a bookmark."""
    left: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for number, level, title in wanted:
        left[title].append((number, level))
    for number, level, title in found:
        match = next((mark for mark in left[title] if abs(mark[0] - number) <= 1), None)
        if match is not None:
            left[title].remove(match)
            yield level, match[1]


def _same_order(hits: Sequence[tuple[int, int]]) -> Iterator[bool]:
    """Whether each heading is deeper, equal or higher than the one before it, as it should be."""
    for (level, wanted), (next_level, next_wanted) in pairwise(hits):
        found, right = next_level - level, next_wanted - wanted
        yield (found > 0, found < 0) == (right > 0, right < 0)


def _figures(right: int, found: int, wanted: int, level: str) -> str:
    precision, recall = right / max(found, 1), right / max(wanted, 1)
    return f"{precision:9.3f} {recall:7.3f} {f1(right, found, wanted):6.3f} {level} {wanted:7}"


def _plain(title: str) -> str:
    return _NO_LETTERS.sub("", _NUMBER.sub("", title)).lower()


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--headings", type=Path, metavar="FOLDER")
    parser.add_argument("--show", metavar="CASE", help="print what came out of these")
    arguments = parser.parse_args()
    logging.disable()
    warnings.simplefilter("ignore")
    if arguments.headings is None:
        measure_cases(arguments.show)
    else:
        measure_headings(arguments.headings, arguments.show)


if __name__ == "__main__":
    main()
