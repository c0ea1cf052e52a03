"""Runs the script of a peer, or the bare script, on the same folder, with its own database."""

import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from benchmarks.core.environments import Peer, run_script
from benchmarks.core.postgres import Server, url
from benchmarks.end_to_end.memory import Peak, peak_of
from benchmarks.end_to_end.outcome import Cpu, Outcome, check
from benchmarks.end_to_end.works import Kind, Work
from ingest.tokens.vocabularies import wordllama_folder

_SECONDS = 240.0
# A chunk of 512 tokens, this project's default size, in the units of other splitters. The text of
# PDFs, with its numbers and names, has more tokens per word than running text.
_CHUNK: dict[Kind, dict[str, int]] = {
    "text": {"tokens": 512, "characters": 2100, "words": 320},
    "pdf": {"tokens": 512, "characters": 1600, "words": 280},
    "html": {"tokens": 512, "characters": 2100, "words": 320},
}


def run_peer(server: Server, work: Work, *, peer: Peer, python: Path, again: bool) -> Outcome:
    """Run a peer's script. Raises Unavailable if it fails."""
    folder = wordllama_folder()
    model = {
        "weights": str(folder / "weights" / "l2_supercat_256.safetensors"),
        "tokenizer": str(folder / "tokenizers" / "l2_supercat_tokenizer_config.json"),
    }
    with (
        server.database("end_to_end_peer") as dsn,
        tempfile.TemporaryDirectory() as scratch,
    ):
        task = {
            "kind": work.kind,
            "folder": str(work.folder),
            "url": url(dsn),
            "scratch": scratch,
            "model": model,
            "again": again,
            **_CHUNK[work.kind],
        }
        return _run(server, work, dsn, [python, peer.script], task)


def run_bare(server: Server, work: Work, *, index: str, processes: int) -> Outcome:
    """Run bare_script.py."""
    command = [sys.executable, "-m", "benchmarks.end_to_end.bare_script"]
    with server.database("end_to_end_bare") as dsn:
        task = {"dsn": dsn, "folder": str(work.folder), "index": index, "processes": processes}
        return _run(server, work, dsn, command, task)


def _run(
    server: Server, work: Work, dsn: str, command: Sequence[str | Path], task: Mapping[str, Any]
) -> Outcome:
    server.settle()
    peak = Peak()
    with ExitStack() as stack:

        def watch(pid: int) -> None:
            nonlocal peak
            peak = stack.enter_context(peak_of(pid))

        before = server.cpu_seconds()
        answer = run_script(command, task, timeout=_SECONDS, started=watch)
        postgres = server.cpu_seconds() - before
    first, *rest = answer["seconds"]
    return Outcome(
        seconds=first,
        stored=check(dsn, work, answer["rows"]),
        memory=peak.bytes,
        cpu=Cpu(own=answer["cpu"], postgres=postgres),
        index=answer["index"],
        again=rest[0] if rest else None,
    )
