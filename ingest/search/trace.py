"""What a search notes on its way, so that it can be explained; taking notes costs microseconds."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal

from ingest.search.keyword_ranking import WordQuestion
from ingest.store.embeddings.model_changes import StoredModel
from ingest.store.search.keyword_search import IndexedChunks

Step = Literal["embed", "filter", "vectors", "words", "fuse", "load", "rerank", "explain", "total"]
"""Of a search. `vectors` and `words` run at once."""


@dataclass(slots=True, kw_only=True)
class Trace:
    seconds: dict[Step, float] = field(default_factory=dict)
    lacking: list[StoredModel] = field(default_factory=list)
    """Earlier models that could not be asked."""
    documents: int | None = None
    """Documents that pass the filter, if they were counted."""
    has_vector: bool = False
    unrelated: float = 0.0
    """The cosine of texts with nothing in common, by the model of the query's vector."""
    asked: WordQuestion | None = None
    chunks: IndexedChunks = field(default_factory=IndexedChunks)
    """The terms of what the hits are chosen from; read for an explanation only."""
    by_vectors: int = 0
    """Chunks that the last ranking had by this half."""
    by_words: int = 0
    below_min_score: int = 0

    @contextmanager
    def timed(self, step: Step) -> Iterator[None]:
        """Add the time that the block takes."""
        started = time.perf_counter()
        try:
            yield
        finally:
            taken = time.perf_counter() - started
            self.seconds[step] = self.seconds.get(step, 0.0) + taken
