"""A compressed file is read as the file that it holds."""

import bz2
import gzip
import io
import lzma
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from ingest.errors import IsArchive, Permanent
from ingest.formats.archives.members import FolderSink
from ingest.formats.archives.unpack import unpack
from ingest.formats.registry import extract
from ingest.model import Document
from tests.builders import make_files, make_mail_with_file
from tests.builders.make_archives import tar_of, zip_of

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

MIB = 1024 * 1024
TEXT = b"The pump is checked every week.\n" * 40
COMPRESS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": lambda data: zstd.compress(data, options={zstd.CompressionParameter.checksum_flag: 1}),
}
by_suffix = pytest.mark.parametrize("suffix", COMPRESS)


def read(data: bytes, name: str, **options: object) -> Document:
    return extract(io.BytesIO(data), name=name, **options)  # type: ignore[arg-type]


def code_of(data: bytes, name: str, **options: object) -> str:
    with pytest.raises(Permanent) as caught:
        read(data, name, **options)
    assert not isinstance(caught.value, IsArchive)
    return caught.value.code


@by_suffix
def test_a_compressed_file_is_read_as_the_file_inside(suffix: str) -> None:
    packed = COMPRESS[suffix]

    document = read(packed(TEXT), f"notes.txt{suffix}")

    assert (document.media_type, document.text) == ("text/plain", TEXT.decode())
    assert document.warnings == ()
    assert read(packed(b"a,b\n1,2\n"), f"T.CSV{suffix.upper()}").media_type == "text/csv"
    assert read(packed(make_files.pdf(["Hello."])), f"x{suffix}").media_type == "application/pdf"


@pytest.mark.parametrize(
    ("name", "media_type"),
    [
        ("access.log.1.gz", "text/plain"),
        ("drawing.svgz", "application/xml"),
        ("page.html.gz", "text/html"),
        ("README.gz", "text/plain"),
    ],
)
def test_the_name_without_the_suffix_is_a_hint(name: str, media_type: str) -> None:
    content = {
        "drawing.svgz": b'<svg xmlns="http://www.w3.org/2000/svg"><text>Pump</text></svg>',
        "page.html.gz": b"<p>Pump &amp; valve</p>",
    }.get(name, TEXT)

    document = read(gzip.compress(content), name)

    assert (document.media_type, document.warnings) == (media_type, ())


def test_a_name_in_the_gzip_header_is_a_hint_at_a_text_format() -> None:
    def packed(name: str) -> bytes:
        with gzip.GzipFile(name, "wb", fileobj=(out := io.BytesIO()), mtime=0) as file:
            file.write(b"a;b\n1;2\n")
        return out.getvalue()

    assert read(packed("dir/t.csv"), "download").media_type == "text/csv"
    assert read(packed("t.csv"), "t.gz").media_type == "text/csv"
    assert read(packed("t.csv"), "t.txt.gz").media_type == "text/plain"
    assert read(packed("t.pdf"), "download").media_type == "text/plain"


def test_a_name_that_hides_the_compression_is_a_mismatch() -> None:
    assert read(gzip.compress(TEXT), "notes.txt").warnings == ("type_mismatch",)
    assert read(gzip.compress(make_files.pdf(["Hello."])), "a.txt.gz").warnings == (
        "type_mismatch",
    )


def test_the_declared_type_is_that_of_either() -> None:
    declared = read(gzip.compress(b"a;b\n1;2"), "x", declared="text/csv; charset=utf-8")

    assert declared.media_type == "text/csv"
    assert read(gzip.compress(TEXT), "x", declared="application/gzip").warnings == ()


@by_suffix
def test_concatenated_streams_are_one_file(suffix: str) -> None:
    packed = COMPRESS[suffix]

    document = read(packed(TEXT[:100]) + packed(TEXT[100:]), f"a.txt{suffix}")

    assert document.text.strip() == TEXT.decode().strip()


@by_suffix
@pytest.mark.parametrize("rest", [bytes(512), b"\n", b"garbage after the data", b"\x1f"])
def test_what_follows_the_last_stream_is_ignored(suffix: str, rest: bytes) -> None:
    document = read(COMPRESS[suffix](TEXT) + rest, f"a.txt{suffix}")

    assert document.text.strip() == TEXT.decode().strip()


@pytest.mark.parametrize("at", [4090, 4091, 4094, 4096])
def test_a_stream_may_begin_anywhere(at: int) -> None:
    """Also where a block that is read ends."""
    first = zlib_stored(at)

    assert len(first) == at
    assert read(first + gzip.compress(TEXT), "a.txt.gz").text.endswith(TEXT.decode())


def zlib_stored(size: int) -> bytes:
    """A gzip stream of this size, whose content is stored."""
    return gzip.compress(b"x" * (size - 23), compresslevel=0, mtime=0)


def test_files_of_thousands_of_streams_are_read() -> None:
    data = gzip.compress(b"") * 20_000 + gzip.compress(TEXT)

    assert read(data, "a.txt.gz").text.strip() == TEXT.decode().strip()


def test_frames_that_zstandard_skips_are_skipped() -> None:
    skipped = b"\x50\x2a\x4d\x18\x04\0\0\0size"

    data = skipped + zstd.compress(TEXT[:99]) + skipped + zstd.compress(TEXT[99:])

    assert read(data, "a.txt.zst").text.strip() == TEXT.decode().strip()


@by_suffix
def test_a_file_cut_off_is_corrupt(suffix: str) -> None:
    packed = COMPRESS[suffix](bytes(range(256)) * 200)

    for size in (len(packed) // 2, len(packed) - 1):
        assert code_of(packed[:size], f"a.txt{suffix}") == "corrupt"


@by_suffix
def test_a_damaged_file_is_corrupt(suffix: str) -> None:
    packed = bytearray(COMPRESS[suffix](TEXT))
    middle = len(packed) // 2
    packed[middle : middle + 8] = bytes(8)

    assert code_of(bytes(packed), f"a.txt{suffix}") == "corrupt"


@by_suffix
def test_an_empty_file_inside_is_empty(suffix: str) -> None:
    assert code_of(COMPRESS[suffix](b""), f"a.txt{suffix}") == "empty_content"


def test_what_a_file_inside_fails_with_is_the_code() -> None:
    assert code_of(gzip.compress(b"%PDF-1.7 broken"), "a.pdf.gz") == "corrupt"
    assert code_of(gzip.compress(b"\x7fELF" + bytes(60)), "a.gz") == "unsupported_type"


@by_suffix
def test_bombs_are_refused(suffix: str) -> None:
    assert code_of(COMPRESS[suffix](bytes(40 * MIB)), f"a{suffix}") == "archive_unsafe"


def test_the_ratio_counts_from_the_outermost_file() -> None:
    plausible = gzip.compress(bytes(5000)) * 8000

    assert code_of(plausible, "a.gz") == "unsupported_type"
    assert code_of(gzip.compress(plausible), "a.gz.gz") == "archive_unsafe"


def test_the_decompressed_size_is_limited() -> None:
    data = gzip.compress(TEXT)

    assert code_of(data, "a.txt.gz", max_inflated=len(TEXT) - 1) == "too_large"
    assert read(data, "a.txt.gz", max_inflated=len(TEXT)).text


def test_compressed_repeatedly() -> None:
    data = TEXT
    for suffix in (".xz", ".zst", ".gz", ".bz2"):
        data = COMPRESS[suffix](data)
    name = "a.txt.xz.zst.gz.bz2"

    assert read(data, name).text.strip() == TEXT.decode().strip()
    assert code_of(gzip.compress(data), f"{name}.gz") == "archive_unsafe"


@by_suffix
def test_archives_inside_remain_archives(suffix: str, tmp_path: Path) -> None:
    packed = COMPRESS[suffix]
    archives = {
        f"a.tar{suffix}": packed(tar_of({"d/a.txt": b"one"})),
        f"a.zip{suffix}": packed(zip_of({"d/a.txt": b"one"})),
        f"b.tar{suffix}.gz": gzip.compress(packed(tar_of({"d/a.txt": b"one"}))),
    }

    for name, data in archives.items():
        with pytest.raises(IsArchive):
            read(data, name)
        folder = tmp_path / name
        sink = FolderSink(folder, max_members=9, max_bytes=99, max_member_bytes=MIB)
        unpack(io.BytesIO(data), name=name, sink=sink, on_member=lambda: None)
        [member] = sink.members
        assert member.path == "d/a.txt"
        assert (folder / member.file).read_bytes() == b"one"


def test_a_compressed_tar_may_be_larger_than_one_file() -> None:
    data = gzip.compress(tar_of({"a.txt": b"one"}))

    with pytest.raises(IsArchive):
        read(data, "a.tgz", max_inflated=100)


def test_packages_are_documents_not_archives() -> None:
    document = read(gzip.compress(make_files.docx(["Hello."])), "a.docx.gz")

    assert document.text == "Hello."


def test_attachments_of_a_compressed_message_are_passed_on(tmp_path: Path) -> None:
    sink = FolderSink(tmp_path / "m", max_members=9, max_bytes=MIB, max_member_bytes=MIB)

    read(gzip.compress(make_mail_with_file.MAIL), "mail.eml.gz", members=sink)

    assert sink.members
