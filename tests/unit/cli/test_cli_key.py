"""`ingest key rotate` and `ingest key link`."""

import json
import os
from pathlib import Path

import httpx
import pytest
import respx
from typer.testing import CliRunner, Result

from api.cli.commands import key as command
from api.cli.main import app

OLD = "rk_old"
URL = "http://127.0.0.1:4711"


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("INGEST_ADMIN_KEY", raising=False)
    monkeypatch.setenv("INGEST_DATA_DIR", str(tmp_path))
    (tmp_path / "admin.key").write_text(f"{OLD}\n")
    return tmp_path


@pytest.fixture
def running(data: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """A service that answers with this status."""
    answer = {"status": 200}

    def get(url: str, *, headers: dict[str, str], **_: object) -> httpx.Response:
        assert (url, headers) == (
            f"{URL}/api/worker/config",
            {"Authorization": f"Bearer {stored(data)}"},
        )
        return httpx.Response(answer["status"])

    monkeypatch.setattr(httpx, "get", get)
    (data / "server.json").write_text(json.dumps({"url": URL, "pid": os.getpid()}))
    return answer


def stored(data: Path) -> str:
    return (data / "admin.key").read_text().strip()


def rotate(*options: str) -> Result:
    return CliRunner().invoke(app, ["key", "rotate", *options])


def test_a_running_service_is_asked_whether_it_accepts_the_new_key(
    data: Path, running: dict[str, int]
) -> None:
    result = rotate()

    assert result.exit_code == 0
    assert stored(data) not in (OLD, "")
    assert f"stored  in {data}/admin.key" in result.stdout
    assert "the old key is no longer valid" in result.stdout
    assert stored(data) not in result.stdout


def test_the_key_is_shown_on_a_terminal_only(
    data: Path, running: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    piped = json.loads(rotate("--json").stdout)
    monkeypatch.setattr(command, "_is_terminal", lambda: True)
    shown = json.loads(rotate("--json", "--grace", "10m").stdout)

    assert piped == {"keyFile": str(data / "admin.key"), "isInUse": True}
    assert shown == {**piped, "key": stored(data)}


def test_a_service_with_another_key_is_an_error(data: Path, running: dict[str, int]) -> None:
    running["status"] = 401

    result = rotate()

    assert result.exit_code == 2
    assert f"the service at {URL} does not accept it" in result.stderr


@pytest.mark.parametrize("status", [None, 503])
def test_without_an_answer_the_next_start_uses_the_key(
    data: Path, running: dict[str, int], status: int | None
) -> None:
    if status is None:
        (data / "server.json").unlink()
    else:
        running["status"] = status

    result = rotate("--grace", "1h")

    assert result.exit_code == 0
    assert "no service answers here" in result.stdout
    assert "the old key is valid for 1h more" in result.stdout


def test_a_key_of_the_environment_is_not_rotated_here(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INGEST_ADMIN_KEY", "from-the-environment")

    result = rotate()

    assert result.exit_code == 2
    assert "the operator key comes from INGEST_ADMIN_KEY" in result.stderr
    assert stored(data) == OLD


@pytest.mark.parametrize("grace", ["soon", "-1", "2d", "P1Y"])
def test_a_wrong_grace_changes_nothing(data: Path, grace: str) -> None:
    result = rotate("--grace", grace)

    assert result.exit_code == 2
    assert result.stderr.startswith("ingest: --grace: ")
    assert stored(data) == OLD


def test_a_folder_without_a_key_is_an_error_of_one_line(data: Path) -> None:
    (data / "admin.key").unlink()

    result = rotate()

    assert result.exit_code == 2
    assert result.stderr.startswith("ingest: there is no generated key in ")
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize("as_json", [False, True])
def test_a_link_is_made_with_the_operator_key(data: Path, as_json: bool) -> None:
    code = "c" * 43
    (data / "server.json").write_text(json.dumps({"url": URL, "pid": os.getpid()}))
    with respx.mock(base_url=URL) as service:
        route = service.post("/api/session/codes").respond(
            201, json={"code": code, "expiresAt": "2026-11-29T12:10:00Z"}
        )
        result = CliRunner().invoke(app, ["key", "link", *(["--json"] if as_json else [])])

    assert route.calls.last.request.headers["authorization"] == f"Bearer {OLD}"
    told = json.loads(result.stdout)["signInUrl"] if as_json else result.stdout.strip()
    assert told == f"{URL}/#login={code}"
