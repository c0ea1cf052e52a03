"""Bind the socket of a process before it accepts requests."""

import errno
import ipaddress
import socket
from collections.abc import Iterator
from contextlib import contextmanager

from ingest.errors import SetupError


@contextmanager
def bind_socket(host: str, port: int, *, variable: str) -> Iterator[socket.socket]:
    """Bind a socket without listening, so that connections are refused until the server starts.

    Raises SetupError, which names the `variable` of the port.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except OSError as error:
        raise SetupError(
            f"INGEST_HOST: {host} is not an address of this machine: {error}"
        ) from None
    with socket.socket(family, kind, protocol) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(address)
        except OSError as error:
            raise SetupError(_bind_error(host, port, error, variable=variable)) from None
        yield listener


def _bind_error(host: str, port: int, error: OSError, *, variable: str) -> str:
    if error.errno == errno.EADDRINUSE:
        return (
            f"{variable}: port {port} of {host} is in use by another program; "
            "choose another port (0: any free port)"
        )
    if error.errno == errno.EACCES:
        return f"{variable}: port {port} is reserved for root; choose one above 1023"
    return f"INGEST_HOST: cannot listen on {host}, port {port}: {error.strerror}"


def local_url(listener: socket.socket) -> str:
    """The URL for commands and browsers on this machine."""
    host, port = listener.getsockname()[:2]
    address = ipaddress.ip_address(host.partition("%")[0])
    if address.is_unspecified:
        address = ipaddress.ip_address("127.0.0.1" if address.version == 4 else "::1")
    return f"http://{f'[{address}]' if address.version == 6 else address}:{port}"
