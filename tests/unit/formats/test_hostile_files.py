"""Small files made to fill memory or to take forever: each ends in seconds, with its code."""

import gzip
import io
import zipfile
from collections.abc import Callable
from pathlib import Path

from harness.patience import AGES
from ingest.errors import IsArchive, Permanent
from ingest.model import ChunkSettings
from ingest.sandbox.messages import ParseRequest, UnpackRequest
from ingest.sandbox.pool import ParserPool
from tests.builders import make_files, make_images, make_mail, make_office, make_sheets
from tests.builders.make_archives import overlapping

MIB = 1024 * 1024
_CHUNKS = ChunkSettings(tokenizer="wordllama", size=256, overlap=32)
_ENTITIES = "".join(f"<!ENTITY e{level} '{f'&e{level - 1};' * 10}'>" for level in range(1, 11))
_LAUGHS = f"<!DOCTYPE d [<!ENTITY e0 'ha'>{_ENTITIES}]>"


async def outcome(pool: ParserPool, folder: Path, data: bytes, name: str) -> str:
    """`ok`, or the code of the refusal."""
    (path := folder / "file").write_bytes(data)
    (members := folder / "members").mkdir()
    request = ParseRequest(name=name, declared=None, max_pages=5000, chunk=_CHUNKS)
    unpacking = UnpackRequest(
        name=name,
        folder=str(members),
        max_members=1000,
        max_bytes=64 * MIB,
        max_member_bytes=64 * MIB,
    )
    try:
        try:
            await pool.parse(path, request)
        except IsArchive:
            await pool.unpack(path, unpacking)
    except Permanent as error:
        return error.code
    return "ok"


def _zip_of_zeros(method: int) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        archive.writestr("a.txt", bytes(48 * MIB))
    return out.getvalue()


def _xls(sheet: bytes = b"", *, circular: int | None = None) -> bytes:
    """circular: where the header names the first sector of the table in which the first entry then
    points to itself; 76: of sectors, 60: of small sectors."""
    stream = make_sheets.excel_97_stream([["Name"], ["Ann"]])
    start = stream.rindex(b"\x09\x08\x10\x00") + 4 + 16
    data = bytearray(make_mail.ole({"Workbook": stream[:start] + sheet + stream[start:]}))
    if circular is not None:
        table = 512 * (1 + int.from_bytes(data[circular : circular + 4], "little"))
        data[table : table + 4] = bytes(4)
    return bytes(data)


def _cut_xls() -> bytes:
    """A directory in a circle, in a container that ends in the table of small sectors."""
    data = bytearray(_xls())
    table, directory = (int.from_bytes(data[at : at + 4], "little") for at in (76, 48))
    entry = 512 * (1 + table) + 4 * directory
    data[entry : entry + 4] = data[48:52]
    data[60:64] = (len(data) // 512 - 1).to_bytes(4, "little")
    return bytes(data) + bytes(5)


def _deep_pdf() -> bytes:
    pdf = make_files.pdf(["Text."])
    return pdf.replace(b"/Type /Catalog", b"/Type /Catalog /X " + b"[" * 200_000)


BOMBS: dict[str, tuple[str, Callable[[], bytes], str]] = {
    "deflated zeros": ("a.zip", lambda: _zip_of_zeros(zipfile.ZIP_DEFLATED), "archive_unsafe"),
    "zeros by bzip2": ("a.zip", lambda: _zip_of_zeros(zipfile.ZIP_BZIP2), "archive_unsafe"),
    "members that overlap": (
        "a.zip", lambda: overlapping(["a.txt"] * 100, bytes(MIB)), "too_large"
    ),
    "gzipped zeros": ("a.gz", lambda: gzip.compress(bytes(48 * MIB)), "archive_unsafe"),
    "a swelling part": ("a.docx", lambda: make_files.docx_bomb(48 * MIB), "archive_unsafe"),
    "a nested body": (
        "a.docx",
        lambda: make_office.word("<w:sdt><w:sdtContent>" * 50_000 + "x"
                                 + "</w:sdtContent></w:sdt>" * 50_000),
        "corrupt",
    ),
    "a repeated cell": (
        "a.ods", lambda: make_sheets.ods(make_sheets.ods_row("x*16384", times=1_000_000)), "corrupt"
    ),
    "entities that multiply": ("a.xml", lambda: f"{_LAUGHS}<d>&e10;</d>".encode(), "corrupt"),
    "sectors in a circle": ("a.xls", lambda: _xls(circular=76), "ok"),
    "sectors in a circle, cut off": ("a.xls", _cut_xls, "corrupt"),
    "small sectors in a circle": ("a.xls", lambda: _xls(circular=60), "corrupt"),
    "a sheet of 300 GB": (
        "a.xls",
        lambda: _xls(bytes.fromhex("0002 0e00 00000000 00000001 0000 0802 0000")),
        "ok",
    ),
    "a picture of 60,000 pixels": (
        "a.png", lambda: make_images.huge_png(60_000, 60_000), "too_large"
    ),
    "messages in messages": (
        "a.eml",
        lambda: b"From: a@b.c\r\nContent-Type: message/rfc822\r\n\r\n" * 3000,
        "archive_unsafe",
    ),
    "nested elements": ("a.html", lambda: b"<div>" * 200_000 + b"x", "ok"),
    "a crowd of attributes": (
        "a.html", lambda: b"<p " + b" ".join(b"a%d" % n for n in range(100_000)) + b">x", "ok"
    ),
    "nested brackets": ("a.json", lambda: b"[" * 100_000, "ok"),
    "nested groups": ("a.rtf", lambda: rb"{\rtf1 " + b"{" * 200_000 + b"x", "ok"),
    "nested arrays": ("a.pdf", _deep_pdf, "corrupt"),
}  # fmt: skip


async def test_hostile_files_fail_with_their_code_and_the_next_file_is_read(tmp_path: Path) -> None:
    pool = ParserPool(size=1, timeout=AGES, memory=1024 * MIB)
    found: dict[str, tuple[str, str]] = {}
    try:
        for number, (bomb, (name, build, _)) in enumerate(BOMBS.items()):
            (folder := tmp_path / str(number)).mkdir()
            (after := folder / "after").mkdir()
            found[bomb] = (
                await outcome(pool, folder, build(), name),
                await outcome(pool, after, b"The next file.", "a.txt"),
            )
    finally:
        await pool.close()

    assert found == {bomb: (expected, "ok") for bomb, (_, _, expected) in BOMBS.items()}
