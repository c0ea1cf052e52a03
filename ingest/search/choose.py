"""From ranked candidates to hits: what says the same becomes one hit, and no document has too many.

candidates ─► load in parts ─► collapse ─► (rerank) ─► per document ─► (diversity) ─► hits
"""

from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final
from uuid import UUID

from ingest.search.matched_text import MatchedText
from ingest.search.near_duplicates import ComparedText
from ingest.search.scores import Candidate
from ingest.store.search.hits import Duplicate, SearchHit, StoredChunk

_MOST_DUPLICATES: Final = 100
"""Duplicates of a hit that are named; the others are only counted."""

Load = Callable[[Sequence[UUID]], Awaitable[list[StoredChunk]]]


@dataclass(slots=True, kw_only=True)
class Choice:
    """A chunk that may become a hit."""

    candidate: Candidate
    chunk: StoredChunk
    text: ComparedText
    duplicates: list[StoredChunk] = field(default_factory=list)
    duplicate_count: int = 0
    rerank_score: float | None = None

    @property
    def score(self) -> float:
        return self.candidate.score if self.rerank_score is None else self.rerank_score

    def add_duplicate(self, chunk: StoredChunk) -> None:
        self.duplicate_count += 1
        if len(self.duplicates) < _MOST_DUPLICATES:
            self.duplicates.append(chunk)


@dataclass(slots=True, kw_only=True)
class Choices:
    """Distinct chunks, best first."""

    kept: list[Choice] = field(default_factory=list)
    lacks_deleted: bool = False
    """Whether candidates were deleted meanwhile."""
    collapsed: int = 0
    """Candidates that say the same as a better one."""
    beyond_per_document: int = 0


async def distinct(
    candidates: Sequence[Candidate],
    load: Load,
    query: MatchedText,
    *,
    wanted: int,
    collapse: bool,
    per_document: int | None,
) -> Choices:
    """Up to `wanted` chunks, of which no two say the same, nor more than `per_document` are of a
    document. Loads only as many candidates as that takes.
    """
    choices = Choices()
    of_document: Counter[UUID] = Counter()
    for part in _parts(candidates, wanted):
        chunks = {chunk.chunk_id: chunk for chunk in await load([one.id for one in part])}
        for candidate in part:
            chunk = chunks.get(candidate.id)
            if chunk is None:
                choices.lacks_deleted = True
                continue
            choice = Choice(
                candidate=candidate, chunk=chunk, text=ComparedText(chunk.content, query)
            )
            same = collapse and next(
                (kept for kept in choices.kept if kept.text.is_same(choice.text)), None
            )
            if same:
                same.add_duplicate(chunk)
                choices.collapsed += 1
            elif per_document is not None and of_document[chunk.document_id] >= per_document:
                choices.beyond_per_document += 1
            elif len(choices.kept) < wanted:
                of_document[chunk.document_id] += 1
                choices.kept.append(choice)
        if len(choices.kept) >= wanted:
            break
    return choices


def _parts(candidates: Sequence[Candidate], wanted: int) -> Iterator[Sequence[Candidate]]:
    """Few, because usually nothing is left out; then ever more."""
    start, size = 0, wanted + wanted // 4
    while start < len(candidates):
        yield candidates[start : start + size]
        start, size = start + size, 2 * size


def first_of_documents(choices: Sequence[Choice], most: int) -> list[Choice]:
    """The choices without those that are beyond the first `most` of their document."""
    seen: Counter[UUID] = Counter()
    kept = []
    for choice in choices:
        seen[choice.chunk.document_id] += 1
        if seen[choice.chunk.document_id] <= most:
            kept.append(choice)
    return kept


def diverse(choices: Sequence[Choice], *, diversity: float, limit: int) -> list[Choice]:
    """Maximal marginal relevance: each next choice is good and unlike those before it.

    `diversity`: 0 keeps the order, 1 looks at the difference alone, beyond the first.
    """
    best = max((choice.score for choice in choices), default=0.0)
    least = min((choice.score for choice in choices), default=0.0)
    spread = best - least or 1.0
    nearest = [0.0] * len(choices)  # similarity to the most similar one taken so far
    left = list(range(len(choices)))
    taken: list[Choice] = []
    while left and len(taken) < limit:
        place = max(
            left,
            key=lambda n: (
                (1 - diversity) * (choices[n].score - least) / spread - diversity * nearest[n],
                -n,
            ),
        )
        left.remove(place)
        taken.append(choices[place])
        for n in left:
            nearest[n] = max(nearest[n], choices[n].text.similarity(choices[place].text))
    return taken


def as_hit(choice: Choice, query: MatchedText) -> SearchHit:
    chunk, candidate = choice.chunk, choice.candidate
    sections = chunk.sections
    best = 0
    if len(sections) > 1:
        best = query.best_section(list(chunk.section_texts()), sections)
    return SearchHit(
        **{name: getattr(chunk, name) for name in _SHOWN},
        sections=sections,
        score=choice.score,
        cosine=candidate.cosine,
        bm25=candidate.bm25,
        rerank_score=choice.rerank_score,
        vector_rank=candidate.vector_rank,
        keyword_rank=candidate.keyword_rank,
        section=sections[best],
        matched_terms=query.terms(f"{chunk.content} {' '.join(chunk.headings)} {chunk.title}"),
        duplicate_count=choice.duplicate_count,
        duplicates=[Duplicate.model_validate(same) for same in choice.duplicates],
    )


_SHOWN: Final = tuple(
    name for name in StoredChunk.__dataclass_fields__ if name not in ("next_sections",)
)
