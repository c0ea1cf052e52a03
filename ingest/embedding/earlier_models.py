"""Embedders of models that were configured before: questions are asked of them during a change."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Final

import structlog

from ingest.embedding.provider_watch import ProviderWatch
from ingest.embedding.service import EmbeddingService
from ingest.errors import IngestError, Transient
from ingest.governor import Governor
from ingest.model import Vectors
from ingest.providers.embedders.base import Embedder
from ingest.store.embeddings.model_changes import StoredModel

log = structlog.get_logger()

Rebuild = Callable[[StoredModel], Awaitable[Embedder]]
"""Raises IngestError, or anything else, if the embedder cannot be had any more."""

# A model that could not be built is tried again after this: an endpoint may be down.
_AGAIN_SECONDS: Final = 60.0


class EarlierModels:
    """Builds each embedder when it is first needed. One per process."""

    def __init__(self, rebuild: Rebuild | None = None, governor: Governor | None = None) -> None:
        """Without `rebuild`, none can be asked."""
        self._rebuild = rebuild
        self._governor = governor
        self._services: dict[int, EmbeddingService] = {}
        self._watches: list[ProviderWatch] = []
        self._failed: dict[int, float] = {}
        """When a model could not be built."""
        self._building = asyncio.Lock()

    async def embed_query(self, model: StoredModel, text: str) -> Vectors:
        """The question's vector, (dimension,). Raises Transient if the model cannot be asked."""
        service = await self.service(model)
        if service is None:
            raise Transient("the embedder is not configured", code="embedding_unavailable")
        return await service.embed_query(text, len(text))

    async def service(self, model: StoredModel) -> EmbeddingService | None:
        """The service of a model; None: its embedder is not configured or installed any more."""
        if (known := self._services.get(model.id)) is not None:
            return known
        async with self._building:
            if (known := self._services.get(model.id)) is not None:
                return known
            failed = self._failed.get(model.id)
            if failed is not None and time.monotonic() - failed < _AGAIN_SECONDS:
                return None
            embedder = await self._build(model)
            if embedder is None:
                self._failed[model.id] = time.monotonic()
                return None
            service = EmbeddingService(embedder, self._governor)
            watch = ProviderWatch(service)  # queries alone would not end a pause
            watch.start()
            self._watches.append(watch)
            self._services[model.id] = service
        return service

    async def _build(self, model: StoredModel) -> Embedder | None:
        if self._rebuild is None:
            return None
        name = f"{model.provider}/{model.name}"
        try:
            embedder = await self._rebuild(model)
        except IngestError as error:
            log.warning("earlier_model.not_configured", model=name, reason=str(error))
            return None
        except Exception as error:
            log.error("earlier_model.not_configured", model=name, exc_info=error)
            return None
        if not model.is_space_of(embedder.model):
            log.warning("earlier_model.not_configured", model=name, reason="it has changed")
            await embedder.close()
            return None
        log.info("earlier_model.loaded", model=name)
        return embedder

    async def close(self) -> None:
        for watch in self._watches:
            await watch.close()
        for service in self._services.values():
            await service.close()
