"""Judges the hits of a search by the targets of its question.

What is ranked depends on the targets: documents (each by its best chunk), pages, or chunks.
Denominators come from the judgements alone: an answer that was never found, or never uploaded,
counts as missed.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath
from typing import Any, Final
from urllib.parse import unquote

from ingest.search.evaluation.measures import MAIN_MEASURE, ndcg, reciprocal_rank
from ingest.search.evaluation.questions import Question, Target, normal_id
from ingest.search.quotes import plain_words

Hit = Mapping[str, Any]

RECALL_DEPTHS: Final = (5, 10, 20, 50, 100)


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    measures: Mapping[str, float]
    """`ndcg@10`, `mrr`, `hit@1`, and `recall@5` … up to the depth asked for."""
    ranking: Sequence[str]
    """The names of what was found, best first; an answer ends with ` ✓`."""


def judge(question: Question, hits: Sequence[Hit], *, depth: int) -> Judged:
    answers = [target for target in question.targets if target.gain > 0]
    open_targets = {
        target: None if target.quote is None else _words(target.quote) for target in answers
    }
    gains: list[float] = []
    found: list[int] = []
    names = []
    for unit, texts in _units(answers, hits):
        reached = [
            target
            for target, quote in open_targets.items()
            if any(text.answers(target, quote) for text in texts)
        ]
        for target in reached:
            del open_targets[target]
        gains.append(max((target.gain for target in reached), default=0.0))
        found.append(len(reached))
        names.append(f"{unit} ✓" if reached else unit)
    measures = {
        MAIN_MEASURE: ndcg(gains, [target.gain for target in answers]),
        "mrr": reciprocal_rank(gains),
        "hit@1": float(bool(gains) and gains[0] > 0),
        **{f"recall@{k}": sum(found[:k]) / len(answers) for k in RECALL_DEPTHS if k <= depth},
    }
    return Judged(measures=measures, ranking=names)


class _Text:
    """A chunk that a hit stands for. What targets are compared with is computed once."""

    def __init__(self, hit: Hit) -> None:
        self._hit = hit

    def answers(self, target: Target, quote: str | None) -> bool:
        """`quote`: the words of the target's quote."""
        return (
            (target.document is None or normal_id(target.document) in self._names)
            and (target.page is None or self._has_page(target.page))
            and (quote is None or quote in self._words)
        )

    @cached_property
    def _names(self) -> set[str]:
        """What a judgement may call the document: ids, uri, file name, also without suffix."""
        uri = self._hit["uri"]
        path = PurePosixPath(uri)
        without_suffix = uri.removesuffix(path.suffix)
        names = {uri, path.name, without_suffix, path.stem, unquote(path.stem)}
        ids = {self._hit["documentId"], self._hit["knowledgeSourceId"]}
        return {normal_id(name) for name in names} | ids

    @cached_property
    def _words(self) -> str:
        return _words(self._hit["content"])

    def _has_page(self, page: int) -> bool:
        first = self._hit["page"]
        return first is not None and first <= page <= (self._hit["pageEnd"] or first)


def _words(text: str) -> str:
    return f" {plain_words(text)} "


def _units(answers: Iterable[Target], hits: Sequence[Hit]) -> Iterator[tuple[str, list[_Text]]]:
    """What is ranked, each once at its best place: its name, and the texts that it stands for."""
    by_chunk = any(target.quote is not None for target in answers)
    by_page = any(target.page is not None for target in answers)
    known = set()
    for hit in hits:
        name = hit["uri"]
        if (by_page or by_chunk) and hit["page"] is not None:
            name += f", page {hit['page']}"
        key = hit["chunkId"] if by_chunk else name
        if key not in known:
            known.add(key)
            # Texts that a search collapsed into this hit are found with it.
            same = ({**hit, **other} for other in hit.get("duplicates", ()))
            yield name, [_Text(hit), *map(_Text, same)]
