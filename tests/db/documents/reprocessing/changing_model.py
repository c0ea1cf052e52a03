"""Files of an application whose embedding model changes, and how far it is."""

import asyncio
from collections.abc import Callable

from harness.patience import PATIENCE
from ingest.postgres.database import transaction
from ingest.store.embeddings import model_changes
from tests.support.model_change_fixtures import ModelChange


async def add_files(change: ModelChange, count: int, *, prefix: str = "old") -> list[str]:
    """Files of two chunks each; returns the texts of the first."""
    texts = [f"{prefix} text {number}" for number in range(count)]
    for number, text in enumerate(texts):
        await change.add(change.old, f"{prefix}{number}.txt", f"{text}\n{prefix} more {number}")
    return texts


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not condition():  # noqa: ASYNC110  # of objects that know no events
            await asyncio.sleep(0.01)


async def counts(change: ModelChange) -> tuple[int, int, int]:
    async with transaction(change.pool.of(change.application_id)) as conn:
        found = await model_changes.count(conn, change.application_id, change.new.model_id)
    return found.documents, found.open, found.ready
