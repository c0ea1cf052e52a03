"""PostgreSQL with pgvector inside the data folder: starts and ends with its owner process.

    data_dir/postgres/owner.lock     flock: its holder owns the server; contains the holder's pid
                      log            the server's log
                      cluster/       the database, and its Unix socket
                      cluster.new/   a cluster being initialised; renamed when complete

The server does not listen on TCP. If the owner dies, even by SIGKILL, the kernel signals the server
to do a fast shutdown (Linux; elsewhere the next start stops the orphan).

Postgres refuses uid 0, so for root the server runs as `nobody`. That account may not be able to
reach the data folder: /root is 0700, and we do not change modes of parent folders. So the server
starts with the cluster folder as working directory, set before dropping root, and gets it as
`/proc/self/cwd`; then Postgres only uses relative paths.
"""

import fcntl
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from types import TracebackType
from typing import ClassVar

import psycopg
from psycopg.conninfo import make_conninfo

from ingest.errors import SetupError
from ingest.machine import processors, total_memory
from ingest.postgres.embedded.binaries import find_binaries, reachable
from ingest.postgres.embedded.host import Account, give, server_account, socket_folder
from ingest.postgres.embedded.memory import default_memory, tuned
from ingest.postgres.embedded.orphans import end_orphans

_START_TIMEOUT = timedelta(minutes=5)  # crash recovery replays up to max_wal_size
_STOP_TIMEOUT = timedelta(seconds=30)
_POLL = 0.02
_CONNECTIONS = 100
_LOG_LIMIT = 16 * 1024 * 1024
# Nothing else: PG… and LC_… variables would change the server, and it needs no secrets.
_ENVIRONMENT = ("PATH", "LD_LIBRARY_PATH")
_CHILD = Path(__file__).with_name("child.py")
_SETTINGS = {
    "listen_addresses": "",
    "unix_socket_directories": ".",
    "unix_socket_permissions": "0700",
    "max_wal_size": "2GB",
    # Requesting each uncached page from an I/O worker process takes longer than reading it.
    "io_method": "sync",
    "jit": "off",  # costs more than it gains on short queries
    "random_page_cost": "1.1",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "log_checkpoints": "off",
    "log_min_error_statement": "panic",  # statements hold users' text
    # /dev/shm is 64 MB in a container by default: too small for a parallel index build.
    "dynamic_shared_memory_type": "sysv" if sys.platform == "linux" else "posix",
}
# The built-in locale sorts the same with every C library. The library's locale is only used to tell
# letters from punctuation in full text search.
_LOCALE = (
    "--encoding=UTF8",
    "--locale-provider=builtin",
    "--builtin-locale=C.UTF-8",
    "--locale=C",
    f"--lc-ctype={'C.UTF-8' if sys.platform == 'linux' else 'UTF-8'}",
)


class EmbeddedPostgres:
    """One Postgres per data folder: the first process owns it, further processes may join.

    Also a context manager: `with EmbeddedPostgres(data_dir) as dsn`.
    """

    # These settings depend on the server version; tests override them to run older versions.
    _settings: ClassVar[Mapping[str, str]] = _SETTINGS
    _locale: ClassVar[Sequence[str]] = _LOCALE

    def __init__(
        self, data_dir: Path, *, memory: int | None = None, more_connections: int = 0
    ) -> None:
        """`memory`: bytes for the server's caches and maintenance; None: by the machine's.

        `more_connections`: that the server allows, beyond the usual number.
        """
        self._folder = data_dir.resolve() / "postgres"
        self._cluster = self._folder / "cluster"
        self._log = self._folder / "log"
        self._socket = self._cluster
        self._log_start = 0
        self._memory = memory
        self._connections = _CONNECTIONS + more_connections
        self._lock: int | None = None
        self._server: subprocess.Popen[bytes] | None = None

    @property
    def owned(self) -> bool:
        """Whether this object started the server and will stop it."""
        return self._lock is not None

    def start(self, *, join: bool = False) -> str:
        """Start the server, or with `join` use a running one, and return its libpq DSN.

        Call it from the main thread: the server ends with the thread that starts it. SetupError
        says why it cannot start, or, without `join`, which process holds the folder.
        """
        if threading.current_thread() is not threading.main_thread():
            raise RuntimeError("start the embedded Postgres from the main thread")
        deadline = time.monotonic() + _START_TIMEOUT.total_seconds()
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._socket = socket_folder(self._cluster)
            # Name the port, or PGPORT of the environment would apply.
            host = str(self._socket)
            dsn = make_conninfo(host=host, port=5432, user="postgres", dbname="postgres")
            while not self._acquire():
                if not join:
                    raise SetupError(self._held())
                if _answers(dsn):
                    return dsn
                if time.monotonic() > deadline:
                    raise SetupError(
                        f"{self._held()}; its server does not respond: see {self._log}"
                    )
                time.sleep(_POLL)
            self._start_server(dsn, deadline)
        except OSError as error:
            self.stop()
            raise SetupError(f"cannot run Postgres in {self._folder}: {error}") from error
        except BaseException:
            self.stop()
            raise
        return dsn

    def stop(self) -> None:
        """Shut down the server if we own it: open transactions roll back, data is flushed."""
        if self._server is not None:
            self._server.send_signal(signal.SIGINT)
            try:
                self._server.wait(_STOP_TIMEOUT.total_seconds())
            except subprocess.TimeoutExpired:
                self._server.send_signal(signal.SIGQUIT)  # crash-safe: the next start recovers
                self._server.wait()
            self._server = None
        if self._lock is not None:
            if self._socket != self._cluster:
                self._socket.unlink(missing_ok=True)
            os.close(self._lock)
            self._lock = None

    def __enter__(self) -> str:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def _acquire(self) -> bool:
        """Become the owner; False if another process is. The kernel frees a dead owner's lock."""
        lock = os.open(self._folder / "owner.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(lock)
            return False
        os.ftruncate(lock, 0)
        os.write(lock, str(os.getpid()).encode())
        self._lock = lock
        return True

    def _held(self) -> str:
        pid = (self._folder / "owner.lock").read_text() or "unknown"
        return f"the data folder {self._folder.parent} is in use by another process (pid {pid})"

    def _start_server(self, dsn: str, deadline: float) -> None:
        account = server_account(self._cluster)
        binaries = self._binaries(account)
        unfinished = self._folder / "cluster.new"
        for cluster in (unfinished, self._cluster):
            end_orphans(cluster, deadline=deadline)
        if self._log.exists() and self._log.stat().st_size > _LOG_LIMIT:
            self._log.rename(self._log.with_name("log.1"))
        self._log_start = self._log.stat().st_size if self._log.exists() else 0
        if not self._cluster.exists():
            self._initialise(unfinished, binaries / "initdb", account)
        elif os.geteuid() == 0 and self._cluster.stat().st_uid == 0:
            give(self._cluster, account)  # the data may have been restored or copied by root
        total = total_memory()
        memory = default_memory(total) if self._memory is None else self._memory
        settings = {
            **tuned(memory, processors(), total=total),
            "max_connections": str(self._connections),
            **self._settings,
        }
        self._server = self._spawn(
            binaries / "postgres",
            [f"--{name}={value}" for name, value in settings.items()],
            cluster=self._cluster,
            account=account,
            on_death=signal.SIGINT,
        )
        while not _answers(dsn):
            if self._server.poll() is not None:
                raise SetupError(self._failed("start"))
            if time.monotonic() > deadline:
                raise SetupError(f"Postgres in {self._folder} is not ready: see {self._log}")
            time.sleep(_POLL)

    def _binaries(self, account: Account) -> Path:
        binaries = find_binaries()
        return binaries if account.is_ours else reachable(binaries)

    def _initialise(self, unfinished: Path, initdb: Path, account: Account) -> None:
        """Create the cluster under a temporary name, so a killed start leaves no partial one."""
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir(mode=0o700)
        give(unfinished, account)
        options = ["--username=postgres", "--auth=trust", "--no-instructions", *self._locale]
        child = self._spawn(
            initdb, options, cluster=unfinished, account=account, on_death=signal.SIGKILL
        )
        try:
            if child.wait() != 0:
                raise SetupError(self._failed("be initialised"))
        finally:
            child.kill()
            child.wait()
        unfinished.rename(self._cluster)
        _sync(self._folder)  # initdb has synced its contents

    def _spawn(
        self,
        program: Path,
        options: list[str],
        *,
        cluster: Path,
        account: Account,
        on_death: signal.Signals,
    ) -> subprocess.Popen[bytes]:
        where = str(cluster) if account.is_ours else "/proc/self/cwd"
        numbers = (account.uid, account.gid, on_death.value, os.getpid())
        child = [sys.executable, "-I", "-S", str(_CHILD), *map(str, numbers)]
        with open(self._log, "ab", opener=_private) as log:
            return subprocess.Popen(  # noqa: S603 - our own arguments, no shell
                [*child, str(program), "-D", where, *options],
                cwd=cluster,
                env={name: os.environ[name] for name in _ENVIRONMENT if name in os.environ},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,  # Ctrl-C must only reach us; we stop the server
            )

    def _failed(self, what: str) -> str:
        """One line: the first fatal message of this start, and the path of the log."""
        with self._log.open("rb") as log:
            log.seek(self._log_start)
            lines = log.read(1024 * 1024).decode(errors="replace").splitlines()
        told = (line for line in lines if "FATAL:" in line or "error:" in line)
        reason = next(told, lines[-1] if lines else "the server ended without a message")
        return f"the embedded Postgres could not {what}: {reason.strip()} (see {self._log})"


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _answers(dsn: str) -> bool:
    try:
        psycopg.connect(dsn, connect_timeout=2).close()
    except psycopg.OperationalError:
        return False
    return True
