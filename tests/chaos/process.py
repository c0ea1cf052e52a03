"""A process of the installation under test."""

import subprocess
from collections.abc import Mapping
from pathlib import Path

from harness.proxy import Proxy
from harness.service import INGEST, Service
from tests.chaos import host


class Process(Service):
    """An API or a worker; it ends with this process, and its clock can be set."""

    def __init__(self, command: str, *, data: Path, env: Mapping[str, str], proxy: Proxy) -> None:
        self.proxy = proxy
        self.is_down = False
        """Killed on purpose: the supervisor leaves it alone."""
        self.restart_at = 0.0
        self._clock = data / f"clock-{proxy.port}"
        self._clock.write_text("+0")
        super().__init__(command, data=data, env={**env, **self._faketime()})

    def shift_clock(self, seconds: int) -> None:
        self._clock.write_text(f"{seconds:+d}")

    def restart(self) -> None:
        self.is_down, self.restart_at = False, 0.0
        super().restart()

    def _faketime(self) -> dict[str, str]:
        if host.FAKETIME is None:
            return {}
        return {
            "LD_PRELOAD": str(host.FAKETIME),
            "FAKETIME_TIMESTAMP_FILE": str(self._clock),
            "FAKETIME_CACHE_DURATION": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        }

    def _start(self) -> subprocess.Popen[bytes]:
        with self.log.open("ab") as log:
            return subprocess.Popen(
                [INGEST, self.command],
                env=self._env,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd="/",
                preexec_fn=host.die_with_parent,
            )
