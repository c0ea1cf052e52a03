"""Archives are taken apart member by member, whatever they claim of themselves."""

import gzip
import io
import struct
import tarfile
import zipfile
import zlib
from pathlib import Path

import pytest

from ingest.errors import Permanent
from ingest.formats.archives.members import FolderSink, is_safe_path, safe_path
from ingest.formats.archives.unpack import unpack
from ingest.model import Member
from tests.builders.make_archives import (
    locked_zip,
    tar_of,
    tar_with,
    zip_of,
    zip_with_link,
)

MIB = 1024 * 1024


class Unpacked:
    def __init__(self, folder: Path, data: bytes, name: str, **limits: int) -> None:
        allowed = {"max_members": 1000, "max_bytes": 64 * MIB, "max_member_bytes": 64 * MIB}
        self._folder = folder
        self.sink = FolderSink(folder, **{**allowed, **limits})
        self.seen = 0
        self.skipped = unpack(io.BytesIO(data), name=name, sink=self.sink, on_member=self._count)

    def _count(self) -> None:
        self.seen += 1

    @property
    def files(self) -> dict[str, bytes]:
        """Paths and bytes of what was kept."""
        return {
            member.path: (self._folder / member.file).read_bytes()
            for member in self.sink.members
            if member.code is None
        }

    @property
    def refused(self) -> dict[str, str]:
        return {member.path: member.code for member in self.sink.members if member.code}


def code_of(folder: Path, data: bytes, name: str = "a.zip", **limits: int) -> str:
    with pytest.raises(Permanent) as caught:
        Unpacked(folder, data, name, **limits)
    return caught.value.code


def test_files_of_a_zip_keep_their_paths(tmp_path: Path) -> None:
    data = zip_of({"a.txt": "one", "folder/": "", "folder/b.txt": "two", "ünï.txt": "three"})

    found = Unpacked(tmp_path, data, "a.zip")

    assert found.files == {"a.txt": b"one", "folder/b.txt": b"two", "ünï.txt": b"three"}
    assert found.seen == 3


def test_a_member_without_a_name_does_not_harm_its_neighbours(tmp_path: Path) -> None:
    data = io.BytesIO(zip_of({"a.txt": "one"}))
    nameless = zipfile.ZipInfo("x")
    nameless.filename = ""
    with zipfile.ZipFile(data, "a") as archive:
        archive.writestr(nameless, "two")

    assert Unpacked(tmp_path, data.getvalue(), "a.zip").files["a.txt"] == b"one"


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:bz2", "w:xz"])
def test_tar_is_read_with_every_compression(tmp_path: Path, mode: str) -> None:
    data = tar_of({"./a.txt": b"one", "folder/b.txt": b"two"}, mode=mode)

    assert Unpacked(tmp_path, data, "a.tar").files == {"a.txt": b"one", "folder/b.txt": b"two"}


def test_compressed_file_is_an_archive_with_one_member(tmp_path: Path) -> None:
    assert Unpacked(tmp_path, gzip.compress(b"text"), "notes.txt.gz").files == {
        "notes.txt": b"text"
    }


@pytest.mark.parametrize("name", ["../x", "a/../../x", "..\\x", "/../x"])
def test_path_traversal_is_refused(tmp_path: Path, name: str) -> None:
    assert code_of(tmp_path, zip_of({"a.txt": "one", name: "x"})) == "archive_unsafe"
    assert code_of(tmp_path / "t", tar_of({name: b"x"}), "a.tar") == "archive_unsafe"


@pytest.mark.parametrize("name", ["/etc/passwd", "C:\\etc\\passwd", "//etc/passwd"])
def test_an_absolute_path_becomes_a_relative_one(tmp_path: Path, name: str) -> None:
    assert list(Unpacked(tmp_path, zip_of({name: "x"}), "a.zip").files) == ["etc/passwd"]


def test_links_and_devices_are_counted_not_followed(tmp_path: Path) -> None:
    link = zip_with_link("link", "/etc/passwd")
    (tmp_path / "zip").mkdir()
    (tmp_path / "tar").mkdir()
    with zipfile.ZipFile(mixed := io.BytesIO(link), "a") as archive:
        archive.writestr("a.txt", "one")

    of_zip = Unpacked(tmp_path / "zip", mixed.getvalue(), "a.zip")
    of_tar = Unpacked(tmp_path / "tar", tar_with(tarfile.CHRTYPE, "null"), "a.tar")

    assert (of_zip.files, of_zip.skipped) == ({"a.txt": b"one"}, {"link": 1})
    assert (of_tar.files, of_tar.skipped) == ({"file.txt": b"text"}, {"device": 1})


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE])
def test_tar_links_are_not_followed(tmp_path: Path, kind: bytes) -> None:
    found = Unpacked(tmp_path, tar_with(kind, "link", "/etc/passwd"), "a.tar")

    assert (found.files, found.skipped) == ({"file.txt": b"text"}, {"link": 1})


def test_system_metadata_files_are_skipped(tmp_path: Path) -> None:
    data = zip_of({"__MACOSX/._a.txt": "x", "b/.DS_Store": "x", "b/Thumbs.db": "x", "a.txt": "one"})

    found = Unpacked(tmp_path, data, "a.zip")

    assert (found.files, found.skipped) == ({"a.txt": b"one"}, {"system": 3})


def test_files_of_one_name_are_both_kept(tmp_path: Path) -> None:
    data = zip_of({"a/b.txt": "one", "a/c.txt": "two"}).replace(b"a/c.txt", b"a/b.txt")

    found = Unpacked(tmp_path, data, "a.zip")

    assert found.files == {"a/b.txt": b"one", "a/b (2).txt": b"two"}


def test_names_in_an_old_encoding_are_read_together(tmp_path: Path) -> None:
    names = ["日本語の資料.txt", "会議の議事録.txt"]
    data = zip_of(
        {f"{'x' * len(name.encode('cp932'))}{number}": "x" for number, name in enumerate(names)}
    )
    for number, name in enumerate(names):
        encoded = name.encode("cp932")
        data = data.replace(b"x" * len(encoded) + str(number).encode(), encoded + b"0")

    assert list(Unpacked(tmp_path, data, "a.zip").files) == [f"{name}0" for name in names]


def test_a_name_in_utf_8_beside_an_old_one_counts(tmp_path: Path) -> None:
    member = zipfile.ZipInfo("x.txt")
    crc = zlib.crc32(b"x.txt")
    name = "资料.txt".encode()
    member.extra = struct.pack("<HHBI", 0x7075, 5 + len(name), 1, crc) + name
    with zipfile.ZipFile(data := io.BytesIO(), "w") as archive:
        archive.writestr(member, "text")

    assert list(Unpacked(tmp_path, data.getvalue(), "a.zip").files) == ["资料.txt"]


def test_a_member_with_a_password_does_not_harm_its_neighbours(tmp_path: Path) -> None:
    found = Unpacked(tmp_path, locked_zip("s.txt", open_ones={"a.txt": b"one"}), "a.zip")

    assert (found.files, found.refused) == ({"a.txt": b"one"}, {"s.txt": "encrypted"})


def test_an_archive_of_members_with_passwords_is_encrypted(tmp_path: Path) -> None:
    assert code_of(tmp_path, locked_zip("a.txt", "b.txt")) == "encrypted"


def test_a_damaged_member_does_not_harm_its_neighbours(tmp_path: Path) -> None:
    data = bytearray(zip_of({"a.txt": "one", "b.txt": "two"}, compression=zipfile.ZIP_STORED))
    data[data.index(b"one")] ^= 1

    found = Unpacked(tmp_path, bytes(data), "a.zip")

    assert (found.files, found.refused) == ({"b.txt": b"two"}, {"a.txt": "corrupt"})


@pytest.mark.parametrize("mode", ["w", "w:gz"])
def test_members_before_tar_damage_are_kept(tmp_path: Path, mode: str) -> None:
    noise = bytes(range(256)) * 40 if mode == "w" else _noise(40_000)
    data = tar_of({"a.txt": b"one", "b.bin": noise}, mode=mode)

    found = Unpacked(tmp_path, data[: len(data) // 2], "a.tar")

    assert found.files == {"a.txt": b"one"}
    assert list(found.refused.values()) == ["corrupt"]


def _noise(size: int) -> bytes:
    import random

    return random.Random(1).randbytes(size)


@pytest.mark.parametrize(
    ("data", "name", "code"),
    [
        (zip_of({}), "a.zip", "empty_content"),
        (zip_of({"folder/": ""}), "a.zip", "empty_content"),
        (zip_of({"a.txt": "one"})[:-10], "a.zip", "corrupt"),
        (gzip.compress(b"text" * 5000, mtime=0)[:20], "a.gz", "corrupt"),
        (b"just text", "a.txt", "unsupported_type"),
    ],
)
def test_archive_without_files_reports_the_cause(
    tmp_path: Path, data: bytes, name: str, code: str
) -> None:
    assert code_of(tmp_path, data, name) == code


def test_too_many_members_are_refused(tmp_path: Path) -> None:
    data = zip_of({f"{n}.txt": "" for n in range(101)})

    assert code_of(tmp_path, data, max_members=100) == "archive_unsafe"


def test_total_member_size_is_limited(tmp_path: Path) -> None:
    data = zip_of({f"{n}.txt": "x" * 600 for n in range(2)})

    assert code_of(tmp_path, data, max_bytes=1000) == "too_large"


def test_a_member_that_is_too_large_does_not_harm_its_neighbours(tmp_path: Path) -> None:
    data = zip_of({"large.txt": "x" * 600, "a.txt": "one"})

    found = Unpacked(tmp_path, data, "a.zip", max_member_bytes=500)

    assert (found.files, found.refused) == ({"a.txt": b"one"}, {"large.txt": "too_large"})
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("pack", [lambda zeros: zip_of({"a": zeros}), gzip.compress])
def test_compression_ratio_is_limited(tmp_path: Path, pack: object) -> None:
    data = pack(b"\0" * 40 * MIB)  # type: ignore[operator]

    assert code_of(tmp_path, data, "a.zip") == "archive_unsafe"
    assert list(tmp_path.iterdir()) == []


def test_declared_member_sizes_are_not_trusted(tmp_path: Path) -> None:
    data = bytearray(zip_of({"a.txt": "x" * 5000}))
    directory = data.index(b"PK\x01\x02")
    data[directory + 24 : directory + 28] = struct.pack("<I", 10)  # inflated size

    assert code_of(tmp_path, bytes(data)) == "corrupt"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("path", "safe"),
    [
        ("a/b.txt", "a/b.txt"),
        ("./a//b.txt", "a/b.txt"),
        ("a\\b.txt", "a/b.txt"),
        ("a/../b", "a/b"),
        ("a\0b\n.txt", "ab .txt"),
        ("\u202egpj.exe", "gpj.exe"),
        (" / ", ""),
        ("x" * 300, "x" * 200),
    ],
)
def test_paths_become_safe(path: str, safe: str) -> None:
    assert safe_path(path) == safe
    assert is_safe_path(safe) is bool(safe)


def test_names_truncated_alike_are_made_unique(tmp_path: Path) -> None:
    sink = FolderSink(tmp_path, max_members=9, max_bytes=99, max_member_bytes=99)

    for _ in range(3):
        sink.add("x" * 2000 + ".txt", b"")
        sink.add("/".join(["y" * 199] * 8), b"")
        sink.add("", b"")

    paths = [member.path for member in sink.members]
    assert len(set(paths)) == 9
    assert all(map(is_safe_path, paths))


def test_a_refused_member_has_no_file(tmp_path: Path) -> None:
    sink = FolderSink(tmp_path, max_members=1, max_bytes=9, max_member_bytes=9)

    sink.refuse("a", code="corrupt", message="why")

    assert sink.members == [Member(path="a", file="", code="corrupt", message="why")]
