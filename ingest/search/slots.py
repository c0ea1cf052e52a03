"""How many searches of a process run at once, shared fairly by cost among applications."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Final
from uuid import UUID

from ingest.asynchronous.fair_slots import FairSlots, NoSlot
from ingest.errors import Transient

# Each search uses up to two connections of a pool that has as many (ingest/postgres/pools.py).
_SLOTS: Final = 4
_RESERVE: Final = 2
"""Further searches, of applications that search little while others hold all slots."""
_BESIDE_OTHERS: Final = max(1, min(_SLOTS, (os.cpu_count() or 1) // 2))
"""Searches of an application while others search too. Each keeps two processors of the database
busy, by meaning and by words; the database is taken to have as many as this machine."""
_MOST_WAITING: Final = 32
"""Searches of an application that wait; more are refused at once."""
_PATIENCE: Final = timedelta(seconds=10)
"""How long a search waits for a slot."""
_COME_AGAIN: Final = timedelta(seconds=2)


class SearchSlots:
    def __init__(self, *, patience: timedelta = _PATIENCE) -> None:
        self._patience = patience
        self._slots = FairSlots[UUID](_SLOTS, reserve=_RESERVE, beside_others=_BESIDE_OTHERS)

    @asynccontextmanager
    async def hold(self, application_id: UUID) -> AsyncIterator[None]:
        """Wait for a slot. Raises Transient `busy` if too many others wait, or for too long."""
        if self._slots.waiting(application_id) >= _MOST_WAITING:
            raise _busy()
        try:
            async with self._slots.hold(application_id, within=self._patience):
                yield
        except NoSlot:
            raise _busy() from None


def _busy() -> Transient:
    return Transient(
        "too many searches of this application are running; try again",
        code="busy",
        retry_after=_COME_AGAIN,
    )
