"""Explains a search from the notes that it took on its way."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

import numpy as np

from ingest.analysis.question import KeywordQuestion, QuestionWord
from ingest.analysis.terms import GRAM, Terms, grams_of
from ingest.model import EmbeddingModel
from ingest.search.bm25 import Candidates, Formula
from ingest.search.bm25 import Statistics as Bm25Statistics
from ingest.search.choose import Choice, Choices
from ingest.search.explanation import (
    EffectiveWeights,
    ExplainedModel,
    HitExplanation,
    Milliseconds,
    PairMatch,
    ReadQuery,
    SearchExplanation,
    Statistics,
    WordMatch,
)
from ingest.search.fusion import Parts, Weights
from ingest.search.statistics import WordStatistics
from ingest.search.trace import Trace
from ingest.store.search.keyword_search import IndexedChunks

_MOST_CHARACTERS: Final = 300
"""Of a shared sentence."""

WordParts = tuple[list[WordMatch], list[PairMatch]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The hits, and what they were chosen from."""

    choices: Choices
    reranked: Sequence[Choice] | None
    """In the order of the reranker; None: not reranked."""
    best: Sequence[Choice]
    """The hits."""


def explain(
    found: Found,
    trace: Trace,
    *,
    weights: Weights,
    model: EmbeddingModel | None,
    rerank_candidates: int | None,
    is_limited: bool,
) -> SearchExplanation:
    """`is_limited`: the caller may see some collections only, so no statistics of all documents."""
    with trace.timed("explain"):
        hits = _hits(found, trace, weights, is_limited=is_limited)
    asked = trace.asked
    known = None if asked is None or is_limited else asked.known
    is_hybrid = trace.has_vector and asked is not None
    half_weights = EffectiveWeights(vector=1 - weights.words(), keyword=weights.words())
    return SearchExplanation(
        searched_by=[
            *(["vectors"] if trace.has_vector else []),
            *(["words"] if asked is not None else []),
        ],
        milliseconds=Milliseconds(**{k: round(1000 * v, 3) for k, v in trace.seconds.items()}),
        embedding_model=None if model is None else ExplainedModel.model_validate(model),
        weights=half_weights if is_hybrid else None,
        query=None if asked is None else _query(asked.question),
        statistics=None if known is None else _statistics(known),
        passing_documents=trace.documents,
        found_by_vectors=trace.by_vectors,
        found_by_words=trace.by_words,
        below_min_score=trace.below_min_score,
        collapsed=found.choices.collapsed,
        beyond_per_document=found.choices.beyond_per_document,
        rerank_candidates=rerank_candidates,
        hits=hits,
    )


def _hits(
    found: Found, trace: Trace, weights: Weights, *, is_limited: bool
) -> list[HitExplanation]:
    asked = trace.asked
    parts: Parts | None = None
    by_words: dict[UUID, WordParts] = {}
    if asked is not None:
        by_words = words_of_chunks(
            asked.question, asked.statistics, trace.chunks, tells_weights=not is_limited
        )
        if trace.has_vector:
            parts = Parts(asked.whole_weight, weights, unrelated=trace.unrelated)
    first = _places(found.choices.kept)
    reranked = {} if found.reranked is None else _places(found.reranked)
    hits = []
    for choice in found.best:
        id, candidate = choice.chunk.chunk_id, choice.candidate
        words, pairs = by_words.get(id, ([], []))
        sentence = choice.text.best_sentence if choice.duplicate_count else ""
        hits.append(
            HitExplanation(
                chunk_id=id,
                words=words,
                pairs=pairs,
                by_vectors=parts and parts.by_meaning(candidate.cosine or 0.0),
                by_words=parts and parts.by_words(candidate.bm25 or 0.0),
                first_place=first[id],
                reranked_place=reranked.get(id),
                shared_sentence=sentence[:_MOST_CHARACTERS] or None,
            )
        )
    return hits


def _places(choices: Sequence[Choice]) -> dict[UUID, int]:
    return {choice.chunk.chunk_id: place for place, choice in enumerate(choices, start=1)}


def words_of_chunks(
    question: KeywordQuestion,
    statistics: Bm25Statistics,
    chunks: IndexedChunks,
    *,
    tells_weights: bool = True,
) -> dict[UUID, WordParts]:
    """By chunk, the words and pairs of the question in it, with their parts of its BM25."""
    if not chunks.ids:
        return {}
    formula = Formula(Candidates(chunks.words, chunks.grams), question, statistics)
    found: dict[UUID, WordParts] = {id: ([], []) for id in chunks.ids}
    for number, word in enumerate(question.words):
        own, by_grams = formula.of_word(number)
        by_grams = np.zeros(formula.size) if by_grams is None else by_grams
        times = formula.rows.times(formula.places[number])
        for at in np.flatnonzero(own + by_grams > 0).tolist():
            title, headings, body, other = times[at].tolist()
            match = WordMatch(
                word=word.text,
                weight=formula.weights[number] if tells_weights else None,
                chunks=statistics.found[number] if tells_weights else None,
                title=title,
                headings=headings,
                body=body,
                other_spellings=other,
                bm25=float(own[at]),
                bm25_by_grams=float(by_grams[at]),
                grams=[] if own[at] > 0 else _shared_grams(word, chunks.grams[at]),
            )
            found[chunks.ids[at]][0].append(match)
    for first, second in question.pairs:
        added = formula.of_pair((first, second))
        counted = formula.rows.count_pairs(formula.places[first], formula.places[second])
        for at in np.flatnonzero(added > 0).tolist():
            pair = PairMatch(
                words=[question.words[first].text, question.words[second].text],
                times=int(counted[at]),
                bm25=float(added[at]),
            )
            found[chunks.ids[at]][1].append(pair)
    return found


def _shared_grams(word: QuestionWord, found: Terms) -> list[str]:
    grams = dict.fromkeys(grams_of(word.text, shortest=GRAM))
    shared = np.isin(word.grams, found).tolist()
    return [gram[1:] for gram, is_shared in zip(grams, shared, strict=True) if is_shared]


def _query(question: KeywordQuestion) -> ReadQuery:
    return ReadQuery(
        words=[word.text for word in question.words],
        phrases=[
            [" ".join(word.text for word in phrase) for phrase in group]
            for group in question.phrases
        ],
        excluded=[" ".join(word.text for word in phrase) for phrase in question.excluded],
    )


def _statistics(known: WordStatistics) -> Statistics:
    return Statistics(
        chunks=known.chunks,
        sampled=known.sampled,
        usual_length=known.usual_length,
        languages=list(known.languages),
        has_grams=known.has_grams,
    )
