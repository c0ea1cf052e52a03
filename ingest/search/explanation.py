"""Why a search answered what it did: the shape of its explanation."""

from collections.abc import Sequence
from typing import Literal
from uuid import UUID

from ingest.store.view import View


class WordMatch(View):
    """A word of the query in a hit."""

    word: str
    weight: float | None
    """Its weight: the fewer chunks have it, the greater. Null for keys that are limited to
    collections, as `chunks`: it tells of documents that they may not see."""
    chunks: float | None
    """Chunks of the application with it, in any form; an estimate above 1,500 chunks."""
    title: int
    """Occurrences in title and path."""
    headings: int
    body: int
    other_spellings: int
    """Occurrences as a part or another spelling: `id` in `getUserById`, `Pruefung`."""
    bm25: float
    """What the word itself adds to the score."""
    bm25_by_grams: float
    """What runs of four letters add, by which compounds and inflections are found."""
    grams: list[str]
    """Those in the hit, if the word itself is not."""


class PairMatch(View):
    """Two words that follow each other in the query and in the hit."""

    words: list[str]
    times: int
    bm25: float


class HitExplanation(View):
    """Why a hit is where it is. The parts of `words` and `pairs` add up to its `bm25`."""

    chunk_id: UUID
    words: list[WordMatch]
    pairs: list[PairMatch]
    by_vectors: float | None
    """What its cosine gives to the fused score; null: not a hybrid search."""
    by_words: float | None
    """What its BM25 gives. Both add up to `score`, unless the hits were reranked."""
    first_place: int
    """Place among the distinct chunks, before reranking and diversity; from 1."""
    reranked_place: int | None
    """Place after reranking; null: not reranked."""
    shared_sentence: str | None
    """The sentence by which its duplicates count as the same; null: it has none."""


class ReadQuery(View):
    """The query as the search by words reads it."""

    words: list[str]
    phrases: list[list[str]]
    """Every hit has one of each group."""
    excluded: list[str]


class Statistics(View):
    """What word weights come from; null for keys that are limited to collections."""

    chunks: float
    """Of the application; an estimate if `sampled` is less."""
    sampled: int
    usual_length: float
    """Mean words of a chunk's text."""
    languages: list[str]
    """Of the documents, ISO 639-1: the query is read in each."""
    has_grams: bool
    """Whether words are also found by runs of four letters, as in all languages but English."""


class ExplainedModel(View):
    provider: str
    name: str
    dimension: int


class EffectiveWeights(View):
    """Shares of the halves in the fused score; they add up to 1."""

    vector: float
    keyword: float


class Milliseconds(View):
    """Time of each step. `vectors` and `words` run at once, so `total` may be less than the sum."""

    embed: float = 0.0
    filter: float = 0.0
    """To find the documents that pass the filter."""
    vectors: float = 0.0
    words: float = 0.0
    fuse: float = 0.0
    """To score what only one half found by the other half too."""
    load: float = 0.0
    rerank: float = 0.0
    explain: float = 0.0
    total: float = 0.0


class SearchExplanation(View):
    searched_by: Sequence[Literal["vectors", "words"]]
    milliseconds: Milliseconds
    embedding_model: ExplainedModel | None
    weights: EffectiveWeights | None
    """Null: not a hybrid search."""
    query: ReadQuery | None
    """Null: not searched by words."""
    statistics: Statistics | None
    passing_documents: int | None
    """Documents that pass the filter; null: no filter, or so many that candidates are checked."""
    found_by_vectors: int
    """Chunks that were ranked; the others of the application were too far away."""
    found_by_words: int
    below_min_score: int
    """Chunks left out by `minScore`."""
    collapsed: int
    """Chunks left out because they say the same as a better one."""
    beyond_per_document: int
    """Chunks left out by `perDocument`."""
    rerank_candidates: int | None
    """Chunks that the reranker orders; null: not asked."""
    hits: list[HitExplanation]
    """In the order of the hits."""
