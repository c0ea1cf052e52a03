"""Poll the service, also across a restart."""

import time
from collections.abc import Callable
from typing import Any, Final

from api.cli.client import Client, Refused, Unreachable

POLL_SECONDS: Final = 0.5
# A service that restarts is back within this time.
_PATIENCE_SECONDS: Final = 120
_TRY_AGAIN: Final = (429, 502, 503, 504)


class PatientClient:
    """GET requests that are retried while the service is away."""

    def __init__(self, client: Client, *, sleep: Callable[[float], None] = time.sleep) -> None:
        self._client = client
        self._sleep = sleep

    def get(self, path: str, **query: Any) -> Any:
        """As `Client.get`; raises Unreachable or Refused once the service is away too long."""
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while True:
            try:
                return self._client.get(path, **query)
            except Unreachable:
                if time.monotonic() > deadline:
                    raise
            except Refused as error:
                if error.status not in _TRY_AGAIN or time.monotonic() > deadline:
                    raise
            self.pause()

    def pause(self) -> None:
        """Sleep until the next poll."""
        self._sleep(POLL_SECONDS)
