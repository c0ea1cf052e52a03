"""All contestants doing the same work, in alternating rounds."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from benchmarks.core.environments import Unavailable, peers_in, python_of
from benchmarks.core.options import Options
from benchmarks.core.postgres import Server
from benchmarks.core.results import alternate
from benchmarks.end_to_end import ours
from benchmarks.end_to_end.outcome import Outcome
from benchmarks.end_to_end.peer_script import run_bare, run_peer
from benchmarks.end_to_end.works import Work

OURS = "rag-ingest"
IN_PLACE = "script"
_SCRIPTS = {
    IN_PLACE: ("before", 1),
    "script, index built at the end": ("after", 1),
    "script, two processes": ("before", 2),
}
_MOST_APART = {"text": 0.15, "pdf": 0.25, "html": math.inf}
"""How far the number of stored tokens may differ from ours. All contestants read the same texts,
and nearly the same from PDFs: some write tables and headings as Markdown, or read forms. Which
parts of a web page to keep is a matter of opinion; sentences added to each page show that no page
is missing."""


@dataclass(frozen=True, slots=True)
class Result:
    outcomes: dict[str, list[Outcome]] = field(default_factory=dict)
    """By contestant, one for each round."""
    absent: dict[str, str] = field(default_factory=dict)

    def leave_out(self, name: str, why: str) -> None:
        print(f"  {name} is left out: {why}", flush=True)
        self.outcomes.pop(name, None)
        self.absent[name] = why


class Field:
    def __init__(self, server: Server, options: Options) -> None:
        self._server = server
        self._rounds = options.rounds
        # The other scripts differ only in their arguments.
        self._scripts = {IN_PLACE: _SCRIPTS[IN_PLACE]} if options.is_small else _SCRIPTS
        self._absent: dict[str, str] = {}
        self._peers: dict[str, Callable[..., Outcome]] = {}
        for peer in peers_in(Path(__file__).parent / "peers") if options.peers else []:
            try:
                python = python_of(peer, environments=options.environments)
            except Unavailable as reason:
                self._absent[peer.version()] = str(reason)
                continue
            self._peers[peer.version()] = partial(run_peer, server, peer=peer, python=python)

    @property
    def peers(self) -> list[str]:
        """The peers whose environment could be created."""
        return list(self._peers)

    def race(self, work: Work, *, again: bool) -> Result:
        """Let all contestants ingest the files; `again`: the peers and this project do it twice."""
        print(f"  -- {work.title}", flush=True)
        result = Result(absent=dict(self._absent))
        contestants: dict[str, Callable[[], Outcome]] = {
            OURS: partial(ours.run, self._server, work, again=again),
            **{
                name: partial(run_bare, self._server, work, index=index, processes=processes)
                for name, (index, processes) in self._scripts.items()
            },
            **{name: partial(run, work=work, again=again) for name, run in self._peers.items()},
        }
        alternate(
            {name: partial(self._try, result, name, run) for name, run in contestants.items()},
            rounds=self._rounds,
        )
        _refuse_other_texts(result, most_apart=_MOST_APART[work.kind])
        return result

    def _try(self, result: Result, name: str, run: Callable[[], Outcome], _round: int) -> float:
        """Seconds; a peer that fails or whose result is wrong is left out from then on."""
        if name in result.absent:
            return math.nan
        try:
            outcome = run()
        except (Unavailable, AssertionError) as reason:
            if name not in self._peers:
                raise
            result.leave_out(name, str(reason))
            return math.nan
        result.outcomes.setdefault(name, []).append(outcome)
        return outcome.seconds


def _refuse_other_texts(result: Result, *, most_apart: float) -> None:
    expected = result.outcomes[OURS][-1].stored.tokens
    for name, outcomes in list(result.outcomes.items()):
        tokens = outcomes[-1].stored.tokens
        if abs(tokens - expected) > most_apart * expected:
            result.leave_out(name, f"has stored {tokens:,} tokens, and {OURS} {expected:,}")
