"""Embeddings from a provider: number of requests for 1,000 files, and time.

A service that embeds file by file pays the provider's latency for every file, and soon reaches its
request limit. So this compares how well the texts of many files share requests, and how much other
work is done meanwhile. The endpoint (`server.py`) answers after 80 ms and has OpenAI's limits. All
contestants read the same files of 7.5 kB, cut them into chunks of about 512 tokens, and write text
and vectors of 256 numbers to a table with a pgvector HNSW index. A contestant is rejected if it had
fewer texts embedded than it stored, or if its token count differs from ours by more than a quarter.
"""

import statistics
import tempfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from benchmarks.core.environments import Unavailable, peers_in
from benchmarks.core.options import Options
from benchmarks.core.postgres import Server
from benchmarks.core.results import Race, Section, alternate
from benchmarks.provider.contestants import CONCURRENCY, Contestant, Run, of_peer, ours, script
from benchmarks.provider.endpoint import ProviderProcess, provider
from benchmarks.provider.work import LATENCY_SECONDS, Work, prepare

OURS, BARE = "rag-ingest", "bare script"
_FILES, _FEW_FILES = 1000, 12
_MOST_DIFFERENCE = 0.25
# Below 1, because a repeated text may be embedded only once.
_LEAST_EMBEDDED = 0.99
_PEERS = Path(__file__).parent / "peers"


def run(server: Server, options: Options) -> Section:
    with tempfile.TemporaryDirectory() as folder:
        work = prepare(Path(folder), _FEW_FILES if options.is_small else _FILES)
        with provider(latency=LATENCY_SECONDS, bytes_per_token=work.bytes_per_token) as endpoint:
            return _compare(server, options, endpoint, work)


def _compare(server: Server, options: Options, endpoint: ProviderProcess, work: Work) -> Section:
    contestants: dict[str, Contestant] = {
        OURS: partial(ours, server, endpoint, work),
        BARE: partial(script, server, endpoint, work),
    }
    absent = {}
    for peer in peers_in(_PEERS) if options.peers else ():
        try:
            contestants[peer.version()] = of_peer(peer, server, endpoint, work, options)
            if not options.is_small:
                contestants[peer.version()]()  # tests that it works, and caches its files
        except Unavailable as reason:
            contestants.pop(peer.version(), None)
            absent[peer.version()] = str(reason)
    runs: defaultdict[str, list[Run]] = defaultdict(list)

    def timed(name: str, _: int) -> float:
        runs[name].append(contestants[name]())
        return runs[name][-1].seconds

    rounds = alternate({name: partial(timed, name) for name in contestants}, rounds=options.rounds)
    check(runs)
    race = Race(
        title=f"{len(work.files):,} files of 7.5 kB, {LATENCY_SECONDS * 1000:.0f} ms a request",
        unit="seconds",
        is_more_better=False,
        reference=OURS,
        rounds=rounds,
        facts={name: facts(of_name) for name, of_name in runs.items()},
        absent=absent,
        note=_NOTE,
    )
    return Section(name="provider", title="Embeddings of a provider", races=[race])


_NOTE = (
    "Seconds from the first file until all are stored; ours is the service (`ingest serve`, "
    f"INGEST_WORKER_CONCURRENCY={CONCURRENCY}) from the first byte of the upload, peers and script "
    "read a folder. The bare script knows all texts before its first request, so its requests are "
    "the fewest possible."
)


def check(runs: Mapping[str, Sequence[Run]]) -> None:
    """Check that each contestant embedded what it stored, and about as many tokens as we did."""
    wanted = statistics.median(run.counts.tokens for run in runs[OURS])
    for name, of_name in runs.items():
        for run in of_name:
            assert 0 < run.chunks * _LEAST_EMBEDDED <= run.counts.texts, (name, run)
            assert abs(run.counts.tokens / wanted - 1) <= _MOST_DIFFERENCE, (name, run, wanted)


def facts(runs: Sequence[Run]) -> dict[str, str]:
    """Columns of the table, from the median round."""
    middle = sorted(runs, key=lambda run: run.seconds)[len(runs) // 2]
    counts = middle.counts
    return {
        "requests": f"{counts.requests:,}",
        "of them refused": f"{counts.refused:,}",
        "texts a request": f"{counts.texts / max(counts.requests - counts.refused, 1):.0f}",
        "most at once": str(counts.most_under_way),
        "chunks": f"{middle.chunks:,}",
        "tokens": f"{counts.tokens:,}",
    }
