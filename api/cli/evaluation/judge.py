"""Judges the hits of a search by the targets of its question.

What is ranked depends on the targets: documents (each by its best chunk), pages, or chunks.
Denominators come from the judgements alone: an answer that was never found, or never uploaded,
counts as missed.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, Final
from urllib.parse import unquote

from api.cli.evaluation.collection_files import normal_id
from api.cli.evaluation.measures import ndcg, reciprocal_rank
from api.cli.evaluation.questions import Question, Target
from ingest.search.quotes import has_quote

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
    open_targets = set(answers)
    gains: list[float] = []
    found: list[int] = []
    names = []
    for unit, alternatives in _units(answers, hits):
        reached = {target for target in open_targets if _is_at(target, alternatives)}
        open_targets -= reached
        gains.append(max((target.gain for target in reached), default=0.0))
        found.append(len(reached))
        names.append(f"{unit} ✓" if reached else unit)
    measures = {
        "ndcg@10": ndcg(gains, [target.gain for target in answers]),
        "mrr": reciprocal_rank(gains),
        "hit@1": float(bool(gains) and gains[0] > 0),
        **{f"recall@{k}": sum(found[:k]) / len(answers) for k in RECALL_DEPTHS if k <= depth},
    }
    return Judged(measures=measures, ranking=names)


def _units(answers: Iterable[Target], hits: Sequence[Hit]) -> Iterator[tuple[str, list[Hit]]]:
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
            yield name, [hit, *({**hit, **other} for other in hit.get("duplicates", ()))]


def _is_at(target: Target, hits: Iterable[Hit]) -> bool:
    return any(
        (target.document is None or normal_id(target.document) in _names(hit))
        and (target.page is None or _has_page(hit, target.page))
        and (target.quote is None or has_quote(hit["content"], target.quote))
        for hit in hits
    )


def _names(hit: Hit) -> set[str]:
    """What a judgement may call the document: ids, its uri, its file name, without suffix too."""
    uri = hit["uri"]
    path = PurePosixPath(uri)
    without_suffix = uri.removesuffix(path.suffix)
    names = {uri, path.name, without_suffix, path.stem, unquote(path.stem)}
    return {normal_id(name) for name in names} | {hit["documentId"], hit["knowledgeSourceId"]}


def _has_page(hit: Hit, page: int) -> bool:
    first = hit["page"]
    return first is not None and first <= page <= (hit["pageEnd"] or first)
