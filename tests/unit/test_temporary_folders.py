"""Folders of hostile processes are removed, whatever is in them."""

import os
import stat
from pathlib import Path

from ingest import temporary_folders

# Deeper than Python's recursion and the kernel's limit on the length of a path.
_LEVELS = 3000


def nest(folder: Path, levels: int = _LEVELS) -> None:
    """As a process does that changes into each folder; each has a file."""
    at = os.open(folder, os.O_RDONLY)
    for _ in range(levels):
        os.mkdir("d", dir_fd=at)
        inner = os.open("d", os.O_RDONLY, dir_fd=at)
        os.close(os.open("file", os.O_CREAT | os.O_WRONLY, dir_fd=inner))
        os.close(at)
        at = inner
    os.close(at)


def test_deeply_nested_folders_are_removed(tmp_path: Path) -> None:
    (folder := tmp_path / "scratch").mkdir()
    nest(folder)

    temporary_folders.remove(folder)

    assert not folder.exists()


def test_deeply_nested_folders_are_emptied(tmp_path: Path) -> None:
    nest(tmp_path)
    (tmp_path / "file").touch()

    temporary_folders.empty(tmp_path)

    assert list(tmp_path.iterdir()) == []


def test_folders_without_permissions_and_links_are_removed(tmp_path: Path) -> None:
    (outside := tmp_path / "outside").mkdir()
    (outside / "file").touch()
    (folder := tmp_path / "scratch").mkdir()
    (inner := folder / "a" / "b").mkdir(parents=True)
    (inner / "link").symlink_to(outside)
    inner.chmod(0)
    inner.parent.chmod(0)
    mode = outside.stat().st_mode

    temporary_folders.remove(folder)

    assert not folder.exists()
    assert (outside / "file").exists()
    assert stat.S_IMODE(outside.stat().st_mode) == stat.S_IMODE(mode)


async def test_a_folder_is_made_only_if_it_is_needed() -> None:
    async with temporary_folders.unmade_scratch_folder() as unused:
        assert not unused.exists()
    async with temporary_folders.unmade_scratch_folder() as used:
        used.mkdir()
        (used / "file").touch()

    assert used != unused
    assert not used.exists()


def test_removing_what_is_gone_is_harmless(tmp_path: Path) -> None:
    temporary_folders.remove(tmp_path / "gone")
