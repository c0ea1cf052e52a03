"""Relevance judgements of test collections: which documents answer which query, and how well."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, Literal

from api.cli.evaluation.collection_files import read_text
from api.cli.output import CommandError
from ingest.search.evaluation.questions import normal_id

Grades = Literal["auto", "gain", "cranfield"]
"""`gain`: higher is better, as in TREC. `cranfield`: 1 is the best, 4 the least, 5 none, and -1 is
the document that the query was written from. `auto`: `cranfield` if three columns contain -1."""

Judgements = Mapping[str, Mapping[str, float]]
"""Gain by query and document; 0 and below: not relevant."""

_CRANFIELD_SOURCE: Final = -1
_CRANFIELD_BEST, _CRANFIELD_NONE = 1, 5


def read_qrels(file: Path, grades: Grades = "auto") -> Judgements:
    """Read judgements in the columns of TREC, BEIR, SMART or TIME, or in the text of LISA or NPL.

    Raises CommandError.
    """
    text = read_text(file)
    if re.search(r"(?mi)^\d+ Relevant Refs", text):
        rows = list(_lisa(text))
    elif re.search(r"(?m)^\s*/\s*$", text):
        rows = list(_npl(text))
    else:
        rows = list(_columns([line.split() for line in text.split("\n") if line.strip()], grades))
    judgements: dict[str, dict[str, float]] = {}
    for query, document, gain in rows:
        judgements.setdefault(normal_id(query), {})[normal_id(document)] = gain
    if not any(gain > 0 for judged in judgements.values() for gain in judged.values()):
        raise CommandError(f"{file}: no document is judged relevant")
    return judgements


Row = tuple[str, str, float]


def _columns(lines: Sequence[Sequence[str]], grades: Grades) -> Iterator[Row]:
    if lines and len(lines[0]) >= 3 and not _is_number(lines[0][-1]):
        lines = lines[1:]  # names of columns
    widths = {len(line) for line in lines}
    if widths == {4} and all("." in line[3] or line[2] == line[3] == "0" for line in lines):
        # SMART: a last column that is no judgement. The third is 0 if nothing is graded.
        is_graded = any(line[2] != "0" for line in lines)
        yield from ((line[0], line[1], _grade(line[2]) if is_graded else 1) for line in lines)
    elif widths == {4}:
        is_cranfield = grades == "cranfield"
        yield from ((line[0], line[2], _gain(line[3], is_cranfield)) for line in lines)
    elif widths == {3}:
        has_source = any(line[2] == str(_CRANFIELD_SOURCE) for line in lines)
        is_cranfield = grades == "cranfield" or (grades == "auto" and has_source)
        yield from ((line[0], line[1], _gain(line[2], is_cranfield)) for line in lines)
    else:  # TIME: a query and all its documents
        yield from ((line[0], document, 1) for line in lines for document in line[1:])


def _lisa(text: str) -> Iterator[Row]:
    for query, documents in re.findall(
        r"(?mi)^Query (\d+)\s+\d+ Relevant Refs:?\s+([\d\s]*)", text
    ):
        yield from ((query, document, 1) for document in documents.split())


def _npl(text: str) -> Iterator[Row]:
    for part in re.split(r"(?m)^\s*/\s*$", text):
        query, *documents = part.split() or [""]
        yield from ((query, document, 1) for document in documents)


def _gain(grade: str, is_cranfield: bool) -> float:
    value = _grade(grade)
    if not is_cranfield:
        return value
    return _CRANFIELD_NONE - (_CRANFIELD_BEST if value == _CRANFIELD_SOURCE else value)


def _grade(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise CommandError(f"the grade {text} is not a number") from None


def _is_number(text: str) -> bool:
    return bool(re.fullmatch(r"[-+]?\d+(\.\d*)?", text))
