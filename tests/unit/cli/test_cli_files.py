"""Which files a command line names, and under which path each is sent."""

import os
from pathlib import Path

import pytest

from api.cli.client.local_files import LocalFile, find_files, split
from api.cli.output import CommandError


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(*paths: str) -> None:
    for path in paths:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text(path)


def names(*paths: str | Path) -> list[str]:
    return [file.name for file in find_files([Path(path) for path in paths]).files]


def test_folder_uploads_all_files_under_its_name() -> None:
    write("docs/b.md", "docs/a/c.md", "docs/a/b/d.md")

    assert names("docs") == ["docs/b.md", "docs/a/c.md", "docs/a/b/d.md"]


def test_paths_are_kept_as_they_were_typed(here: Path) -> None:
    write("docs/x/a.md")

    assert names("docs/x") == ["docs/x/a.md"]
    assert names("docs/x/a.md") == ["docs/x/a.md"]
    assert names("./docs") == ["docs/x/a.md"]


def test_parent_folders_are_not_part_of_the_path(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("docs/x/a.md")

    assert names(here / "docs") == ["docs/x/a.md"]
    monkeypatch.chdir("docs/x")
    assert names(".") == ["a.md"]
    assert names("../../docs") == ["docs/x/a.md"]


def test_file_named_twice_is_listed_once() -> None:
    write("docs/a.md")

    assert names("docs", "docs/a.md", "docs") == ["docs/a.md"]


def test_two_files_that_would_have_the_same_name_are_an_error(here: Path) -> None:
    write("one/docs/a.md", "two/docs/a.md")

    with pytest.raises(CommandError, match=r"would both be stored as docs/a\.md"):
        names(here / "one/docs", here / "two/docs")


def test_hidden_and_special_files_are_skipped_and_reported() -> None:
    write("docs/a.md", "docs/.hidden", "docs/.git/config")
    os.mkfifo("docs/pipe")

    found = find_files([Path("docs")])

    assert [file.name for file in found.files] == ["docs/a.md"]
    assert {file.path: file.reason for file in found.skipped} == {
        "docs/.hidden": "hidden",
        "docs/.git": "hidden",
        "docs/pipe": "not a file",
    }
    assert not any(file.is_failure for file in found.skipped)


def test_links_are_followed_but_not_in_circles() -> None:
    write("docs/a/x.md", "elsewhere/y.md")
    Path("docs/link").symlink_to("../elsewhere")
    Path("docs/a/loop").symlink_to("..")
    Path("docs/self").symlink_to("self")

    found = find_files([Path("docs")])

    assert sorted(file.name for file in found.files) == ["docs/a/x.md", "docs/link/y.md"]
    assert [file.path for file in found.skipped if file.reason == "symlink loop"] == ["docs/a/loop"]
    assert [file.path for file in found.skipped if file.is_failure] == ["docs/self"]


def test_a_name_that_is_not_utf_8_is_sent_as_the_service_would_read_it() -> None:
    os.mkdir("docs")
    with open(b"docs/caf\xe9.txt", "wb") as file:
        file.write(b"x")

    assert names("docs") == ["docs/caf%E9.txt"]


def test_missing_path_is_an_error() -> None:
    with pytest.raises(CommandError, match="nowhere does not exist"):
        names("nowhere")


def test_requests_are_bounded_by_files_and_bytes() -> None:
    files = [LocalFile(path=Path("x"), name=str(n), size=size) for n, size in enumerate((5, 5, 9))]

    assert [len(part) for part in split(files, count=2, size=100)] == [2, 1]
    assert [len(part) for part in split(files, count=9, size=10)] == [2, 1]
    assert [len(part) for part in split(files, count=9, size=1)] == [1, 1, 1]


@pytest.mark.parametrize("typed", [".", "data", "data/admin.key"])
def test_the_data_folder_of_a_service_is_never_uploaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, typed: str
) -> None:
    (tmp_path / "data" / "blobs").mkdir(parents=True)
    (tmp_path / "data" / "admin.key").write_text("rk_secret")
    (tmp_path / "data" / "blobs" / "one").write_text("bytes")
    (tmp_path / "note.txt").write_text("knowledge")
    monkeypatch.chdir(tmp_path)

    found = find_files([Path(typed)])

    assert [file.name for file in found.files] == (["note.txt"] if typed == "." else [])
    assert [skipped.reason for skipped in found.skipped] == ["the data folder of a service"]
