"""What `ingest serve` says when it is ready: the generated key to a person, not to a log."""

import io
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from pydantic import SecretStr

from api.cli.server import api_process
from ingest.runtime import Runtime
from ingest.settings.operator_key import OperatorKey
from ingest.settings.settings import Settings
from ingest.settings.worker_shares import WorkerShare

KEY = "rk_the_generated_key"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def greeting(
    monkeypatch: pytest.MonkeyPatch,
    out: io.StringIO,
    *,
    as_json: bool,
    code: str | None = None,
    shares: Sequence[WorkerShare] = (),
    **settings: Any,
) -> str:
    runtime = SimpleNamespace(
        settings=Settings(data_dir=Path("house"), **settings),
        operator_key=OperatorKey(KEY),
        ocr=None,
    )
    monkeypatch.setattr(sys, "stdout", out)
    api_process._print_ready(
        cast(Runtime, runtime), "http://x", code, work=True, shares=shares, as_json=as_json
    )
    return out.getvalue()


@pytest.mark.parametrize("as_json", [False, True])
def test_a_generated_key_is_shown_on_a_terminal(
    monkeypatch: pytest.MonkeyPatch, as_json: bool
) -> None:
    assert KEY in greeting(monkeypatch, Terminal(), as_json=as_json)


@pytest.mark.parametrize("as_json", [False, True])
def test_log_names_the_file_of_the_generated_key(
    monkeypatch: pytest.MonkeyPatch, as_json: bool
) -> None:
    told = greeting(monkeypatch, io.StringIO(), as_json=as_json)

    assert KEY not in told
    assert str(Path("house/admin.key").absolute()) in told


def test_a_key_that_was_given_is_shown_nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    key = SecretStr("given-by-the-operator")
    told = greeting(monkeypatch, Terminal(), as_json=True, admin_key=key)
    text = greeting(monkeypatch, Terminal(), as_json=False, admin_key=key)

    assert json.loads(told) == {"url": "http://x", "worker": True, "ocr": None}
    assert "INGEST_ADMIN_KEY" in text
    assert "given" not in text


def test_worker_processes_are_counted_in_the_message(monkeypatch: pytest.MonkeyPatch) -> None:
    shares = (WorkerShare(slots=8, parsers=2),) * 2
    told = greeting(monkeypatch, io.StringIO(), as_json=True, shares=shares)
    text = greeting(monkeypatch, io.StringIO(), as_json=False, shares=shares)
    without = greeting(monkeypatch, io.StringIO(), as_json=False)

    assert json.loads(told)["workerProcesses"] == 2
    assert "  work  in worker processes of its own: 2\n" in text
    assert "worker processes" not in without


def test_documentation_that_is_switched_off_is_not_pointed_to(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert "http://x/docs" in greeting(monkeypatch, Terminal(), as_json=False)
    assert (
        "/docs"
        not in greeting(monkeypatch, Terminal(), as_json=False, docs=False).partition("ocr")[0]
    )


@pytest.mark.parametrize("as_json", [False, True])
def test_a_link_that_signs_in_is_shown_in_one_piece(
    monkeypatch: pytest.MonkeyPatch, as_json: bool
) -> None:
    code = "c" * 43  # longer than a line of a terminal, with the rest
    told = greeting(monkeypatch, Terminal(), as_json=as_json, code=code)
    without = greeting(monkeypatch, Terminal(), as_json=as_json)

    assert f"http://x/#login={code}" in told
    assert "login" not in without


@pytest.mark.parametrize(("out", "dashboard"), [(io.StringIO(), True), (Terminal(), False)])
async def test_no_link_is_made_for_a_log_or_without_the_dashboard(
    monkeypatch: pytest.MonkeyPatch, out: io.StringIO, dashboard: bool
) -> None:
    runtime = SimpleNamespace(settings=Settings(dashboard=dashboard))  # and no database
    monkeypatch.setattr(sys, "stdout", out)

    assert await api_process._sign_in_code(cast(Runtime, runtime)) is None
