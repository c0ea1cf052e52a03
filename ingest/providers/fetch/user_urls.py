"""Checks URLs and patterns written by users, and converts them to the stored form.

For the API, which does not know how pages are fetched and crawled.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from ingest.errors import Permanent
from ingest.providers.fetch.allowed_addresses import blocked_reason
from ingest.web.scope import build_scope
from ingest.web.urls import fetchable, normalise

# `host:8080` has no scheme, `mailto:x` has one.
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:(?!\d)")
_BROKEN_SCHEME: Final = re.compile(r"https?(?:/|:/(?!/)|;)", re.IGNORECASE)
_OF_ITS_OWN: Final = re.compile(
    r"(?:localhost|\[[0-9a-f:]+\]|[\d.]+|[^/:?#]+(?=:\d))(?!:\d*443(?:[/?#]|$))(?=[:/?#]|$)"
)
_LONGEST_NAME: Final = 300
_ANY_SITE: Final = "https://site.example/"


@dataclass(frozen=True, slots=True, kw_only=True)
class WebAddress:
    uri: str
    """Normalised: the identity of a source."""
    start: str
    """The URL to request, as written: a server may need its final slash."""
    name: str
    """For display: without the scheme, at most 300 characters."""


def read_address(text: str, *, allow: Sequence[str]) -> WebAddress:
    """Read a URL written by a user; a missing scheme means https, or http for an IP or a port.

    Raises ValueError if it is not a URL; raises Permanent `fetch_blocked` if it is never fetched,
    as far as that is known without the DNS. Both say why. `allow`: the entries of
    INGEST_FETCH_ALLOW.
    """
    written = _with_scheme(text.strip())
    uri, start = normalise(written), fetchable(written)
    reason = blocked_reason(uri, allow=allow)
    if reason is not None:
        raise Permanent(reason, code="fetch_blocked")
    name = uri.partition("://")[2].removesuffix("/")
    return WebAddress(uri=uri, start=start, name=name[:_LONGEST_NAME])


def check_patterns(patterns: Iterable[str]) -> None:
    """Raises ValueError naming the first path pattern that a crawl cannot use."""
    build_scope(seed=_ANY_SITE, max_depth=0, include=patterns)


def _with_scheme(text: str) -> str:
    """Add a missing scheme: https for host names, http for IPs, ports and local servers."""
    if _BROKEN_SCHEME.match(text):
        raise ValueError(
            "The web address must begin with http:// or https://, including the colon."
        )
    if text.startswith("//"):
        return f"https:{text}"
    if _SCHEME.match(text):
        return text
    return f"http://{text}" if _OF_ITS_OWN.match(text) else f"https://{text}"
