"""A file that crashes, hangs, eats memory or takes over its parser fails alone."""

import asyncio
import signal
from dataclasses import replace
from pathlib import Path

import orjson
import pytest

from harness.patience import AGES, PATIENCE
from ingest.errors import IsArchive, Permanent, Transient
from ingest.model import ChunkSettings, Member, OcrSettings, Page
from ingest.sandbox.jail import Confinement
from ingest.sandbox.messages import Parsed, RechunkRequest, UnpackRequest
from ingest.sandbox.pool import ParserPool
from tests.builders import make_files
from tests.builders.make_archives import zip_of
from tests.support.movable_clock import MovableClock
from tests.unit.sandbox.hostile_files import (
    LINUX,
    MIB,
    REQUEST,
    Files,
    noted_pid,
)


async def test_document_and_chunks_are_returned_complete(tmp_path: Path) -> None:
    path = tmp_path / "blob"
    path.write_bytes(make_files.pdf(["First page of words.", "Second page."], title="A title"))
    parser_pool = ParserPool(size=1, timeout=AGES, memory=1024 * MIB)

    try:
        parsed = await parser_pool.parse(path, REQUEST)
    finally:
        await parser_pool.close()

    document = parsed.document
    assert document.title == "A title"
    assert [document.text[page.start : page.end] for page in document.pages] == [
        "First page of words.",
        "Second page.",
    ]
    assert [piece.ordinal for piece in parsed.chunks] == list(range(len(parsed.chunks)))
    assert all(piece.text == document.text[piece.start : piece.end] for piece in parsed.chunks)
    assert parsed.chunks[0].page == 1
    assert parsed.extract_seconds > 0


async def test_a_refused_file_leaves_its_process_fit(parser_pool: ParserPool, files: Files) -> None:
    before = await files.text(parser_pool, "pid")
    path = files.write(make_files.png(), "b.png")

    with pytest.raises(Permanent) as caught:
        await parser_pool.parse(path, REQUEST)

    assert caught.value.code == "corrupt"
    assert await files.text(parser_pool, "pid") == before


@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGKILL])
async def test_a_crash_names_its_signal_and_stage(
    parser_pool: ParserPool, files: Files, number: signal.Signals
) -> None:
    with pytest.raises(Permanent, match=f"{number.name}.*extract") as caught:
        await files.parse(parser_pool, f"signal {number.value}")

    assert caught.value.code == "parser_crashed"


@LINUX
@pytest.mark.parametrize(("size", "code"), [(700, "parser_memory"), (1, "parser_crashed")])
async def test_abort_with_high_memory_use_is_parser_memory(
    parser_pool: ParserPool, files: Files, size: int, code: str
) -> None:
    assert await files.code(parser_pool, f"swell {size}") == code


async def test_exit_of_the_parser_is_reported_as_crash(
    parser_pool: ParserPool, files: Files
) -> None:
    assert await files.code(parser_pool, "exit 9") == "parser_crashed"


async def test_after_a_crash_the_next_file_is_read(parser_pool: ParserPool, files: Files) -> None:
    await files.code(parser_pool, "exit 9")

    assert await files.text(parser_pool, "say hello") == "hello"


async def test_a_crash_does_not_touch_its_neighbour(
    parser_pool: ParserPool, tmp_path: Path
) -> None:
    slow, bad = tmp_path / "slow", tmp_path / "bad"
    slow.write_text("sleep 1")
    bad.write_text("exit 9")

    results = await asyncio.gather(
        parser_pool.parse(slow, REQUEST), parser_pool.parse(bad, REQUEST), return_exceptions=True
    )

    assert isinstance(results[0], Parsed)
    assert isinstance(results[1], Permanent)


@LINUX
async def test_a_hang_ends_at_the_time_limit(
    files: Files, tmp_path: Path, movable_clock: MovableClock
) -> None:
    parser_pool = ParserPool(
        size=1,
        timeout=AGES,
        memory=1024 * MIB,
        child="tests.servers.hostile_parser",
        confinement=Confinement(mode="off"),
    )
    work = asyncio.create_task(
        files.code(parser_pool, f"wait {tmp_path / 'pid'} {tmp_path / 'end'}")
    )
    try:
        await noted_pid(tmp_path / "pid")
        movable_clock.forward(PATIENCE)
        assert await work == "parser_timeout"
        text = await files.text(parser_pool, "say next")
    finally:
        await parser_pool.close()

    assert text == "next"


async def test_each_picture_restarts_the_time_limit(
    parser_pool: ParserPool, files: Files, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []
    request = replace(REQUEST, ocr=OcrSettings(engine="slow"))
    # Most of the limit passes by the clock of the limit, whatever the machine's own says.
    passes = 0.6 * AGES.total_seconds()
    loop = asyncio.get_running_loop()
    of_the_machine = loop.time
    monkeypatch.setattr(loop, "time", lambda: of_the_machine() + passes * len(seen))

    parsed = await parser_pool.parse(
        files.write("pictures 3"), request, on_page=lambda: seen.append("picture")
    )

    assert parsed.document.text == "read read read"
    assert seen == ["picture"] * 3


async def test_pictures_are_not_read_unless_asked_for(
    parser_pool: ParserPool, files: Files
) -> None:
    assert await files.text(parser_pool, "pictures 1") == "no ocr"


async def test_attachments_are_written_to_the_given_folder(
    parser_pool: ParserPool, files: Files, tmp_path: Path
) -> None:
    (folder := tmp_path / "members").mkdir()

    parsed = await parser_pool.parse(
        files.write("attach ../a/b.txt"), replace(REQUEST, members=str(folder))
    )

    assert parsed.members == (Member(path="a/b.txt", file="0"),)
    assert [file.read_bytes() for file in folder.iterdir()] == [b"attached"]


async def test_attachments_are_not_kept_without_a_folder(
    parser_pool: ParserPool, files: Files
) -> None:
    parsed = await files.parse(parser_pool, "attach a.txt")

    assert (parsed.document.text, parsed.members) == ("None", ())


async def test_archive_is_unpacked_in_a_parser_process(
    parser_pool: ParserPool, files: Files, tmp_path: Path
) -> None:
    (folder := tmp_path / "members").mkdir()
    path = files.write(zip_of({"a.txt": b"one", "b/c.txt": b"two"}), "a.zip")
    request = UnpackRequest(
        name="a.zip", folder=str(folder), max_members=9, max_bytes=99, max_member_bytes=99
    )

    unpacked = await parser_pool.unpack(path, request)

    assert [member.path for member in unpacked.members] == ["a.txt", "b/c.txt"]
    assert [(folder / member.file).read_bytes() for member in unpacked.members] == [b"one", b"two"]


async def test_parsing_an_archive_raises_is_archive(parser_pool: ParserPool, files: Files) -> None:
    with pytest.raises(IsArchive):
        await parser_pool.parse(files.write(zip_of({"a.txt": b"one"}), "a.zip"), REQUEST)


async def test_rechunk_does_not_parse_again(parser_pool: ParserPool) -> None:
    text = "# One\n\nFirst page.\n\n# Two\n\nSecond page."
    pages = (Page(number=1, start=0, end=18), Page(number=2, start=20, end=len(text)))
    settings = ChunkSettings(tokenizer="minilm", size=64, overlap=0, by="page")

    chunks = (await parser_pool.rechunk(text, RechunkRequest(pages=pages, chunk=settings))).chunks

    assert [chunk.page for chunk in chunks] == [1, 2]
    assert [text[chunk.start : chunk.end] for chunk in chunks] == [chunk.text for chunk in chunks]


@LINUX
async def test_cpu_time_is_limited_even_if_nobody_watches(
    parser_pool: ParserPool, files: Files
) -> None:
    found = orjson.loads(await files.text(parser_pool, "limits RLIMIT_CPU RLIMIT_CORE"))

    # What its start has used comes on top.
    assert PATIENCE < found["RLIMIT_CPU"] < 1.5 * PATIENCE
    assert found["RLIMIT_CORE"] == 0


@LINUX
async def test_memory_is_limited(parser_pool: ParserPool, files: Files) -> None:
    before = await files.text(parser_pool, "pid")

    assert await files.code(parser_pool, "allocate 2000") == "parser_memory"
    assert await files.text(parser_pool, "pid") != before


async def test_out_of_memory_in_a_native_library_is_parser_memory(
    parser_pool: ParserPool, files: Files
) -> None:
    words = "memory allocation of 4294967296 bytes failed"

    assert await files.code(parser_pool, f"abort {words}") == "parser_memory"


async def test_output_of_libraries_does_not_corrupt_the_reply(
    parser_pool: ParserPool, files: Files
) -> None:
    assert await files.text(parser_pool, "print noise") == "printed"


@LINUX
async def test_forged_parser_reply_is_rejected(parser_pool: ParserPool, files: Files) -> None:
    with pytest.raises(Permanent, match="The parser sent") as caught:
        await files.parse(parser_pool, 'lie {"resident": 1, "document": {"text": 5}, "chunks": []}')

    assert caught.value.code == "parser_crashed"


@LINUX
async def test_a_parser_cannot_keep_its_parent_busy_with_progress(
    parser_pool: ParserPool, files: Files
) -> None:
    with pytest.raises(Permanent, match="too many steps"):
        await files.parse(parser_pool, "chatter 10000")


async def test_a_missing_file_is_transient(parser_pool: ParserPool, tmp_path: Path) -> None:
    with pytest.raises(Transient):
        await parser_pool.parse(tmp_path / "gone", REQUEST)
