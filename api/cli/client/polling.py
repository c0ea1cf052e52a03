"""GET requests that survive a restart of the service."""

import time
from collections.abc import Callable
from typing import Any, Final

from api.cli.client.http_client import Client, ServiceError, Unreachable

POLL_SECONDS: Final = 0.5
MAX_OUTAGE_SECONDS: Final = 120
"""A service that restarts is back within this time."""


class PollingClient:
    """A client that retries while the service is away."""

    def __init__(self, client: Client, *, sleep: Callable[[float], None] = time.sleep) -> None:
        self._client = client
        self._sleep = sleep

    def get(self, path: str, **query: Any) -> Any:
        """Like `Client.get`; raises Unreachable or ServiceError if retries fail for too long."""
        deadline = time.monotonic() + MAX_OUTAGE_SECONDS
        while True:
            try:
                return self._client.get(path, **query)
            except (Unreachable, ServiceError) as error:
                if not error.is_temporary or time.monotonic() > deadline:
                    raise
            self.pause()

    def pause(self) -> None:
        """Sleep until the next poll."""
        self._sleep(POLL_SECONDS)
