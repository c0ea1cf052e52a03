"""The Cranfield collection: 1,400 abstracts, 225 questions, and judgements of the answers."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_FIELD: Final = re.compile(r"\.([TABW])\s*")
_RECORD: Final = re.compile(r"(?m)^\.I ")
_SOURCE: Final = -1
"""The code of the paper that a question came from."""
_BEST, _OF_NO_INTEREST = 1, 5


@dataclass(frozen=True, slots=True)
class Question:
    text: str
    gains: Mapping[int, int]
    """Gain of each document that answers it: 4 for a complete answer, down to 1."""
    source: int | None
    """The document that the question was taken from; `gains` contains it with 4."""

    def without_source(self) -> "Question":
        """The question, not counting the document it was taken from as an answer."""
        gains = {id: gain for id, gain in self.gains.items() if id != self.source}
        return Question(self.text, gains, None)


@dataclass(frozen=True, slots=True)
class Collection:
    documents: Mapping[int, str]
    """Text by number; those without text are left out."""
    questions: Sequence[Question]


def load(folder: Path) -> Collection:
    """Read `cran.all.1400`, `cran.qry` and `cranqrel`.

    Judgements identify a question by its place in the file, not by its `.I` number.
    """
    documents = {number: text for number, text in _records(folder / "cran.all.1400") if text}
    codes: dict[int, dict[int, int]] = {}
    for line in (folder / "cranqrel").read_text().splitlines():
        question, document, code = map(int, line.split())
        codes.setdefault(question, {})[document] = code
    texts = [text for _, text in _records(folder / "cran.qry")]
    questions = [_question(text, codes.get(place, {})) for place, text in enumerate(texts, start=1)]
    return Collection(documents, questions)


def _records(file: Path) -> Iterator[tuple[int, str]]:
    """The number and the text (field .W) of each record."""
    for record in _RECORD.split(file.read_text())[1:]:
        number, _, rest = record.partition("\n")
        yield int(number), _text(rest)


def _text(record: str) -> str:
    lines: list[str] = []
    field = None
    for line in record.splitlines():
        # A line of the text may look like a field name, but the text is the last field.
        if field != "W" and (found := _FIELD.fullmatch(line)):
            field = found[1]
        elif field == "W":
            lines.append(line)
    return "\n".join(lines).strip()


def _question(text: str, codes: Mapping[int, int]) -> Question:
    sources = [document for document, code in codes.items() if code == _SOURCE]
    gains = {
        document: _OF_NO_INTEREST - (_BEST if code == _SOURCE else code)
        for document, code in codes.items()
        if code < _OF_NO_INTEREST
    }
    return Question(text, gains, sources[0] if sources else None)
