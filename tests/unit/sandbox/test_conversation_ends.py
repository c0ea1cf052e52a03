"""Small files that were sent together, when one is cancelled or the pool is closed."""

import asyncio
from pathlib import Path

import pytest

from harness.patience import PATIENCE
from ingest.errors import Transient
from ingest.sandbox.process import Child
from ingest.sandbox.process_supply import Starter
from tests.unit.sandbox.groups import Group, outcomes
from tests.unit.sandbox.hostile_files import LINUX, noted_pid, until_gone

pytestmark = LINUX  # the hostile parser counts what was sent to it


async def test_cancelling_the_file_that_is_read_leaves_the_others(
    group: Group, tmp_path: Path
) -> None:
    read, *others = group.start(f"behind 2 offspring {tmp_path / 'pid'}", "say b", "say c")
    offspring = await noted_pid(tmp_path / "pid")

    read.cancel()

    assert await outcomes(others) == ["b", "c"]
    await until_gone(offspring)


async def test_cancelling_a_file_that_waits_leaves_the_others(group: Group, tmp_path: Path) -> None:
    first, second, third = group.start(
        f"behind 2 wait {tmp_path / 'pid'} {tmp_path / 'end'}",
        f"sleep {PATIENCE}",
        "say c",
    )
    await noted_pid(tmp_path / "pid")

    second.cancel()
    (tmp_path / "end").touch()

    assert await outcomes([first, third]) == ["waited", "c"]


async def test_closing_ends_the_files_that_wait(group: Group, tmp_path: Path) -> None:
    files = group.start(f"behind 3 offspring {tmp_path / 'pid'}", *["say x"] * 9)
    await noted_pid(tmp_path / "pid")

    await group.pool.close()

    assert await outcomes(files) == ["internal"] * 10


async def test_closing_ends_a_file_whose_process_starts(
    group: Group, monkeypatch: pytest.MonkeyPatch
) -> None:
    started = asyncio.Event()

    async def start(*_: object, **__: object) -> Child:
        started.set()
        await asyncio.sleep(PATIENCE)
        raise AssertionError

    monkeypatch.setattr(Starter, "start", start)
    files = group.start("say a")
    await started.wait()

    await group.pool.close()

    assert await outcomes(files) == ["internal"]


async def test_a_closed_pool_reads_nothing(group: Group) -> None:
    await group.pool.close()

    assert await outcomes(group.start("say a")) == ["internal"]


async def test_cancelling_a_file_without_a_process_leaves_the_next(
    group: Group, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The one that waits for its process next must not be taken for the cancelled one."""
    start, calls = Starter.start, []

    async def fail_first(starter: Starter, tokenizer: str | None) -> Child:
        calls.append(tokenizer)
        if len(calls) == 1:
            await asyncio.sleep(0)
            first.cancel()  # its error is there before it is cancelled
            asyncio.get_running_loop().call_soon(first.cancel)
            raise Transient("none", code="internal")
        return await start(starter, tokenizer)

    monkeypatch.setattr(Starter, "start", fail_first)
    first, second = group.start("say a", "say b")

    assert (await outcomes([first, second]))[1] == "b"
