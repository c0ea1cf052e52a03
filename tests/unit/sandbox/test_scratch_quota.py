"""A parser process cannot fill the disk with files in its scratch folder."""

import os
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from harness.patience import AGES
from ingest.errors import Permanent
from ingest.model import ChunkSettings
from ingest.sandbox import scratch_quota
from ingest.sandbox.messages import ParseRequest, Request, UnpackRequest
from ingest.sandbox.pool import ParserPool

MIB = 1024 * 1024
CHUNK = ChunkSettings(tokenizer="minilm", size=64, overlap=8)
PARSE = ParseRequest(name="a.txt", declared=None, max_pages=1, chunk=CHUNK)
UNPACK = UnpackRequest(
    name="a.zip", folder="f", max_members=7, max_bytes=20 * MIB, max_member_bytes=MIB
)


def scratch_folders() -> list[Path]:
    return list(Path(tempfile.gettempdir()).iterdir())


@pytest.fixture
async def parser_pool() -> AsyncIterator[ParserPool]:
    parser_pool = ParserPool(
        size=1, timeout=AGES, memory=1024 * MIB, child="tests.servers.hostile_parser"
    )
    yield parser_pool
    await parser_pool.close()


async def test_a_file_that_fills_the_scratch_folder_fails_alone(
    parser_pool: ParserPool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scratch_quota, "_OWN_BYTES", 20 * MIB)
    hostile, harmless = tmp_path / "hostile", tmp_path / "harmless"
    hostile.write_text("hoard 3")
    harmless.write_text("scratch")
    before = (await parser_pool.parse(harmless, PARSE)).document.text

    with pytest.raises(Permanent, match="disk space") as caught:
        await parser_pool.parse(hostile, PARSE)
    after = (await parser_pool.parse(harmless, PARSE)).document.text

    assert caught.value.code == "parser_memory"
    assert before != after
    assert Path(before) not in scratch_folders()


@pytest.mark.parametrize(
    ("request_", "size", "files"),
    [
        (PARSE, 512 * MIB, 10_000),
        (
            ParseRequest(name="", declared=None, max_pages=1, chunk=CHUNK, members="f"),
            1536 * MIB,
            11_000,
        ),
        (UNPACK, 532 * MIB, 10_007),
    ],
)
def test_what_a_request_may_leave_is_allowed(request_: Request, size: int, files: int) -> None:
    assert scratch_quota.allowance(request_) == (size, files)


@pytest.mark.parametrize(
    ("size", "files", "is_too_much"),
    [(12 * MIB, 5, False), (11 * MIB, 5, True), (12 * MIB, 4, True)],
)
def test_everything_in_the_folder_counts(
    tmp_path: Path, size: int, files: int, is_too_much: bool
) -> None:
    (tmp_path / "inner" / "most").mkdir(parents=True)
    (tmp_path / "inner" / "most" / "a").write_bytes(os.urandom(8 * MIB))
    (tmp_path / "b").write_bytes(os.urandom(int(3.5 * MIB)))
    (tmp_path / "link").symlink_to("/usr")

    assert scratch_quota.exceeds(tmp_path, size=size, files=files) is is_too_much


def test_holes_take_no_space(tmp_path: Path) -> None:
    with (tmp_path / "sparse").open("wb") as file:
        file.truncate(100 * MIB)

    assert not scratch_quota.exceeds(tmp_path, size=MIB, files=1)


def test_a_folder_nested_deeper_than_a_path_is_too_much(tmp_path: Path) -> None:
    here = os.open(tmp_path, os.O_RDONLY)
    try:
        for _ in range(30):
            os.mkdir("n" * 200, dir_fd=here)
            inner = os.open("n" * 200, os.O_RDONLY, dir_fd=here)
            os.close(here)
            here = inner
    finally:
        os.close(here)

    assert scratch_quota.exceeds(tmp_path, size=100 * MIB, files=1000)
