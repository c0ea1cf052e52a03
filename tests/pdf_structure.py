"""How well the structure of PDFs comes out: tables and reading order.

Usage: python -m tests.pdf_structure [--show CASE]

Tables and reading order are measured on generated pages whose truth is known (pdf_structure_cases;
needs reportlab, which is not among the project's dependencies). Tables: F1 of adjacent cells, which
is the measure of ICDAR 2013. Order: share of consecutive pieces of the truth that follow each other
in the result. For headings see pdf_headings.
"""

import argparse
import io
import logging
import re
import warnings
from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import pairwise

from ingest.formats.registry import extract
from tests.pdf_made_up import Table
from tests.pdf_structure_cases import Case, cases

_RULE = re.compile(r"\|(?:---\|)+")

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


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--show", metavar="CASE", help="print what came out of these")
    arguments = parser.parse_args()
    logging.disable()
    warnings.simplefilter("ignore")
    measure_cases(arguments.show)


if __name__ == "__main__":
    main()
