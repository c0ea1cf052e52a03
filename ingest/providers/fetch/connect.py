"""Opens connections: resolves a name once, and connects only to the checked addresses.

All connections of a Fetcher are opened here. A name is not resolved again between check and
connect, which prevents DNS rebinding.
"""

import asyncio
import socket
import ssl
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from ipaddress import ip_address
from typing import Final

import httpcore

from ingest.providers.fetch.allowed_addresses import AllowList
from ingest.providers.fetch.failures import failed
from ingest.providers.fetch.fetch_target import FetchTarget, blocked, literal_address

Resolve = Callable[[str, int], Awaitable[Sequence[str]]]
"""Host name and port to addresses as text, best first. Raises OSError if there are none."""

_MOST_ADDRESSES: Final = 4
_CONNECT_SECONDS: Final = 10


class Resolver:
    """The system resolver in dedicated threads, as a dead name server blocks a call for long."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(16, thread_name_prefix="resolve")

    async def __call__(self, host: str, port: int) -> Sequence[str]:
        # Bytes, because Python would encode text again, with an older IDNA standard.
        found = await asyncio.get_running_loop().run_in_executor(
            self._threads,
            lambda: socket.getaddrinfo(host.encode("ascii"), port, type=socket.SOCK_STREAM),
        )
        return [str(sockaddr[0]) for *_, sockaddr in found]

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)


@cache
def tls_context() -> ssl.SSLContext:
    """One for the process: the trusted authorities take 20 ms to read."""
    context = httpcore.default_ssl_context()
    context.set_alpn_protocols(["http/1.1"])
    return context


class Dialer:
    def __init__(self, allowed: AllowList, resolve: Resolve) -> None:
        self._allowed = allowed
        self._resolve = resolve
        self._network = httpcore.AnyIOBackend()
        self._tls = tls_context()

    async def connect(self, target: FetchTarget) -> httpcore.AsyncNetworkStream:
        """Open a connection; for https, with TLS verified for the URL's host name.

        Raises Permanent `fetch_blocked` if any address of the host is not allowed, Transient
        `fetch_failed` if none responds.
        """
        stream = await self._connect_one(target, await self._checked(target))
        if target.scheme == "http":
            return stream
        try:
            return await stream.start_tls(self._tls, target.host, timeout=_CONNECT_SECONDS)
        except (httpcore.NetworkError, httpcore.TimeoutException, OSError) as error:
            raise failed(f"TLS connection to {target.host} failed: {_tls_fault(error)}") from None
        except BaseException:
            await stream.aclose()
            raise

    async def _checked(self, target: FetchTarget) -> list[str]:
        literal = literal_address(target.host) is not None
        addresses = [target.host] if literal else await self._resolved(target)
        for address in addresses:
            if self._allowed.refusal(ip_address(address), host=target.host) is not None:
                raise blocked(f"{target.host} has an address that is not public")
        return addresses

    async def _resolved(self, target: FetchTarget) -> list[str]:
        try:
            found = await self._resolve(target.host, target.port)
        except OSError:
            found = ()
        if not found:
            raise failed(f"{target.host} cannot be resolved in the DNS")
        # A scope, as in fe80::1%eth0, is not part of the address to check.
        return list(dict.fromkeys(address.partition("%")[0] for address in found))

    async def _connect_one(
        self, target: FetchTarget, addresses: Sequence[str]
    ) -> httpcore.AsyncNetworkStream:
        for address in addresses[:_MOST_ADDRESSES]:
            try:
                return await self._network.connect_tcp(
                    address, target.port, timeout=_CONNECT_SECONDS
                )
            except (httpcore.NetworkError, httpcore.TimeoutException, OSError):
                continue
        raise failed(f"{target.authority} refuses connections or does not respond")


def _tls_fault(error: BaseException) -> str:
    """The fault in OpenSSL's words, which contain no IP address."""
    cause = error.__cause__ or error
    if isinstance(cause, ssl.SSLCertVerificationError):
        return f"its certificate is not valid ({cause.verify_message})"
    return "handshake error"
