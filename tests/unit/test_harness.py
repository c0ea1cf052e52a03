"""What tests and benchmarks start processes with."""

import socket
import sys

import pytest

from harness.service import free_port


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a port cannot be kept")
def test_a_free_port_stays_free_for_its_server_while_that_starts_and_restarts() -> None:
    address = ("127.0.0.1", free_port())

    with socket.socket() as other, pytest.raises(OSError, match="in use"):
        other.bind(address)
    for _ in range(2):
        with socket.create_server(address), socket.create_connection(address) as client:
            assert client.getpeername() == address
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(address)
