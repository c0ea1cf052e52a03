"""Wrong keys: limits tries per address and minute, and avoids repeated look-ups of one key.

Both counts are per process, and bounded. A valid key is never refused because of wrong keys from
the same address.
"""

import ipaddress
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from datetime import timedelta
from typing import Final

from fastapi import FastAPI
from fastapi.requests import HTTPConnection

from api.problems import ApiError, RateLimited, Unauthorized

_MAX_PER_ADDRESS: Final = 150
_MINUTE: Final = 60.0
# A repeated wrong key is looked up only a few times per window, but not blocked for good: it may be
# created a moment later.
_MAX_LOOKUPS: Final = 5
_LOOKUP_SECONDS: Final = 10.0
_MAX_ENTRIES: Final = 10_000
# The owner of one IPv6 address controls the rest of its network.
_IPV6_NETWORK: Final = 64


class _WindowCounter:
    """The count of each recent name in its current window."""

    def __init__(self, *, seconds: float, clock: Callable[[], float]) -> None:
        self._seconds = seconds
        self._clock = clock
        self._windows: OrderedDict[Hashable, tuple[int, float]] = OrderedDict()

    def get(self, name: Hashable) -> int:
        count, until = self._windows.get(name, (0, 0.0))
        return count if self._clock() < until else 0

    def left(self, name: Hashable) -> timedelta:
        """The time until the window of the name ends."""
        _, until = self._windows.get(name, (0, 0.0))
        return timedelta(seconds=max(0.0, until - self._clock()))

    def add(self, name: Hashable) -> int:
        """Count once more; returns the new count."""
        count = self.get(name) + 1
        until = self._windows[name][1] if count > 1 else self._clock() + self._seconds
        self._windows[name] = (count, until)
        self._windows.move_to_end(name)
        if len(self._windows) > _MAX_ENTRIES:
            self._windows.popitem(last=False)
        return count


class FailedKeys:
    """Failed attempts. Keys are identified by their digests."""

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        """`clock`: seconds, monotonic."""
        self._addresses = _WindowCounter(seconds=_MINUTE, clock=clock)
        self._keys = _WindowCounter(seconds=_LOOKUP_SECONDS, clock=clock)

    def is_blocked(self, key_hash: bytes) -> bool:
        """Whether the key has failed so many look-ups that it is not looked up again."""
        return self._keys.get(key_hash) >= _MAX_LOOKUPS

    def record(self, connection: HTTPConnection, key_hash: bytes, why: str) -> ApiError:
        """Count a wrong key or ticket; returns the error to raise, which says `why`."""
        self._keys.add(key_hash)
        address = _address(connection)
        if self._addresses.add(address) <= _MAX_PER_ADDRESS:
            return Unauthorized(why)
        return RateLimited(
            f"{why}; too many invalid keys came from this address",
            retry_after=self._addresses.left(address),
        )


def failed_keys_of(app: FastAPI) -> FailedKeys:
    """The app's FailedKeys counter, created at startup."""
    failed: FailedKeys = app.state.failed_keys
    return failed


def _address(connection: HTTPConnection) -> str:
    host = "" if connection.client is None else connection.client.host
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return host
    if address.version == 4:
        return host
    mapped = address.ipv4_mapped
    return str(mapped or ipaddress.ip_network((address, _IPV6_NETWORK), strict=False))
