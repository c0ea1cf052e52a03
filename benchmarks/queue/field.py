"""All contestants, in alternating rounds; a peer that fails is left out."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final, TypeVar

from benchmarks.core.environments import Unavailable, peers_in, python_of
from benchmarks.core.options import Options
from benchmarks.queue.contestants import Contestant, Ours, module

OURS: Final = "rag-ingest"
BARE: Final = "bare psycopg"
SAME_ROWS: Final = "INSERT … unnest of rag-ingest's rows"

_PEERS: Final = Path(__file__).parent / "peers"
_JOBS: Final = 20_000
# Slow peers get so many jobs that they need a few seconds; all jobs would take minutes.
_FEWER_JOBS: Final = {"chancy_queue": 10_000, "oban_queue": 4_000, "procrastinate_queue": 1_000}
_SMALL_JOBS: Final = 200

T = TypeVar("T")


class Field:
    """The contestants: which of them are peers, and which could not take part."""

    def __init__(self, options: Options) -> None:
        self.rounds = options.rounds
        self.absent: dict[str, str] = {}
        self.peers: list[str] = []
        found: list[Contestant] = [
            Ours(name=OURS, command=module("ours"), jobs=_JOBS),
            Contestant(name=BARE, command=module("bare"), jobs=_JOBS),
        ]
        for peer in peers_in(_PEERS) if options.peers else ():
            name = peer.version()
            try:
                python = python_of(peer, environments=options.environments)
            except Unavailable as error:
                self.absent[name] = str(error)
                continue
            self.peers.append(name)
            jobs = _FEWER_JOBS.get(peer.name, _JOBS)
            found.append(Contestant(name=name, command=[python, peer.script], jobs=jobs))
        if options.is_small:
            found = [replace(one, jobs=_SMALL_JOBS) for one in found]
        self.contestants: Mapping[str, Contestant] = {one.name: one for one in found}

    def in_turns(self, session: Callable[[Contestant], T], *more: Contestant) -> dict[str, list[T]]:
        """The results of each contestant, and of `more`, in alternating order."""
        reached: dict[str, list[T]] = {}
        running = [*self.contestants.values(), *more]
        for number in range(self.rounds):
            for one in running if number % 2 == 0 else reversed(running):
                if one.name in self.absent:
                    continue
                try:
                    result = session(one)
                except (Unavailable, AssertionError) as error:
                    if one.name not in self.peers:
                        raise
                    self.absent[one.name] = str(error)
                    print(f"  {one.name} drops out: {error}", flush=True)
                    continue
                reached.setdefault(one.name, []).append(result)
                print(f"  round {number + 1}: {one.name} {result}", flush=True)
        return {name: results for name, results in reached.items() if name not in self.absent}
