"""The signature of a webhook: HMAC-SHA256 over the exact bytes of its body.

It covers neither a time nor the headers, so a delivery can be replayed for ever: whoever accepts
one still has to know its crawl and to drop what it has already.
"""

import hmac
from collections.abc import Sequence

_PREFIX = b"sha256="


class Signature:
    """Computed while the body arrives, so that a large one need not be in memory."""

    def __init__(self, secrets: Sequence[bytes]) -> None:
        """Any of `secrets` may have signed. ValueError for an empty one: everybody knows that."""
        if not all(secrets):
            raise ValueError("an empty secret proves nothing")
        self._macs = [hmac.new(secret, digestmod="sha256") for secret in secrets]

    def feed(self, chunk: bytes) -> None:
        """The next bytes of the body, as they came over the wire."""
        for mac in self._macs:
            mac.update(chunk)

    def matches(self, header: bytes | None) -> bool:
        """Whether `header` (`sha256=` and 64 hex digits) signs what was fed; None: it is absent."""
        if header is None or not header.startswith(_PREFIX):
            return False
        given = header.removeprefix(_PREFIX).strip().lower()
        # Bytes: a `str` with a non-ASCII character would raise. All are compared, always.
        found = [hmac.compare_digest(mac.hexdigest().encode(), given) for mac in self._macs]
        return any(found)
