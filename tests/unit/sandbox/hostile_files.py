"""Files that a hostile parser obeys, and the processes that come of them."""

import asyncio
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.patience import PATIENCE
from ingest.errors import Permanent, Transient
from ingest.model import ChunkSettings
from ingest.sandbox.messages import Parsed, ParseRequest
from ingest.sandbox.pool import ParserPool

MIB = 1024 * 1024
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="needs /proc and prctl")
REQUEST = ParseRequest(
    name="a.txt",
    declared=None,
    max_pages=100,
    chunk=ChunkSettings(tokenizer="minilm", size=64, overlap=8),
)


class Files:
    """Writes a command into a file and has it parsed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def write(self, data: str | bytes, name: str = "a.txt") -> Path:
        path = self._folder / name
        path.write_bytes(data.encode() if isinstance(data, str) else data)
        return path

    async def parse(self, pool: ParserPool, command: str) -> Parsed:
        return await pool.parse(self.write(command), REQUEST)

    async def text(self, pool: ParserPool, command: str) -> str:
        return (await self.parse(pool, command)).document.text

    async def code(self, pool: ParserPool, command: str) -> str:
        with pytest.raises((Permanent, Transient)) as caught:
            await self.parse(pool, command)
        error = caught.value
        assert isinstance(error, Permanent | Transient)
        return error.code


def is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


async def until(reached: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not reached():  # noqa: ASYNC110  # other processes set no event
            await asyncio.sleep(0.01)


async def until_gone(pid: int) -> None:
    await until(lambda: not is_running(pid))


async def noted_pid(note: Path) -> int:
    """The process id in a file, as soon as it is there."""
    found: list[int] = []

    def read() -> bool:
        found.extend(int(word) for word in (note.read_text().split() if note.exists() else []))
        return bool(found)

    await until(read)
    return found[0]


def parent_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
