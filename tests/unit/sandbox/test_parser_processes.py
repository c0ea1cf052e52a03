"""No process outlives its work, whoever is killed."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import orjson
import pytest

from harness.patience import AGES, PATIENCE
from ingest.sandbox.jail import Confinement
from ingest.sandbox.pool import ParserPool
from tests.support.movable_clock import MovableClock
from tests.unit.sandbox.hostile_files import (
    LINUX,
    MIB,
    Files,
    is_running,
    noted_pid,
    parent_of,
    until_gone,
)


@pytest.fixture
async def unjailed() -> AsyncIterator[ParserPool]:
    """In a jail, the process could not start others."""
    parser_pool = ParserPool(
        size=1,
        timeout=AGES,
        memory=1024 * MIB,
        child="tests.servers.hostile_parser",
        confinement=Confinement(mode="off"),
    )
    yield parser_pool
    await parser_pool.close()


@LINUX
async def test_children_of_a_parser_are_killed_with_it(
    unjailed: ParserPool, files: Files, tmp_path: Path, movable_clock: MovableClock
) -> None:
    note = tmp_path / "pid"
    work = asyncio.create_task(files.code(unjailed, f"offspring {note}"))
    offspring = await noted_pid(note)

    movable_clock.forward(PATIENCE)

    assert await work == "parser_timeout"
    await until_gone(offspring)


@LINUX
async def test_cancelling_kills_the_work(
    unjailed: ParserPool, files: Files, tmp_path: Path
) -> None:
    note = tmp_path / "pid"
    work = asyncio.create_task(files.parse(unjailed, f"offspring {note}"))
    offspring = await noted_pid(note)

    work.cancel()

    with pytest.raises(asyncio.CancelledError):
        await work
    await until_gone(offspring)
    assert await files.text(unjailed, "say free again") == "free again"


@LINUX
async def test_a_pool_is_busy_until_the_last_answer(
    unjailed: ParserPool, files: Files, tmp_path: Path
) -> None:
    note = tmp_path / "pid"
    work = asyncio.create_task(files.parse(unjailed, f"offspring {note}"))
    await noted_pid(note)
    last = asyncio.create_task(files.text(unjailed, "say last"))
    work.cancel()
    assert unjailed.is_busy

    assert await last == "last"
    assert not unjailed.is_busy


@LINUX
async def test_closing_leaves_no_process(files: Files) -> None:
    parser_pool = ParserPool(
        size=1, timeout=AGES, memory=1024 * MIB, child="tests.servers.hostile_parser"
    )
    pid = int(await files.text(parser_pool, "pid"))

    await parser_pool.close()

    assert not is_running(pid)


@LINUX
async def test_a_killed_worker_leaves_no_process(tmp_path: Path) -> None:
    note, command = tmp_path / "pid", tmp_path / "command"
    command.write_text(f"offspring {note}")
    script = (
        "import asyncio, sys; from datetime import timedelta; from pathlib import Path\n"
        "from harness.patience import AGES\n"
        "from ingest.sandbox.jail import Confinement\n"
        "from ingest.sandbox.pool import ParserPool\n"
        "from tests.unit.sandbox.hostile_files import MIB, REQUEST\n"
        "async def main():\n"
        "    pool = ParserPool(size=1, timeout=AGES, memory=1024 * MIB,"
        " child='tests.servers.hostile_parser', confinement=Confinement(mode='off'))\n"
        "    await pool.parse(Path(sys.argv[1]), REQUEST)\n"
        "asyncio.run(main())\n"
    )
    worker = await asyncio.create_subprocess_exec(sys.executable, "-c", script, str(command))
    try:
        offspring = await noted_pid(note)
        parser = parent_of(offspring)
    finally:
        worker.kill()
        await worker.wait()

    await until_gone(parser)
    os.kill(offspring, signal.SIGKILL)  # a grandchild of our own making


async def test_no_secret_reaches_a_parser(files: Files, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "DATABASE_URL", "INGEST_ADMIN_KEY", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "a-secret-value")
    parser_pool = ParserPool(
        size=1, timeout=AGES, memory=1024 * MIB, child="tests.servers.hostile_parser"
    )

    try:
        environment = await files.text(parser_pool, "environment")
    finally:
        await parser_pool.close()

    assert "PATH" in orjson.loads(environment)
    assert "a-secret-value" not in environment


async def test_a_process_that_does_not_start_is_transient(files: Files) -> None:
    parser_pool = ParserPool(size=1, timeout=AGES, memory=1024 * MIB, child="tests.no_such_module")

    assert await files.code(parser_pool, "say x") == "internal"
    await parser_pool.close()
