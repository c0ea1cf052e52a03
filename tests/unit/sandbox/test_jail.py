"""A parser that a file has taken over reaches nothing but that file and its scratch folder."""

import glob
import resource
import shutil
import socket
import sys
import sysconfig
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from dataclasses import replace
from pathlib import Path

import orjson
import pytest

from harness.patience import AGES
from ingest.errors import Permanent, Transient
from ingest.model import ChunkSettings, SandboxMode
from ingest.sandbox import landlock
from ingest.sandbox.forked import PoolServer
from ingest.sandbox.jail import Confinement
from ingest.sandbox.messages import ParseRequest
from ingest.sandbox.pool import ParserPool

try:
    ABI = landlock.supported_abi() if sys.platform == "linux" else None
except OSError:
    ABI = None
pytestmark = pytest.mark.skipif(ABI is None, reason="needs Landlock")
REQUEST = ParseRequest(
    name="a.txt",
    declared=None,
    max_pages=100,
    chunk=ChunkSettings(tokenizer="minilm", size=64, overlap=8),
)
MEMORY = 1024**3
# Need a kernel or rights that the machine may not have, so only their denial says anything. As
# root, some would change the machine.
ONLY_IN_JAIL = {
    "ptrace", "peek", "namespace", "unshare", "clone3", "io_uring", "bpf", "userfaultfd", "perf",
    "keyring", "mount", "open_tree", "chroot", "handle", "execveat", "pidfd",
    "write modules",
}  # fmt: skip


@asynccontextmanager
async def hostile(
    confinement: Confinement | None = None,
    *,
    module: str = "hostile_parser",
    forks: bool = False,
) -> AsyncIterator[ParserPool]:
    server = PoolServer(mode="strict") if forks else None
    pool = ParserPool(
        size=1,
        timeout=AGES,
        memory=MEMORY,
        child=f"tests.servers.{module}",
        confinement=confinement,
        server=server,
    )
    await pool._starter.prepare()
    assert server is None or server.get() is not None
    try:
        yield pool
    finally:
        await pool.close()
        if server is not None:
            await server.close()


async def said(pool: ParserPool, folder: Path, command: str) -> str:
    (file := folder / "command").write_text(command)
    return (await pool.parse(file, REQUEST)).document.text


@contextmanager
def victims(folder: Path) -> Iterator[dict[str, str]]:
    """Things to attack, and the commands that do it."""
    (data := folder / "data").mkdir()
    (secret := data / "admin.key").write_text("a secret")
    (removable := data / "blob").write_text("of another application")
    with ExitStack() as stack:
        server = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        port = server.getsockname()[1]
        datagrams = stack.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM))
        datagrams.bind(str(data / "datagrams"))
        for address in (str(data / ".s.PGSQL.5432"), f"\0{folder.name}"):
            listener = stack.enter_context(socket.socket(socket.AF_UNIX))
            listener.bind(address)
            listener.listen()
        yield {
            name: name
            for name in (
                "listen", "shell", "loader", "memfd", "execveat", "fork", "setsid", "ptrace",
                "peek", "signal", "signal_group", "signal_by_owner", "signal_by_ioctl", "aio",
                "prlimit", "renice", "pidfd", "outlive", "namespace", "unshare", "clone3",
                "io_uring", "bpf", "userfaultfd", "perf", "keyring", "shared_memory", "mount",
                "open_tree", "chroot", "handle", "pipe", "memory",
            )
        } | {
            "environment of the parent": "read /proc/PARENT/environ",
            "environment through the root": "read /proc/self/root/proc/PARENT/environ",
            "admin key": f"read {secret}",
            "list data": f"list {data}",
            "list /proc": "list /proc",
            "sockets of others": "read /proc/self/net/unix",
            "addresses of others": "read /proc/self/net/tcp",
            "accounts": "read /etc/passwd",
            "project file": f"read {Path(__file__).parents[3] / 'pyproject.toml'}",
            "write data": f"write {data}/new",
            "write modules": f"write {sysconfig.get_path('purelib')}/rag_ingest_attack.txt",
            "write beside scratch": f"write {folder}/new",
            "chmod": f"chmod {secret}",
            "touch": f"touch {secret}",
            "truncate": f"truncate {secret}",
            "link": f"link {secret}",
            "symlink": f"symlink {secret}",
            "rename": f"rename {data}",
            "watch": f"watch {data}",
            "remove": f"remove {removable}",
            "tcp": f"tcp {port}",
            "udp": f"udp {port}",
            "postgres": f"unix {data}/.s.PGSQL.5432",
            "abstract": f"abstract {folder.name}",
            "datagram": f"datagram {data}/datagrams",
            "run": "run /bin/true",
        }  # fmt: skip


async def outcomes(
    mode: SandboxMode, folder: Path, *, module: str = "hostile_parser", forks: bool = False
) -> dict[str, str]:
    with victims(folder) as commands:
        async with hostile(Confinement(mode=mode), module=module, forks=forks) as pool:
            return {
                name: await said(pool, folder, f"attack {command}")
                for name, command in commands.items()
                if mode != "off" or name not in ONLY_IN_JAIL
            }


@pytest.mark.parametrize("forks", [False, True])
async def test_every_attack_is_denied(tmp_path: Path, forks: bool) -> None:
    found = await outcomes("strict", tmp_path, forks=forks)

    assert {name: said for name, said in found.items() if not said.startswith("denied E")} == {}


async def test_the_same_attacks_succeed_without_a_jail(tmp_path: Path) -> None:
    found = await outcomes("off", tmp_path)

    assert {name: said for name, said in found.items() if not said.startswith("done")} == {}


async def test_without_landlock_seccomp_still_denies_all_but_file_access(tmp_path: Path) -> None:
    found = await outcomes("auto", tmp_path, module="parser_without_landlock")

    done = {name for name, said in found.items() if said.startswith("done")}
    assert done <= {
        "admin key", "list data", "list /proc", "accounts", "project file", "write data",
        "write modules", "write beside scratch", "link", "symlink", "rename", "remove",
        "environment of the parent", "environment through the root", "memory",
        "sockets of others", "addresses of others",
    }  # fmt: skip


async def test_strict_process_without_landlock_does_not_start(tmp_path: Path) -> None:
    async with hostile(Confinement(mode="strict"), module="parser_without_landlock") as pool:
        with pytest.raises(Transient, match="did not start"):
            await said(pool, tmp_path, "say hello")


@pytest.mark.parametrize("module", ["hostile_parser", "parser_without_landlock"])
async def test_what_parsers_need_is_allowed(tmp_path: Path, module: str) -> None:
    async with hostile(module=module) as pool:
        assert await said(pool, tmp_path, "attack allowed") == "done all"


async def test_only_the_ocr_program_can_be_executed(tmp_path: Path) -> None:
    program = shutil.which("true")
    async with hostile(Confinement(mode="strict", program=program)) as pool:
        found = {
            command: await said(pool, tmp_path, f"attack {command}")
            for command in ("shell", "loader", "memfd", "execveat", "setsid", "run /bin/cat")
        }
        ran = await said(pool, tmp_path, f"attack run {program}")

    assert ran.startswith("done")
    assert {name: said for name, said in found.items() if not said.startswith("denied")} == {}


async def test_threads_processes_and_descriptors_are_bounded(tmp_path: Path) -> None:
    async with hostile() as pool:
        limits = orjson.loads(await said(pool, tmp_path, "limits RLIMIT_NPROC RLIMIT_NOFILE"))

    assert 0 < limits["RLIMIT_NPROC"] < 50_000
    # The kernel counts descriptors that are under way per user, against the sender's own limit.
    assert limits["RLIMIT_NOFILE"] < resource.getrlimit(resource.RLIMIT_NOFILE)[0]


async def test_a_parser_reads_no_file_but_its_own(tmp_path: Path) -> None:
    """Also not the one before: its descriptor is closed."""
    (first := tmp_path / "first").write_text("say first")
    async with hostile() as pool:
        await pool.parse(first, REQUEST)

        assert await said(pool, tmp_path, f"attack read {first}") == "denied EACCES"
        assert await said(pool, tmp_path, "descriptors /first") == "none"


async def test_scratch_is_emptied_after_each_file(tmp_path: Path) -> None:
    async with hostile() as pool:
        assert await said(pool, tmp_path, "litter") == "1 left here, 0 found"
        assert await said(pool, tmp_path, "litter") == "1 left here, 0 found"
        scratch = await said(pool, tmp_path, "scratch")

    assert scratch not in glob.glob(f"{tempfile.gettempdir()}/*")


@pytest.mark.parametrize("is_made", [True, False])
async def test_members_that_are_no_folder_are_refused(tmp_path: Path, is_made: bool) -> None:
    """A parser may replace the folder of members; the parent must not follow."""
    target = tmp_path / "members"
    if is_made:
        target.mkdir()
    (tmp_path / "command").write_text("fake_members")
    async with hostile(Confinement(mode="off")) as pool:
        with pytest.raises(Permanent, match="members that cannot be moved"):
            await pool.parse(tmp_path / "command", replace(REQUEST, members=str(target)))

    assert list(target.iterdir()) == []
