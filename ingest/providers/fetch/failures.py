"""Errors of fetches; their messages name no IP addresses and no credentials."""

from collections.abc import Iterator
from contextlib import contextmanager

import httpcore

from ingest.errors import Permanent, Transient

# The server closed the connection between two requests.
CONNECTION_LOST = (httpcore.RemoteProtocolError, httpcore.NetworkError)


def failed(what: str) -> Transient:
    return Transient(what, code="fetch_failed")


def unreadable(what: str) -> Permanent:
    return Permanent(what, code="fetch_failed")


def too_large(cap: int) -> Permanent:
    return Permanent(f"the response is larger than {cap} bytes", code="too_large")


@contextmanager
def network_errors(host: str) -> Iterator[None]:
    """Turn errors of sockets, TLS and HTTP into Transient `fetch_failed`."""
    try:
        yield
    except httpcore.ProtocolError:
        raise failed(f"{host} sent an invalid or truncated HTTP response") from None
    except (httpcore.NetworkError, httpcore.TimeoutException, OSError):
        raise failed(f"the connection to {host} broke") from None
