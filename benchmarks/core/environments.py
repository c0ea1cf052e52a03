"""Virtual environments of the peers, each with its own pinned packages.

A peer consists of two files in the folder `peers` of a benchmark. `NAME.txt` has its requirements,
with a first line such as `# python >= 3.12` if it needs a later Python. `NAME.py` is a script that
is independent of this project: it reads JSON arguments from standard input, and writes JSON as the
last line of its output.
"""

import contextlib
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import venv
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

_NEWEST_MINOR: Final = 14
_BUILD_SECONDS: Final = 900
_FIRST_LINE = re.compile(r"# python >= 3\.(\d+)\s*$")


class Unavailable(Exception):
    """A peer cannot take part; the message gives the reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Peer:
    name: str
    script: Path
    requirements: Path

    def version(self) -> str:
        """The name with its pinned version, as shown in tables."""
        for line in self.requirements.read_text().splitlines():
            if "==" in line and not line.startswith("#"):
                package, _, version = line.partition("==")
                return f"{package.split('[')[0].strip()} {version.split('#')[0].strip()}"
        return self.name


def peers_in(folder: Path) -> list[Peer]:
    """All peers of a benchmark, by name."""
    return [
        Peer(name=file.stem, script=file.with_suffix(".py"), requirements=file)
        for file in sorted(folder.glob("*.txt"))
    ]


def python_of(peer: Peer, *, environments: Path) -> Path:
    """The interpreter of a peer's environment, which the first call creates. Raises Unavailable."""
    text = peer.requirements.read_text()
    base = _interpreter(text)
    digest = hashlib.sha256(f"{base}\n{text}".encode()).hexdigest()[:12]
    folder = environments / f"{peer.name}-{digest}"
    python = folder / "bin" / "python"
    if not (folder / "complete").exists():
        shutil.rmtree(folder, ignore_errors=True)
        print(f"  making the environment of {peer.name}", flush=True)
        _build(folder, base, peer.requirements)
        (folder / "complete").touch()
    return python


def _interpreter(requirements: str) -> str:
    """A Python that the peer runs on: this one, or the oldest suitable one that is installed."""
    match = _FIRST_LINE.match(requirements.partition("\n")[0])
    oldest = int(match[1]) if match else 0
    if sys.version_info.minor >= oldest:
        return sys.executable
    for minor in range(oldest, _NEWEST_MINOR + 1):
        for found in _installed(f"python3.{minor}"):
            # A version manager may install a launcher for a version that is not installed.
            if subprocess.run([found, "-c", ""], capture_output=True).returncode == 0:
                return found
    raise Unavailable(f"needs Python 3.{oldest} or later, and none is installed")


def _installed(command: str) -> Iterator[str]:
    """Possible paths of a Python: on PATH, or among the versions of pyenv, active or not."""
    if launcher := shutil.which(command):
        yield launcher
    if pyenv := shutil.which("pyenv"):
        found = subprocess.run([pyenv, "whence", "--path", command], capture_output=True, text=True)
        yield from found.stdout.split()


def _build(folder: Path, base: str, requirements: Path) -> None:
    if base == sys.executable:
        venv.create(folder, with_pip=True)
    else:
        subprocess.run([base, "-m", "venv", str(folder)], check=True)
    command = [
        str(folder / "bin" / "python"),
        *("-m", "pip", "install", "-q", "--disable-pip-version-check", "-r", str(requirements)),
    ]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_BUILD_SECONDS)
    except subprocess.TimeoutExpired:
        raise Unavailable(f"its packages were not installed in {_BUILD_SECONDS} s") from None
    if done.returncode:
        lines = done.stderr.strip().splitlines() or ["pip failed"]
        raise Unavailable(f"its packages cannot be installed: {lines[-1][:200]}")


def run_script(
    command: Sequence[str | Path],
    arguments: Mapping[str, Any],
    *,
    timeout: float,
    started: Callable[[int], None] | None = None,
) -> dict[str, Any]:
    """Run a script and return its JSON answer. Raises Unavailable if it fails or takes too long.

    `started` is called with the script's process id before the script gets its arguments.
    """
    process = subprocess.Popen(
        [str(part) for part in command],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": "", "PYTHONUNBUFFERED": "1"},
        start_new_session=True,
    )
    try:
        if started is not None:
            started(process.pid)
        out, err = process.communicate(json.dumps(arguments), timeout=timeout)
    except subprocess.TimeoutExpired:
        raise Unavailable(f"took longer than {timeout:.0f} s") from None
    finally:
        _end(process)
    if process.returncode or not out.strip():
        lines = err.strip().splitlines() or [f"ended with {process.returncode}"]
        print("\n".join(lines[-15:]), file=sys.stderr)
        raise Unavailable(f"failed: {lines[-1][:200]}")
    answer = json.loads(out.strip().splitlines()[-1])
    assert isinstance(answer, dict)
    return answer


def _end(process: subprocess.Popen[str]) -> None:
    """Kill the script and all processes that it started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
