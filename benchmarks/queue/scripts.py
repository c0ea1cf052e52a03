"""Processes of contestants, controlled by lines of JSON (see peers/roles.py)."""

import contextlib
import json
import os
import signal
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Final

from benchmarks.core.environments import Unavailable

_LONGEST_SECONDS: Final = 120.0


class Script:
    """One process of a contestant."""

    def __init__(
        self, process: subprocess.Popen[bytes], *, asked: IO[bytes], said: IO[bytes], log: IO[bytes]
    ) -> None:
        self._process = process
        self._asked = asked
        self._said = said
        self._log = log

    def ask(self, role: str, **arguments: Any) -> Any:
        """Send a command and return the answer. Raises Unavailable on failure or timeout."""
        self._asked.write(json.dumps({"role": role, **arguments}).encode() + b"\n")
        self._asked.flush()
        return self._answer()

    def end_input(self) -> Any:
        """End the input: a worker then answers with its runs. Raises Unavailable like `ask`."""
        self._asked.close()
        return self._answer()

    def _answer(self) -> Any:
        timer = threading.Timer(_LONGEST_SECONDS, self.kill)
        timer.start()
        line = self._said.readline()
        is_late = not timer.is_alive()
        timer.cancel()
        if line:
            return json.loads(line)
        if is_late:
            raise Unavailable(f"took longer than {_LONGEST_SECONDS:.0f} s")
        self._log.seek(0)
        lines = self._log.read().decode(errors="replace").strip().splitlines()
        print("\n".join(lines[-15:]))
        raise Unavailable(f"failed: {lines[-1][:200]}" if lines else "ended without an answer")

    def kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)


@contextmanager
def running(command: Sequence[str | Path], dsn: str) -> Iterator[Script]:
    """Start a process, and kill it at the end of the block."""
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(
            [*map(str, command), dsn],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            env={**os.environ, "PYTHONPATH": ""},
            start_new_session=True,
        )
        assert process.stdin is not None
        assert process.stdout is not None
        script = Script(process, asked=process.stdin, said=process.stdout, log=log)
        try:
            yield script
        finally:
            script.kill()
            process.wait()
            process.stdout.close()
            # Input that it had not read does not matter.
            with contextlib.suppress(BrokenPipeError):
                process.stdin.close()
