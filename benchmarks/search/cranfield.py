"""The Cranfield collection: 1,400 abstracts, 225 questions, and judgements of the answers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from api.cli.evaluation.collection_files import read_records
from api.cli.evaluation.qrels import read_qrels
from ingest.search.evaluation.measures import Interval, bootstrap, ndcg, reciprocal_rank

_SOURCE: Final = -1
"""The code of the paper that a question came from."""


@dataclass(frozen=True, slots=True)
class Question:
    text: str
    gains: Mapping[int, float]
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
    documents = {
        int(record.id): record.text
        for record in read_records(folder / "cran.all.1400")
        if record.text
    }
    codes = read_qrels(folder / "cranqrel", "gain")
    gains = read_qrels(folder / "cranqrel", "cranfield")
    queries = read_records(folder / "cran.qry")
    return Collection(
        documents,
        [
            _question(query.text, gains.get(str(place), {}), codes.get(str(place), {}))
            for place, query in enumerate(queries, start=1)
        ],
    )


def _question(text: str, gains: Mapping[str, float], codes: Mapping[str, float]) -> Question:
    sources = [int(document) for document, code in codes.items() if code == _SOURCE]
    answers = {int(document): gain for document, gain in gains.items() if gain > 0}
    return Question(text, answers, sources[0] if sources else None)


def measures(
    rankings: Sequence[Sequence[int]], questions: Sequence[Question]
) -> dict[str, Interval]:
    """nDCG@10, recall@10 and MRR of rankings of documents, over all questions with an answer."""
    series: dict[str, list[float]] = {"nDCG@10": [], "recall@10": [], "MRR": []}
    for ranking, one in zip(rankings, questions, strict=True):
        if one.gains:
            gains = [one.gains.get(document, 0) for document in ranking]
            series["nDCG@10"].append(ndcg(gains, list(one.gains.values())))
            series["recall@10"].append(sum(gain > 0 for gain in gains[:10]) / len(one.gains))
            series["MRR"].append(reciprocal_rank(gains))
    return bootstrap(series)
