"""The data folder is closed to other accounts."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from ingest.settings.private_folder import keep_private


@pytest.fixture(autouse=True)
def _umask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A folder as an older version left it."""
    data = tmp_path / "data"
    for path in ("blobs/application/blob", "blobs/.staged/x", "postgres/log", "server.json"):
        (data / path).parent.mkdir(parents=True, exist_ok=True)
        (data / path).write_text("x")
    (data / "admin.key").write_text("rk_x")
    return data


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_new_files_and_folders_are_private(tmp_path: Path) -> None:
    keep_private(tmp_path / "data")
    (tmp_path / "data" / "blobs").mkdir(parents=True)
    (tmp_path / "data" / "server.json").write_text("{}")

    assert mode(tmp_path / "data") == mode(tmp_path / "data" / "blobs") == 0o700
    assert mode(tmp_path / "data" / "server.json") == 0o600


def test_what_an_older_version_left_open_is_closed(data: Path) -> None:
    with capture_logs() as logged:
        keep_private(data)

    folders = (data, data / "blobs", data / "blobs/application", data / "postgres")
    files = (data / "admin.key", data / "server.json", data / "postgres/log")
    assert {mode(path) for path in folders} == {0o700}
    assert {mode(path) for path in files} == {0o600}
    assert logged == []


def test_a_folder_that_holds_other_things_stays_open_for_them(data: Path) -> None:
    (data / "web-site").mkdir()
    with capture_logs() as logged:
        keep_private(data)

    assert mode(data) == mode(data / "web-site") == 0o755
    assert (mode(data / "blobs"), mode(data / "admin.key")) == (0o700, 0o600)
    assert [(entry["event"], entry["contains"]) for entry in logged] == [
        ("data_folder.not_private", ["web-site"])
    ]


def test_targets_of_links_are_left_alone(data: Path, tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    (data / "downloads").symlink_to(tmp_path / "disk")

    keep_private(data)

    assert mode(tmp_path / "disk") == 0o755


def test_a_volume_of_another_account_is_used_and_logged_if_all_may_read_it(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(self: Path, mode: int) -> None:
        raise PermissionError(1, "Operation not permitted")

    for path in (data / "blobs", data / "postgres", data / "server.json", data / "admin.key"):
        path.chmod(0o770)
    for path in (data / "blobs").iterdir():
        path.chmod(0o700)
    (data / "postgres/log").chmod(0o600)
    monkeypatch.setattr(Path, "chmod", refuse)
    with capture_logs() as logged:
        keep_private(data)

    assert [entry["folder"] for entry in logged] == [str(data)]
