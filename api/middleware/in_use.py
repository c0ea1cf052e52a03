"""How many searches, uploads and sockets are under way, per API key and per application.

Counted by each process for itself, like the rate limit. The operator's key has no limits of its
own; what it does for an application counts towards the quotas of that application.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Final, Literal
from uuid import UUID

from fastapi.requests import HTTPConnection

from api.authentication import Key
from api.problems import RateLimited
from ingest.quotas import Excess, KeyLimits, Quota, Quotas
from ingest.store.limits import usage

What = Literal["searches", "uploads", "sockets"]

_RETRY: Final = timedelta(seconds=1)


class InUse:
    """The counts of one process."""

    def __init__(self, limits: KeyLimits) -> None:
        self._limits = limits
        self._counts: Counter[tuple[What, UUID]] = Counter()

    def check(self, what: What, key: Key, quotas: Quotas | None = None) -> None:
        """Raise RateLimited if the key, QuotaInUse if the application, has too many of them."""
        limit: int = getattr(self._limits, what)
        if key.id is not None and limit and self._counts[what, key.id] >= limit:
            raise RateLimited(f"this key may have {limit} {what} at once", retry_after=_RETRY)
        if quotas is not None and what != "searches":
            usage.refuse(_excess(what, quotas, self.of_application(what, key.application_id)))

    @contextmanager
    def counted(self, what: What, key: Key) -> Iterator[None]:
        """Count one more during the block."""
        names = [(what, id) for id in (key.id, key.application_id) if id is not None]
        self._counts.update(names)
        try:
            yield
        finally:
            self._counts.subtract(names)
            for name in names:
                if not self._counts[name]:
                    del self._counts[name]

    @contextmanager
    def limited(self, what: What, key: Key, quotas: Quotas | None = None) -> Iterator[None]:
        """`check`, then `counted`."""
        self.check(what, key, quotas)
        with self.counted(what, key):
            yield

    def of_application(self, what: What, application_id: UUID) -> int:
        return self._counts[what, application_id]


def _excess(what: Literal["uploads", "sockets"], quotas: Quotas, used: int) -> Excess | None:
    quota: Quota = what
    limit: int = getattr(quotas, what)
    return Excess(quota=quota, limit=limit, used=used) if used >= limit else None


def in_use_of(connection: HTTPConnection) -> InUse:
    """The counts that the application's lifespan created."""
    in_use: InUse = connection.app.state.in_use
    return in_use
