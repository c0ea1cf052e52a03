"""The queue compared with other Postgres queues for Python, and with a hand-written loop.

All run the same jobs, which do nothing, on separate databases of one server. Producers and workers
are separate processes; their start is not measured. The files of the peers state their settings,
and why those are the fastest.
"""

from dataclasses import dataclass, field
from functools import partial
from typing import Final

from benchmarks.core.options import Options
from benchmarks.core.postgres import Server
from benchmarks.core.results import Section
from benchmarks.queue.claim_tables import SMALL, ClaimSizes, claim_tables
from benchmarks.queue.contestants import SLOTS, Contestant, module
from benchmarks.queue.field import SAME_ROWS, Field
from benchmarks.queue.races import goals, pushes, works
from benchmarks.queue.sessions import Worked, push, work


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sizes:
    single: int = 1_000
    bulk: int = 20_000
    singles: int = 100
    """Number of jobs for which the pickup time is measured."""
    claims: ClaimSizes = field(default_factory=ClaimSizes)


_SMALL: Final = _Sizes(single=20, bulk=200, singles=5, claims=SMALL)

_TEXT: Final = f"""\
rag-ingest runs as real processes of `ingest worker` (INGEST_WORKER_CONCURRENCY={SLOTS}) and \
enqueues by `ingest.store.queue.jobs.enqueue`. Unlike the bare loop it fences every outcome, is \
fair over applications, enforces time-outs, and its jobs can be cancelled."""


def run(server: Server, options: Options) -> Section:
    sizes = _SMALL if options.is_small else _Sizes()
    all_of_them = Field(options)
    rows = Contestant(name=SAME_ROWS, command=module("same_rows"), jobs=0)
    print("-- enqueue", flush=True)
    pushed = all_of_them.in_turns(partial(push, server, single=sizes.single, bulk=sizes.bulk), rows)

    def drain(one: Contestant, *, processes: int, singles: int) -> Worked:
        return work(server, one, jobs=one.jobs, processes=processes, singles=singles)

    print("-- pickup and drain, one process", flush=True)
    alone = all_of_them.in_turns(partial(drain, processes=1, singles=sizes.singles))
    print("-- drain, two processes", flush=True)
    # A few single jobs first, so that connections are open and statements prepared.
    two = all_of_them.in_turns(partial(drain, processes=2, singles=5))
    print("-- claims", flush=True)
    tables, of_claims = claim_tables(server, sizes.claims)
    races = [*pushes(all_of_them, pushed), *works(all_of_them, alone, two)]
    return Section(
        name="queue",
        title="The queue",
        text=_TEXT,
        races=races,
        tables=tables,
        goals=[*goals(all_of_them, races), of_claims],
    )
