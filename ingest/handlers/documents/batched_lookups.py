"""Lookups that jobs make before they start, batched: one statement serves many jobs."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from ingest.postgres.batch_loader import BatchLoader
from ingest.postgres.database import Pool, is_database_unavailable, transaction
from ingest.store.documents import documents
from ingest.store.sources import sources
from ingest.store.sources.sources import SourceForJob

Text = tuple[UUID, bytes]
"""Application id and the hash of one of its texts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pacing:
    """When look-ups of vectors are made, so that a stream of files comes out in groups, which then
    also share the reservation of tokens, embedding and commit.
    """

    every: timedelta = timedelta(0)
    """The time between two look-ups."""
    enough: int | None = None
    """Files that do not wait any longer."""
    is_more_expected: Callable[[], bool] = lambda: True
    """Whether other files are being read; if not, none wait."""


AT_ONCE: Final = Pacing()


class BatchedLookups:
    """One per worker."""

    def __init__(self, pool: Pool, *, model_id: int, pacing: Pacing) -> None:
        self._pool = pool
        self._model_id = model_id
        self.sources = BatchLoader(self._sources, concerns_all=is_database_unavailable)
        self.vectors = BatchLoader(
            self._vectors,
            every=pacing.every,
            enough=pacing.enough,
            is_more_expected=pacing.is_more_expected,
            concerns_all=is_database_unavailable,
        )

    async def _sources(self, ids: Sequence[UUID]) -> Mapping[UUID, SourceForJob]:
        async with transaction(self._pool) as conn:
            return await sources.for_jobs(conn, ids)

    async def _vectors(self, wanted: Sequence[Text]) -> Mapping[Text, NDArray[np.float32]]:
        async with transaction(self._pool) as conn:
            return await documents.known_vectors(conn, wanted, model_id=self._model_id)
