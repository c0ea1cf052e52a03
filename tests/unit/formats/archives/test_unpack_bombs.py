"""Archives made to swell: many members, members that share their bytes, names without end."""

import io
import tarfile
import zipfile
from pathlib import Path

import pytest

from ingest.errors import Permanent
from ingest.formats.archives import unpack as unpacking
from ingest.formats.archives.members import FolderSink
from ingest.formats.archives.zip_member import open_member
from tests.builders.make_archives import overlapping, tar_of, zip_of

MIB = 1024 * 1024


def unpack(folder: Path, data: bytes, *, max_members: int = 1000) -> FolderSink:
    sink = FolderSink(
        folder, max_members=max_members, max_bytes=64 * MIB, max_member_bytes=64 * MIB
    )
    unpacking.unpack(io.BytesIO(data), name="a.zip", sink=sink, on_member=lambda: None)
    return sink


def refusal(folder: Path, data: bytes, *, max_members: int = 1000) -> str:
    with pytest.raises(Permanent) as caught:
        unpack(folder, data, max_members=max_members)
    return caught.value.code


def test_members_that_share_their_bytes_are_a_bomb_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unpacking, "_ZIP_RATIO_FROM", 4 * MIB)

    assert refusal(tmp_path, overlapping(["a.txt"] * 9, bytes(MIB))) == "archive_unsafe"


def test_a_list_of_members_that_fills_memory_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unpacking, "LARGEST_DIRECTORY", 200)

    assert refusal(tmp_path, zip_of({f"{n}.txt": "" for n in range(9)})) == "archive_unsafe"


def test_too_many_members_are_refused_before_any_is_written(tmp_path: Path) -> None:
    data = zip_of({f"{n}.txt": "" for n in range(11)})

    assert refusal(tmp_path, data, max_members=10) == "archive_unsafe"
    assert list(tmp_path.iterdir()) == []


def test_links_and_folders_do_not_count_as_members(tmp_path: Path) -> None:
    data = zip_of({**{f"{n}/": "" for n in range(20)}, "a.txt": "one"})

    assert [member.path for member in unpack(tmp_path, data, max_members=1).members] == ["a.txt"]


def test_a_member_whose_deflated_bytes_are_nonsense_does_not_harm_its_neighbours(
    tmp_path: Path,
) -> None:
    data = bytearray(zip_of({"a.txt": "one " * 100, "b.txt": "two"}))
    data[30 + len("a.txt")] = 0xFF  # a type of block that there is not

    members = unpack(tmp_path, bytes(data)).members

    assert [(member.path, member.code) for member in members] == [
        ("a.txt", "corrupt"),
        ("b.txt", None),
    ]


def test_thousands_of_one_name_get_numbers_without_trying_all_of_them(tmp_path: Path) -> None:
    sink = FolderSink(tmp_path, max_members=5000, max_bytes=9, max_member_bytes=9)

    for _ in range(2500):
        sink.refuse("a.txt", code="corrupt", message="")
        sink.refuse(f"{'b' * 190}.txt", code="corrupt", message="")

    paths = [member.path for member in sink.members]
    assert len(set(paths)) == 5000
    assert paths[-2] == "a (2500).txt"


def test_overlapping_zip_members_are_detected() -> None:
    with zipfile.ZipFile(io.BytesIO(overlapping(["a.txt", "b.txt"], b"one"))) as archive:
        assert archive.namelist() == ["a.txt", "b.txt"]
        assert archive.read("a.txt") == b"one"


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_members_of_rarer_methods_are_inflated_piece_by_piece(tmp_path: Path, method: int) -> None:
    text = b"one " * 100_000

    honest = unpack(tmp_path, zip_of({"a.txt": text, "b.txt": b""}, compression=method))
    with zipfile.ZipFile(io.BytesIO(zip_of({"a": text}, compression=method))) as archive:
        first = open_member(archive, archive.getinfo("a")).read(10)

    assert [member.path for member in honest.members] == ["a.txt", "b.txt"]
    assert (tmp_path / honest.members[0].file).read_bytes() == text
    assert first == text[:10]


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_wrong_checksum_is_detected_for_every_compression(tmp_path: Path, method: int) -> None:
    data = bytearray(zip_of({"a.txt": "one", "b.txt": "two"}, compression=method))
    data[data.index(b"PK\x01\x02") + 16] ^= 1

    members = unpack(tmp_path, bytes(data)).members

    assert [member.code for member in members] == ["corrupt", None]


def test_holes_of_a_sparse_file_are_not_filled_without_end(tmp_path: Path) -> None:
    member = tarfile.TarInfo("a.txt")
    member.pax_headers = {
        "GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.name": "a.txt",
        "GNU.sparse.realsize": str(40 * MIB),
    }  # fmt: skip
    content = b"1\n0\n1\n".ljust(512, b"\0") + b"x"
    member.size = len(content)
    with tarfile.open(fileobj=(out := io.BytesIO()), mode="w") as archive:
        archive.addfile(member, io.BytesIO(content))

    assert refusal(tmp_path, out.getvalue()) == "archive_unsafe"


@pytest.mark.parametrize("kind", [tarfile.XHDTYPE, tarfile.GNUTYPE_LONGNAME])
def test_a_header_of_a_tar_that_would_fill_memory_ends_it(tmp_path: Path, kind: bytes) -> None:
    header = tarfile.TarInfo("h")
    header.type, header.size = kind, 2 * MIB
    data = tar_of({"a.txt": b"one"})[:1024] + header.tobuf() + bytes(header.size)

    members = unpack(tmp_path, data).members

    assert [(member.path, member.code) for member in members] == [
        ("a.txt", None),
        ("(the rest of the archive)", "corrupt"),
    ]


def test_members_after_a_damaged_tar_header_are_reported_missing(tmp_path: Path) -> None:
    data = bytearray(tar_of({"a.txt": b"one", "b.txt": b"two"}))
    data[1024 + 150] ^= 1  # a digit of the second header's sum

    members = unpack(tmp_path, bytes(data)).members

    assert [member.code for member in members] == [None, "corrupt"]
