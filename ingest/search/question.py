"""What a search is asked, and what it answers."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from ingest.errors import Transient
from ingest.search.explanation import SearchExplanation
from ingest.search.fusion import Weights
from ingest.search.scores import MinScore
from ingest.store.embeddings.model_changes import StoredModel
from ingest.store.search.hits import SearchHit

Mode = Literal["hybrid", "vector", "keyword"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    text: str
    mode: Mode = "hybrid"
    limit: int = 10
    min_score: MinScore = field(default_factory=MinScore)
    collapse: bool = True
    """Whether chunks that say the same become one hit."""
    per_document: int | None = None
    """Most hits of one document."""
    diversity: float = 0.0
    """0 to 1, see choose.diverse."""
    weights: Weights = field(default_factory=Weights)
    rerank: bool = True
    """Whether to rerank, if there is a reranker."""
    explain: bool = False
    """Whether the answer says why each hit is where it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    hits: Sequence[SearchHit]
    """Best first. A score is the cosine similarity (`vector`), BM25 (`keyword`), or 0 to 1 by both
    (`hybrid`)."""
    lacks_vector: Transient | None = None
    """Why a hybrid search went by words alone; its scores are those of `keyword`."""
    lacks_models: Sequence[StoredModel] = ()
    """Earlier models that could not be asked: their documents were found by words, and by the new
    vectors that they have already."""
    reranked: bool | None = None
    """False: the hits are as ranked before, because the reranker failed; None: not asked."""
    rerank_failure: Transient | None = None
    explanation: SearchExplanation | None = None
