"""Checks the embedding provider at the start, and after each pause, with one harmless text.

Runs in every process: snoozed jobs cannot notice that the provider is back, and a process that
only serves searches would not find wrong settings before the first query.
"""

import asyncio
from typing import Final

import psycopg
import structlog

from ingest.asynchronous.tasks import cancel_all
from ingest.embedding.service import EmbeddingService

log = structlog.get_logger()

_EVERY_SECONDS: Final = 2.0


class ProviderWatch:
    """Runs in the background until closed."""

    def __init__(self, embedding: EmbeddingService) -> None:
        self._embedding = embedding
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._task = asyncio.create_task(self._run(), name="provider")

    async def close(self) -> None:
        if self._task is not None:
            await cancel_all(self._task)

    async def _run(self) -> None:
        is_checked = False
        while True:
            try:
                if is_checked:
                    await self._embedding.watch()
                else:
                    await self._embedding.check()
                    is_checked = True
            except psycopg.Error as error:
                log.warning("provider.not_watched", error=type(error).__name__)
            except Exception as error:
                log.error("provider.not_watched", exc_info=error)
            await asyncio.sleep(_EVERY_SECONDS)
