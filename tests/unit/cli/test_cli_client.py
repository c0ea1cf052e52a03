"""How commands find the service and its key, and what its errors become."""

import json
from pathlib import Path

import httpx
import pytest

from api.cli import data_folder
from api.cli.client.http_client import (
    Client,
    ClientSettings,
    ServiceAddress,
    ServiceError,
    Unreachable,
    find_service,
)
from api.cli.output import CommandError


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("URL", "API_KEY", "ADMIN_KEY"):
        monkeypatch.delenv(f"INGEST_{name}", raising=False)
    monkeypatch.setenv("INGEST_DATA_DIR", str(tmp_path))
    return tmp_path


def client(answer: httpx.Response | Exception) -> Client:
    def handle(_: httpx.Request) -> httpx.Response:
        if isinstance(answer, Exception):
            raise answer
        return answer

    target = ServiceAddress(url="http://there", key="rk_secret", key_from="INGEST_API_KEY")
    return Client(target, transport=httpx.MockTransport(handle))


def test_the_data_folder_knows_url_and_key_while_the_service_runs(data: Path) -> None:
    data_folder.key_file(data).write_text("rk_generated\n")

    with data_folder.announced(data, "http://127.0.0.1:4711"):
        running = find_service()
    stopped = find_service()

    assert (running.url, running.key) == ("http://127.0.0.1:4711", "rk_generated")
    assert stopped.url == "http://127.0.0.1:8000"


def test_a_second_service_on_the_folder_keeps_its_announcement(data: Path) -> None:
    with data_folder.announced(data, "http://127.0.0.1:1"):
        other = {"url": "http://127.0.0.1:2", "pid": 1}
        data_folder.server_file(data).write_text(json.dumps(other))

    assert data_folder.announced_url(data) == "http://127.0.0.1:2"


def test_the_environment_comes_before_the_data_folder(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data_folder.key_file(data).write_text("rk_generated")
    monkeypatch.setenv("INGEST_ADMIN_KEY", "rk_admin")
    assert find_service().key == "rk_admin"

    monkeypatch.setenv("INGEST_API_KEY", "rk_mine")
    monkeypatch.setenv("INGEST_URL", "https://ingest.example/")
    target = find_service()

    assert (target.url, target.key) == ("https://ingest.example", "rk_mine")
    assert not target.is_local


def test_empty_variable_counts_as_unset(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data_folder.key_file(data).write_text("rk_generated")
    for name in ("INGEST_URL", "INGEST_API_KEY"):
        monkeypatch.setenv(name, "")

    assert find_service().key == "rk_generated"
    assert find_service().is_local


def test_without_a_key_or_with_a_wrong_url_the_error_names_the_variable(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with pytest.raises(CommandError, match="INGEST_API_KEY"):
        find_service()
    with pytest.raises(CommandError, match="INGEST_URL: there is not"):
        find_service(ClientSettings(url="there"))


def test_invalid_announcement_file_is_ignored(data: Path) -> None:
    data_folder.server_file(data).write_text("{")

    assert data_folder.announced_url(data) is None


@pytest.mark.parametrize(
    ("answer", "kind", "told"),
    [
        (httpx.ConnectError("x"), Unreachable, "start the service with `ingest serve`"),
        (httpx.ReadError("x"), Unreachable, "was lost"),
        (
            httpx.Response(401, json={"detail": "no"}),
            ServiceError,
            "rejected the key from INGEST_API_KEY",
        ),
        (httpx.Response(404, json={"detail": "batch not found"}), ServiceError, "batch not found"),
        (httpx.Response(500, text="<html>"), ServiceError, "500"),
        (httpx.Response(200, text="<html>"), CommandError, "is not rag-ingest"),
        (
            httpx.Response(422, json={"detail": "d", "errors": [{"field": "f", "message": "m"}]}),
            ServiceError,
            "d; f: m",
        ),
        (
            httpx.Response(422, json={"detail": "m", "errors": [{"field": "f", "message": "m"}]}),
            ServiceError,
            "f: m",
        ),
    ],
)
def test_errors_are_one_line_that_never_holds_the_key(
    answer: httpx.Response | Exception, kind: type[CommandError], told: str
) -> None:
    with client(answer) as http, pytest.raises(kind) as caught:
        http.get("/api/jobs")

    assert told in str(caught.value)
    assert "rk_secret" not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_lists_are_read_page_by_page_up_to_the_limit() -> None:
    def handle(request: httpx.Request) -> httpx.Response:
        start = int(request.url.params.get("cursor", 0))
        end = start + int(request.url.params["limit"])
        items = [{"n": n} for n in range(start, min(end, 450))]
        return httpx.Response(
            200, json={"items": items, "nextCursor": str(end) if end < 450 else None}
        )

    target = ServiceAddress(url="http://there", key="k", key_from="x")
    with Client(target, transport=httpx.MockTransport(handle)) as http:
        assert len(list(http.pages("/x", limit=1000))) == 450
        assert len(list(http.pages("/x", limit=250, status=None))) == 250
        assert len(list(http.pages("/x", limit=3))) == 3


@pytest.mark.parametrize(
    ("url", "is_shown"),
    [
        ("http://127.0.0.1:8000", True),
        ("http://localhost:8000/", True),
        ("http://127.0.0.1:9123", False),
        ("http://127.0.0.1:8000@evil.example", False),
        ("https://127.0.0.1:8000", False),
    ],
)
def test_stored_key_is_sent_only_to_its_own_service(
    tmp_path: Path, url: str, *, is_shown: bool
) -> None:
    (tmp_path / "admin.key").write_text("rk_kept")
    settings = ClientSettings(url=url, data_dir=tmp_path)

    if is_shown:
        assert find_service(settings).key == "rk_kept"
    else:
        with pytest.raises(CommandError, match="no API key for"):
            find_service(settings)
