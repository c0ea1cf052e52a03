"""The signature of a webhook: HMAC-SHA256 over the exact bytes of its body.

It covers neither time nor headers, so a delivery can be replayed at any time: the receiver must
also check that it knows the crawl, and drop duplicates.
"""

import hmac
from collections.abc import Sequence

_PREFIX = b"sha256="


class Signature:
    """Computed while the body arrives, so large bodies need not be in memory."""

    def __init__(self, secrets: Sequence[bytes]) -> None:
        """Accept a signature by any of `secrets`. Raises ValueError for an empty secret."""
        if not all(secrets):
            raise ValueError("an empty secret proves nothing")
        self._macs = [hmac.new(secret, digestmod="sha256") for secret in secrets]

    def feed(self, chunk: bytes) -> None:
        """Add the next bytes of the body, as received."""
        for mac in self._macs:
            mac.update(chunk)

    def matches(self, header: bytes | None) -> bool:
        """Whether `header` (`sha256=` and 64 hex digits; None if absent) signs the bytes fed."""
        if header is None or not header.startswith(_PREFIX):
            return False
        given = header.removeprefix(_PREFIX).strip().lower()
        # Bytes: a `str` with a non-ASCII character would raise. Always compare all secrets.
        found = [hmac.compare_digest(mac.hexdigest().encode(), given) for mac in self._macs]
        return any(found)
