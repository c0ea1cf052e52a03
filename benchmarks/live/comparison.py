"""Live events: 500 clients follow 50 sources while their files are processed.

Archives are uploaded and unpacked, and ten clients subscribe to each. Then a worker reads the files
in them at a steady pace. Each file is a job whose start, stages and end are events. Clients record
the arrival of every event, and check that no number is missing or repeated.

The limit is a server built on the `websockets` library, as the API's server is, that has all frames
prepared. It sends the same frames at the same times to as many clients, by the library's
`broadcast`. It reads no database, checks no key, and does not drop clients that do not read. The
two are compared by processor time per delivery; latency mostly depends on the machine.
"""

from collections.abc import Sequence
from dataclasses import replace

from benchmarks.core.options import Options
from benchmarks.core.postgres import Server
from benchmarks.core.results import Race, Section, Table, alternate
from benchmarks.live.runs import Installation, Load, Measured, installation, of_bare_server
from benchmarks.live.sources import Script
from benchmarks.live.webhook_answers import SECRET, Traffic, answers

OURS, BARE = "rag-ingest", "bare websockets server"
_LOAD = Load(sources=50, files=12, clients=10, per_minute=3000)
_SMALL_LOAD = Load(sources=3, files=3, clients=2, per_minute=None)
_TRAFFIC = Traffic(events=300, large=24, at_once=3, rate=50)
_SMALL_TRAFFIC = Traffic(events=10, large=2, at_once=2, rate=200)


class _Match:
    """The rounds of the race; the bare server repeats the events of the service's last round."""

    def __init__(self, server: Server, ours: Installation, load: Load) -> None:
        self._server = server
        self._ours = ours
        self._load = load
        self._script: Script | None = None
        self.measured: dict[str, list[Measured]] = {OURS: [], BARE: []}

    def ours(self, _: int) -> float:
        self._server.settle()
        measured, self._script = self._ours.measure(self._load)
        self.measured[OURS].append(measured)
        return measured.cpu_per_thousand

    def bare(self, _: int) -> float:
        assert self._script is not None
        measured = of_bare_server(self._load, self._script)
        self.measured[BARE].append(measured)
        return measured.cpu_per_thousand


def run(server: Server, options: Options) -> Section:
    load = _SMALL_LOAD if options.is_small else _LOAD
    traffic = _SMALL_TRAFFIC if options.is_small else _TRAFFIC
    with installation(server, FIRECRAWL_WEBHOOK_SECRET=SECRET) as ours:
        race = _race(server, ours, load, rounds=options.rounds)
        flat_out = _flat_out(ours, replace(load, per_minute=None))
        ours.stop_working()
        webhooks = answers(ours.api.port, traffic)
    return Section(
        name="live", title="Events and webhooks", races=[race], tables=[flat_out, webhooks]
    )


def _race(server: Server, ours: Installation, load: Load, *, rounds: int) -> Race:
    match = _Match(server, ours, load)
    reached = alternate({OURS: match.ours, BARE: match.bare}, rounds=rounds)
    clients = load.sources * load.clients
    return Race(
        title=f"Processor time of the server, {clients} clients on {load.sources} sources",
        unit="ms for 1,000 deliveries",
        is_more_better=False,
        reference=OURS,
        rounds=reached,
        facts={name: _facts(of_name) for name, of_name in match.measured.items()},
        note=(
            "Every client got every event of its source once and in order. Latency is measured "
            "from the time that an event carries, the database's when the transaction began that "
            "wrote it; for the bare server it is that of the sending."
        ),
    )


def _facts(rounds: Sequence[Measured]) -> dict[str, str]:
    """Columns of the table, from the median round."""
    middle = sorted(rounds, key=lambda measured: measured.cpu_per_thousand)[len(rounds) // 2]
    heard = middle.heard
    return {
        "deliveries": f"{heard.deliveries:,}",
        "a second": f"{heard.deliveries / heard.seconds:,.0f}",
        "share of a core": f"{middle.cpu_seconds / heard.seconds:.0%}",
        "p50 ms": f"{heard.p50 * 1000:.1f}",
        "p99 ms": f"{heard.p99 * 1000:.1f}",
        "longest ms": f"{heard.longest * 1000:.1f}",
        "bytes a frame": f"{heard.characters / heard.deliveries:.0f}",
        # The maximum: later rounds reuse memory that was allocated in earlier ones.
        "KiB a client": f"{max(each.bytes_per_client for each in rounds) / 1024:.0f}",
    }


def _flat_out(ours: Installation, load: Load) -> Table:
    """The same measurement while the worker runs without a rate limit."""
    measured, _ = ours.measure(load)
    facts = _facts([measured])
    return Table(
        title="The same clients while the worker runs as fast as it can",
        columns=list(facts),
        rows=[list(facts.values())],
        note=(
            "Worker, parsers, Postgres, API and all clients share the processors, so latency here "
            "is mostly the wait for one."
        ),
    )
