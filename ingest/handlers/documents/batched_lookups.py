"""Lookups that jobs make before they start, batched: one statement serves many jobs."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
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


class BatchedLookups:
    """One per worker."""

    def __init__(
        self,
        pool: Pool,
        *,
        model_id: int,
        every: timedelta = timedelta(0),
        enough: int | None = None,
    ) -> None:
        """`every`: the time between two look-ups of vectors, so that a stream of files comes out
        in groups, which then also share the reservation of tokens, embedding and commit.
        `enough`: files that do not wait any longer.
        """
        self._pool = pool
        self._model_id = model_id
        self.sources = BatchLoader(self._sources, concerns_all=is_database_unavailable)
        self.vectors = BatchLoader(
            self._vectors, every=every, enough=enough, concerns_all=is_database_unavailable
        )

    async def _sources(self, ids: Sequence[UUID]) -> Mapping[UUID, SourceForJob]:
        async with transaction(self._pool) as conn:
            return await sources.for_jobs(conn, ids)

    async def _vectors(self, wanted: Sequence[Text]) -> Mapping[Text, NDArray[np.float32]]:
        async with transaction(self._pool) as conn:
            return await documents.known_vectors(conn, wanted, model_id=self._model_id)
