"""A worker process of `ingest serve`, from its order to its end."""

import os
import signal
import socket
from contextlib import asynccontextmanager
from typing import Any, cast
from uuid import UUID

import pytest
import typer

from api.cli import exits
from api.cli.server import worker_process
from api.cli.server.shutdown import StopRequest
from api.worker_processes.order import WorkerOrder
from ingest.errors import NoConnections
from ingest.settings.settings import Settings


def test_without_connections_it_ends_with_the_code_after_which_it_is_started_again(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ours, theirs = socket.socketpair()
    channel = theirs.detach()
    os.set_inheritable(channel, True)  # as it arrives from the parent
    inheritable: list[bool] = []
    parents: list[socket.socket] = []

    @asynccontextmanager
    async def full(*_: Any, **__: Any) -> Any:
        inheritable.append(os.get_inheritable(channel))
        raise NoConnections
        yield

    monkeypatch.setattr(worker_process, "open_runtime", full)
    monkeypatch.setattr(worker_process, "prepare", Settings)
    monkeypatch.setattr(worker_process, "die_with", lambda _: None)
    monkeypatch.setattr(worker_process, "_answer", parents.append)
    order = WorkerOrder(dsn="", worker_id=UUID(int=1), slots=1, parsers=1, parent=os.getpid())
    ours.sendall(order.line())
    with ours, pytest.raises(typer.Exit) as ended:
        worker_process.run_worker_process(channel)
    for parent in parents:
        parent.close()

    assert inheritable == [False]
    assert ended.value.exit_code == exits.FAILED
    assert "could not open the first connections" in capsys.readouterr().err


@pytest.mark.parametrize(("repeats_exit", "codes"), [(True, [143]), (False, [])])
def test_a_second_signal_ends_the_process_at_once_unless_its_parent_does(
    monkeypatch: pytest.MonkeyPatch, repeats_exit: bool, codes: list[int]
) -> None:
    exited: list[int] = []
    stopped: list[bool] = []
    monkeypatch.setattr(os, "_exit", cast(Any, exited.append))
    request = StopRequest(repeats_exit=repeats_exit)
    request.on_stop(lambda: stopped.append(True))

    request.handle(signal.SIGTERM, None)
    assert (stopped, exited) == ([True], [])
    request.handle(signal.SIGTERM, None)

    assert exited == codes
