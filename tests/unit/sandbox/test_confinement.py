"""What the jail lets a parser read, and what is said where there is none."""

import asyncio
import os
import stat
import sys
from asyncio.subprocess import Process
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from harness.patience import AGES
from ingest.errors import SetupError
from ingest.model import JailStatus, SandboxMode
from ingest.sandbox import landlock
from ingest.sandbox.forked import PoolServer
from ingest.sandbox.installed_parsers import checking
from ingest.sandbox.jail import Confinement
from ingest.sandbox.messages import Checked
from ingest.sandbox.pool import ParserPool
from ingest.sandbox.readable import readable_paths, runnable_paths

try:
    ABI = landlock.supported_abi() if sys.platform == "linux" else None
except OSError:
    ABI = None
pytestmark = pytest.mark.skipif(ABI is None, reason="needs Landlock")
MEMORY = 1024**3


async def checked_by(mode: SandboxMode, *, server: PoolServer | None = None) -> Checked:
    confinement = Confinement(mode=mode, after_check=True)
    pool = ParserPool(
        size=1, timeout=AGES, memory=2 * MEMORY, confinement=confinement, server=server
    )
    async with checking(pool, mode=mode) as task:
        return await task


@pytest.mark.parametrize("forks", [False, True])
async def test_the_jail_hides_none_of_the_parsers_files(
    forks: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    started = []
    execute = asyncio.create_subprocess_exec

    async def noted(*arguments: str, **options: Any) -> Process:
        started.append(arguments[arguments.index("-m") + 1])
        return await execute(*arguments, **options)

    monkeypatch.setattr(asyncio, "create_subprocess_exec", noted)
    server = PoolServer(mode="auto") if forks else None
    with capture_logs() as logs:
        checked = await checked_by("auto", server=server)
    if server is not None:
        await server.close()

    # The libraries are loaded once.
    assert started == ["ingest.sandbox.fork_server" if forks else "ingest.sandbox.child"]
    assert checked.jail == JailStatus(landlock=ABI, seccomp=True)
    assert checked.unreadable == ()
    assert logs == []


async def test_the_log_says_why_landlock_is_missing() -> None:
    pool = ParserPool(
        size=1,
        timeout=AGES,
        memory=MEMORY,
        child="tests.servers.parser_without_landlock",
        confinement=Confinement(after_check=True),
    )
    with capture_logs() as logs:
        async with checking(pool) as task:
            checked = await task

    problem = "[Errno 38] landlock_create_ruleset: not here"
    assert checked.jail == JailStatus(landlock=None, seccomp=True, landlock_problem=problem)
    line = next(line for line in logs if line["event"] == "parsers_not_jailed")
    assert line["missing"] == f"no Landlock ({problem})"


def test_a_refused_system_call_names_its_cause() -> None:
    with pytest.raises(OSError, match="landlock_create_ruleset: Invalid argument"):
        landlock._call(landlock._CREATE_RULESET, None, 0, 1 << 20)  # an unknown flag


async def test_without_a_jail_the_log_warns() -> None:
    with capture_logs() as logs:
        checked = await checked_by("off")

    assert not checked.jail.is_complete

    (line,) = logs
    assert (line["event"], line["missing"]) == ("parsers_not_jailed", "no Landlock, no seccomp")


async def test_strict_refuses_to_start_without_a_jail(monkeypatch: pytest.MonkeyPatch) -> None:
    async def without(_: ParserPool) -> Checked:
        return Checked(missing=(), jail=JailStatus(landlock=None, seccomp=True))

    monkeypatch.setattr(ParserPool, "check", without)
    async with checking(ParserPool(size=1, timeout=AGES, memory=MEMORY), mode="strict") as task:
        with pytest.raises(SetupError, match=r"INGEST_SANDBOX=strict: .*\(no Landlock\)"):
            await task


def paths(**changed: object) -> tuple[str, ...]:
    given = {"modules": (), "program": None, "extra": (), "private": ()} | changed
    return readable_paths(**given)  # type: ignore[arg-type]


def test_of_a_project_folder_only_code_is_readable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in (".env", "admin.key", "code.py", "package/__init__.py", "data/blob"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    monkeypatch.syspath_prepend(str(tmp_path))

    below = {Path(path).name for path in paths() if Path(path).is_relative_to(tmp_path)}

    assert below == {"code.py", "package"}


def test_data_inside_a_readable_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="choose another folder for data"):
        paths(extra=(tmp_path,), private=(tmp_path / "data",))


def test_program_is_executed_with_its_loader_only(tmp_path: Path) -> None:
    found = runnable_paths(sys.executable)

    assert found[0] == os.path.realpath(sys.executable)
    assert all("ld-" in Path(path).name for path in found[1:])


def test_wrapper_script_names_what_it_runs(tmp_path: Path) -> None:
    script = tmp_path / "tesseract"
    script.write_text(f"#!/bin/sh\nexec {sys.executable} -V\n")
    script.chmod(stat.S_IRWXU)

    found = runnable_paths(str(script))

    assert {str(script), os.path.realpath("/bin/sh"), os.path.realpath(sys.executable)} <= {*found}
