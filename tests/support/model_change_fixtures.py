"""An application whose embedding model changes: workers and searches of both models."""

from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any
from uuid import UUID

import numpy as np

from ingest.blobs.local import LocalBlobStore
from ingest.embedding.earlier_models import EarlierModels
from ingest.embedding.service import EmbeddingService
from ingest.errors import SetupError
from ingest.handlers.context import Context, Progress
from ingest.handlers.documents.reembed import reembed_application
from ingest.model import Vectors
from ingest.postgres.database import Connection, Pool, transaction
from ingest.providers.embedders.base import Embedder
from ingest.search.parts import SearchParts
from ingest.search.question import Answer, Mode, Question
from ingest.search.search import search
from ingest.store.embeddings import embedding_models, model_changes
from ingest.store.embeddings.model_changes import StoredModel
from ingest.store.queue import job_types
from ingest.store.queue.jobs import ClaimedJob
from ingest.store.search.scope import SearchScope
from ingest.store.tenants import applications
from ingest.worker.attempt import attempt
from ingest.worker.commit import Finished, commit
from tests.support.fake_embedder import FakeEmbedder
from tests.support.file_fixtures import House
from tests.support.queue_builders import claim


class WordEmbedder(FakeEmbedder):
    """A text is the sum of its words: near whatever shares most of them."""

    def __init__(self, name: str, *, dimension: int, max_items: int = 4) -> None:
        super().__init__(dimension=dimension, max_items=max_items)
        self.model = replace(self.model, name=name)

    def vector(self, text: str) -> Vectors:
        words = [super(WordEmbedder, self).vector(word) for word in text.split()]
        total: Vectors = np.sum(words, axis=0)
        return total / np.linalg.norm(total)


async def register(pool: Pool, embedder: FakeEmbedder) -> int:
    async with pool.session() as conn, conn.transaction():
        return await embedding_models.register(conn, embedder.model)


@dataclass(kw_only=True)
class ModelChange:
    """Uploads before the change go through `old`, later ones through `new`."""

    pool: Pool
    application_id: UUID
    old: House
    new: House
    is_old_reachable: bool = True
    searches: SearchParts = field(init=False)

    def __post_init__(self) -> None:
        self.searches = SearchParts(
            pool=self.pool,
            embedder=EmbeddingService(self.new.embedder, linger=timedelta(0)),
            model_id=self.new.model_id,
            earlier=EarlierModels(self._rebuild),
        )

    async def _rebuild(self, model: StoredModel) -> Embedder:
        if not self.is_old_reachable or model.id != self.old.model_id:
            raise SetupError("not configured")
        return self.old.embedder

    async def add(self, house: House, path: str, text: str) -> UUID:
        source_id = await house.upload(self.application_id, path, text)
        await house.run()
        return source_id

    async def search(self, text: str, *, mode: Mode = "vector", limit: int = 10) -> Answer:
        return await search(
            Question(text=text, mode=mode, limit=limit),
            SearchScope(application_id=self.application_id),
            self.searches,
        )

    async def found(self, text: str, *, limit: int = 2) -> bool:
        """Whether a search by meaning has the text among its best hits."""
        hits = (await self.search(text, limit=limit)).hits
        return text in [hit.content for hit in hits]

    async def request(self) -> UUID:
        async with transaction(self.pool.of(self.application_id)) as conn:
            await applications.lock_sources(conn, self.application_id)
            return await model_changes.request(conn, self.application_id, self.new.model_id)

    async def take(self) -> ClaimedJob:
        """Claim a job, also one that waits."""
        async with transaction(self.pool) as conn:
            await conn.execute(
                "update rag.processing_jobs set run_at = null where type = 'reembed'"
            )
            [job] = await claim(conn, types=["reembed"])
        return job

    async def attempt(self, job: ClaimedJob, context: Context | None = None) -> Finished:
        """Run the job without committing its end."""
        async with transaction(self.pool) as conn:
            types = {row.type: row for row in await job_types.all_types(conn)}
        finished = await attempt(
            job,
            types["reembed"],
            handlers={"reembed": reembed_application},
            context=context or self.new.context,
            progress=Progress(job),
        )
        assert finished is not None
        return finished

    async def reembed(self, job: ClaimedJob | None = None) -> Finished:
        """Run a job until it ends, however many slices it takes."""
        while True:
            finished = await self.attempt(job or await self.take())
            await commit(self.pool, [finished])
            if finished.ended.status != "pending":
                return finished
            job = None

    async def vectors(self, conn: Connection) -> dict[int, int]:
        """Number of stored vectors by model."""
        rows = await conn.execute("select model_id, count(*) from rag.embeddings group by 1")
        return dict(await rows.fetchall())


async def model_change(
    pool: Pool, blobs: LocalBlobStore, application_id: UUID, **more: Any
) -> ModelChange:
    old, new = House(pool, blobs, 0), House(pool, blobs, 0)
    old.embedder = WordEmbedder("old", dimension=64)
    new.embedder = WordEmbedder("new", dimension=48, max_items=64)
    for house in (old, new):
        house.model_id = await register(pool, house.embedder)
    return ModelChange(pool=pool, application_id=application_id, old=old, new=new, **more)
