"""The guarded fetch (SSRF protection): the only way to request a URL from a user.

Whatever the URL, the DNS and the servers say, it only connects to public addresses and those the
operator allows, follows few redirects, takes bounded time and writes a bounded file. It ignores
proxy variables of the environment: a proxy would bypass these guards.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractContextManager, aclosing, suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Final
from urllib.parse import urljoin

import httpcore
from opentelemetry.trace import Span

from ingest.errors import Permanent, Transient
from ingest.observability import tracing
from ingest.providers.fetch.allowed_addresses import AllowList, refused_host
from ingest.providers.fetch.body import ACCEPTED, BodyWriter
from ingest.providers.fetch.connect import Dialer, Resolve, Resolver
from ingest.providers.fetch.connections import Connections
from ingest.providers.fetch.failures import network_errors, too_large
from ingest.providers.fetch.fetch_target import FetchTarget, blocked, parse_url
from ingest.providers.fetch.time_budget import TimeBudget

_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
# The caller's other headers (credentials, validators) are only sent to the original origin.
_FOR_ANY_ORIGIN: Final = frozenset({"accept", "accept-language", "user-agent"})
_OURS: Final = frozenset({"host", "accept-encoding", "connection", "content-length"})
# Bytes read of the body of an error or redirect; after its end the connection can be reused.
_DRAINED_BYTES: Final = 64 * 1024
_DRAIN_SECONDS: Final = 1
_STATUS: Final = "http.response.status_code"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetched:
    """A response of any status, except redirects that were followed."""

    url: str
    """The final URL after redirects, as requested."""
    status: int
    headers: Mapping[str, str]
    """By lower-case name; values decoded as Latin-1, repeated headers joined by a comma."""
    hops: tuple[str, ...]
    """URLs that redirected, in order."""
    size: int
    """Decoded bytes written; 0 unless the status is 200 to 299."""
    sha256: bytes
    """SHA-256 of the decoded bytes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Posted:
    """The response to a POST, of any status, redirects included."""

    status: int
    headers: Mapping[str, str]
    """By lower-case name."""
    beginning: bytes
    """The first bytes of the body, not decoded."""


class Fetcher:
    def __init__(
        self,
        *,
        allow: Sequence[str] = (),
        user_agent: str,
        timeout: timedelta,
        max_bytes: int,
        _resolve: Resolve | None = None,
    ) -> None:
        """`allow`: the entries of INGEST_FETCH_ALLOW. `timeout`: the total time of one `get`."""
        self._user_agent = user_agent
        self._timeout = timeout
        self._max_bytes = max_bytes
        self._allowed = AllowList.of(allow)
        self._resolver = Resolver()
        self._connections = Connections(Dialer(self._allowed, _resolve or self._resolver))

    async def get(
        self,
        url: str,
        *,
        into: Path,
        headers: Mapping[str, str] | None = None,
        max_bytes: int | None = None,
        max_hops: int = 5,
        on_hop: Callable[[str], Awaitable[None]] | None = None,
    ) -> Fetched:
        """GET into a file, which is emptied first; the caller removes it, also after an error.

        `max_bytes` can only lower the Fetcher's limit. `on_hop` is awaited with each redirect
        target before it is requested; its exceptions propagate, and its time does not count. Any
        status is returned, 304 included.

        Raises Permanent `fetch_blocked`, `redirect_loop`, `too_large`, `fetch_failed` (unknown
        compression); Transient `fetch_failed` if a retry may succeed.
        """
        cap = self._max_bytes if max_bytes is None else min(max_bytes, self._max_bytes)
        budget = TimeBudget(self._timeout)
        target = self._target(url)
        wanted = {name.lower(): value for name, value in (headers or {}).items()}
        hops: list[str] = []
        while True:
            async with budget.spend():
                answer = await self._request(target, wanted, into=into, cap=cap)
            location = _redirection(target, answer)
            if location is None:
                return _fetched(target, answer, hops)
            following = self._target(location)
            hops.append(target.url)
            if following.url in hops or len(hops) > max_hops:
                raise Permanent(
                    f"{target.host} redirects in a loop or too often", code="redirect_loop"
                )
            if on_hop is not None:
                await on_hop(following.url)
            if following.origin != target.origin:
                wanted = {name: wanted[name] for name in wanted.keys() & _FOR_ANY_ORIGIN}
            target = following

    async def post(
        self,
        url: str,
        *,
        content: bytes,
        headers: Mapping[str, str],
        within: timedelta,
        max_bytes: int,
    ) -> Posted:
        """POST once, with the same address checks as a GET. Redirects are not followed.

        Keeps up to `max_bytes` of the response body that arrive within a second. `within`: the
        total time. Raises Permanent `fetch_blocked`, Transient `fetch_failed`.
        """
        target = self._target(url)
        wanted = {name.lower(): value for name, value in headers.items()}
        ours = {"content-length": str(len(content)), "accept-encoding": "identity"}
        lines = self._headers(target, wanted, ours=ours)
        with _span("POST", target) as span:
            async with (
                TimeBudget(within).spend(),
                self._connections.post(target, lines, content) as response,
            ):
                span.set_attribute(_STATUS, response.status)
                beginning = await _beginning(target, response, max_bytes)
        return Posted(
            status=response.status, headers=_combined(response.headers), beginning=beginning
        )

    async def close(self) -> None:
        """Close idle connections. No request may be in progress."""
        await self._connections.close()
        self._resolver.close()

    def _target(self, url: str) -> FetchTarget:
        """Parse and check the URL. Host names are checked when they are resolved."""
        target = parse_url(url)
        reason = refused_host(target.host, self._allowed)
        if reason is not None:
            raise blocked(reason)
        return target

    async def _request(
        self, target: FetchTarget, wanted: Mapping[str, str], *, into: Path, cap: int
    ) -> "_Answer":
        headers = self._headers(target, wanted, ours={"accept-encoding": ACCEPTED})
        with _span("GET", target) as span:
            async with self._connections.get(target, headers) as response:
                span.set_attribute(_STATUS, response.status)
                got = _combined(response.headers)
                if 200 <= response.status < 300:
                    body = await _read(target, response, got, into=into, cap=cap)
                else:
                    body = BodyWriter(into, coding="", cap=cap)
                    await body.finish()
                    await _drain(target, response)
        return _Answer(status=response.status, headers=got, size=body.size, sha256=body.sha256)

    def _headers(
        self, target: FetchTarget, wanted: Mapping[str, str], *, ours: Mapping[str, str]
    ) -> list[tuple[bytes, bytes]]:
        headers = {"accept": "*/*", "user-agent": self._user_agent}
        headers |= {name: value for name, value in wanted.items() if name not in _OURS}
        headers |= {"host": target.authority, **ours}
        # Latin-1 returns validators byte by byte as received; no header holds other characters.
        return [
            (name.encode("latin-1", "replace"), value.encode("latin-1", "replace"))
            for name, value in headers.items()
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Answer:
    status: int
    headers: Mapping[str, str]
    size: int
    sha256: bytes


def _span(method: str, target: FetchTarget) -> AbstractContextManager[Span]:
    # Trace only the host, since the rest of the URL may hold secrets.
    attributes = {"http.request.method": method, "server.address": target.host}
    return tracing.client_span("fetch", attributes)


async def _read(
    target: FetchTarget,
    response: httpcore.Response,
    headers: Mapping[str, str],
    *,
    into: Path,
    cap: int,
) -> BodyWriter:
    announced = headers.get("content-length", "")
    if announced.isdecimal() and int(announced) > cap:
        raise too_large(cap)
    body = BodyWriter(into, coding=headers.get("content-encoding", ""), cap=cap)
    async with aclosing(_parts(target, response)) as parts:
        async for part in parts:
            await body.write(part)
    await body.finish()
    return body


async def _drain(target: FetchTarget, response: httpcore.Response) -> None:
    left = _DRAINED_BYTES
    with suppress(TimeoutError, Transient):
        async with asyncio.timeout(_DRAIN_SECONDS), aclosing(_parts(target, response)) as parts:
            async for part in parts:
                left -= len(part)
                if left < 0:
                    return


async def _beginning(target: FetchTarget, response: httpcore.Response, size: int) -> bytes:
    read = bytearray()
    with suppress(TimeoutError, Transient):
        async with asyncio.timeout(_DRAIN_SECONDS), aclosing(_parts(target, response)) as parts:
            async for part in parts:
                read += part
                if len(read) >= size:
                    break
    return bytes(read[:size])


async def _parts(target: FetchTarget, response: httpcore.Response) -> AsyncGenerator[bytes, None]:
    with network_errors(target.host):
        async for part in response.aiter_stream():
            yield part


def _redirection(target: FetchTarget, answer: _Answer) -> str | None:
    """The redirect target; None if this is no redirect or has no Location."""
    location = answer.headers.get("location", "")
    if answer.status not in _REDIRECTS or not location:
        return None
    with suppress(UnicodeDecodeError):  # most servers that send non-ASCII mean UTF-8
        location = location.encode("latin-1").decode("utf-8")
    try:
        return urljoin(target.url, location)
    except ValueError:
        raise blocked(f"{target.host} redirects to an invalid URL") from None


def _fetched(target: FetchTarget, answer: _Answer, hops: Sequence[str]) -> Fetched:
    return Fetched(
        url=target.url,
        status=answer.status,
        headers=answer.headers,
        hops=tuple(hops),
        size=answer.size,
        sha256=answer.sha256,
    )


def _combined(headers: Sequence[tuple[bytes, bytes]]) -> dict[str, str]:
    combined: dict[str, str] = {}
    for raw_name, raw_value in headers:
        name, value = raw_name.decode("latin-1").lower(), raw_value.decode("latin-1")
        combined[name] = f"{combined[name]}, {value}" if name in combined else value
    return combined
