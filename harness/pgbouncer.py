"""A PgBouncer on loopback, between the processes under test and their Postgres.

`INGEST_TEST_PGBOUNCER` names another program than the one in the PATH.
"""

import atexit
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Final, Literal

from psycopg.conninfo import conninfo_to_dict, make_conninfo

from harness.patience import PATIENCE
from harness.service import free_port

PROGRAM: Final = os.environ.get("INGEST_TEST_PGBOUNCER") or shutil.which(
    "pgbouncer", path=f"{os.environ.get('PATH', '')}:/usr/sbin"
)
Mode = Literal["session", "transaction"]

_USERS: Final = ("postgres", "guest")
"""Known beside the user of the DSN."""
_SETTINGS: Final = {
    "listen_addr": "127.0.0.1",
    "unix_socket_dir": "",
    "auth_type": "trust",
    "max_client_conn": "400",
    # What users set so that drivers can connect.
    "ignore_startup_parameters": "extra_float_digits,options",
    "server_reset_query": "DISCARD ALL",
    # Otherwise nobody gets in for 15 seconds after the server was away.
    "server_login_retry": "1",
}


class PgBouncer:
    """Passes on to a Postgres that is reached by a Unix socket; its DSN stays after a restart."""

    def __init__(self, target: str, *, mode: Mode, size: int = 8, **settings: str) -> None:
        assert PROGRAM is not None
        self._program = PROGRAM
        self._folder = Path(tempfile.mkdtemp(prefix="ingest-pgbouncer-"))
        self._folder.chmod(0o755)
        self._port = free_port()
        options = conninfo_to_dict(target)
        self.dsn = make_conninfo(target, host="127.0.0.1", port=self._port)
        self._process: subprocess.Popen[bytes] | None = None
        all_settings = {
            **_SETTINGS,
            "listen_port": str(self._port),
            "auth_file": str(self._folder / "users"),
            "pool_mode": mode,
            "default_pool_size": str(size),
            **settings,
        }
        self._target = Path(str(options["host"])).resolve()
        lines = [
            "[databases]",
            f"* = host={_reachable(self._target)} port={options['port']}",
            "[pgbouncer]",
            *(f"{name} = {value}" for name, value in all_settings.items()),
        ]
        (self._folder / "pgbouncer.ini").write_text("\n".join(lines))
        (self._folder / "users").write_text(
            "".join(f'"{user}" ""\n' for user in {*_USERS, str(options["user"])})
        )

    def start(self) -> str:
        is_root = os.geteuid() == 0  # PgBouncer refuses to run as root
        with (self._folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [self._program, str(self._folder / "pgbouncer.ini")],
                stdout=log,
                stderr=log,
                user="nobody" if is_root else None,
                group="nogroup" if is_root else None,
                extra_groups=[] if is_root else None,
                cwd=self._target,
            )
        atexit.register(self.stop)  # an interrupted run closes no fixtures
        deadline = time.monotonic() + PATIENCE
        while not self._answers():
            assert self._process.poll() is None, (self._folder / "log").read_text()
            assert time.monotonic() < deadline, "PgBouncer does not answer"
            time.sleep(0.02)
        return self.dsn

    def stop(self) -> None:
        """Close all connections at once."""
        if self._process is not None:
            self._process.terminate()
            self._process.wait(PATIENCE)
            self._process = None

    def __enter__(self) -> str:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self.stop()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _answers(self) -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self._port)) == 0


def _reachable(folder: Path) -> Path:
    """The folder as PgBouncer finds it, in which it starts.

    On Linux its path is not walked: pytest closes the folders above it to other accounts.
    """
    return Path("/proc/self/cwd") if sys.platform == "linux" else folder
