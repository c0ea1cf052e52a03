"""The faults: each begins, lasts its time and is taken back, and says whether it was felt."""

import signal
import time
from collections.abc import Sequence
from contextlib import suppress
from email.utils import parsedate_to_datetime
from typing import Final, LiteralString

from harness.proxy import MODES
from tests.chaos import host
from tests.chaos.injected import MISSED, Injected, cpu_ticks, send_signal
from tests.chaos.installation import Installation
from tests.chaos.outside import RECEIVER_MOODS, SITE_MOODS, ReceiverMood, SiteMood
from tests.chaos.plan import KINDS, Fault
from tests.chaos.process import Process
from tests.chaos.provider import MOODS, Mood

_BUSY: Final[LiteralString] = """
    select distinct worker.pid
      from rag.processing_jobs as job join rag.workers as worker on worker.id = job.locked_by
     where job.status = 'processing'
"""
_TERMINATE: Final[LiteralString] = """
    select pg_terminate_backend(pid) from pg_stat_activity
     where pid <> pg_backend_pid() and backend_type = 'client backend'
"""
_SHIFTS: Final = (90, 600, 3 * 3600)
"""Seconds by which a clock jumps."""
_NO_SPACE: Final = "No space left on device"


class Faults:
    """Begins faults on one installation."""

    def __init__(self, on: Installation) -> None:
        self._on = on

    def unavailable(self) -> set[str]:
        """Kinds that this machine does not allow."""
        kinds = set() if self._on.mounts else {"disk full", "postgres disk full"}
        clocks = {kind for kind in KINDS if "clock" in kind}
        return kinds | (set() if host.FAKETIME is not None else clocks)

    def begin(self, fault: Fault, *, anyway: bool) -> Injected | None:
        """None: there is no victim at work now; `anyway` takes an idle one."""
        subject, _, what = fault.kind.partition(" ")
        match subject:
            case "postgres":
                return self._postgres(what, fault.choice)
            case "api" | "worker":
                return self._process(subject, what, fault.choice, anyway=anyway)
            case "parser":
                return self._parser(what, fault.choice, anyway=anyway)
            case "power":
                return self._cut_power()
            case "provider":
                return self._provider(MOODS[what])
            case "database":
                return self._network(what, fault.choice)
            case "disk":
                return self._disk_full()
            case "clock":
                return self._clock(fault.choice, back=what == "back")
            case "site":
                return self._site(SITE_MOODS[what])
        return self._receiver(RECEIVER_MOODS[what])

    # -- Postgres

    def _postgres(self, what: str, choice: int) -> Injected:
        postgres = self._on.postgres
        if not postgres.is_up:
            return MISSED
        match what:
            case "crash":
                postgres.crash()
                return Injected(end=postgres.revive)
            case "backend killed":
                return self._kill_backend(choice)
            case "connections ended":
                ended = postgres.ask(_TERMINATE)
                return Injected(met=lambda: bool(ended))
            case "frozen":
                return self._freeze_postgres()
            case "clock forward":
                # All leases run out at once, while their holders go on.
                return self._shift_database_clock(_SHIFTS[choice % len(_SHIFTS)])
            case "clock back":
                # Not by more: what waits for a time then waits so much longer.
                return self._shift_database_clock(-15)
        return self._fill_database_disk()

    def _freeze_postgres(self) -> Injected:
        postgres = self._on.postgres
        frozen = [postgres.process.pid, *host.descendants(postgres.process.pid)]
        postgres.is_frozen = True
        send_signal(frozen, signal.SIGSTOP)

        def thaw() -> None:
            send_signal(frozen, signal.SIGCONT)
            postgres.is_frozen = False

        return Injected(end=thaw)

    def _kill_backend(self, choice: int) -> Injected:
        """The server then ends all others, and recovers as from a crash."""
        postgres = self._on.postgres
        said = {pid: host.program(pid) for pid in host.descendants(postgres.process.pid)}
        backends = [pid for pid, words in said.items() if "[local]" in words]
        if not backends:
            return MISSED
        send_signal([backends[choice % len(backends)]], signal.SIGKILL)
        return Injected(end=postgres.revive)

    def _fill_database_disk(self) -> Injected:
        log = self._on.database_disk / "server" / "postgres" / "log"

        def complaints() -> int:
            return log.read_text(errors="replace").count(_NO_SPACE)

        before = complaints()
        ballast = host.fill(self._on.database_disk)

        def free() -> None:
            ballast.unlink()
            self._on.postgres.revive()

        return Injected(met=lambda: complaints() > before, end=free)

    def _shift_database_clock(self, seconds: int) -> Injected:
        """For the rest of the round, because the way back would be a jump too."""
        before = self._database_ahead()
        self._on.postgres.shift_clock(seconds)
        return Injected(met=lambda: abs(self._database_ahead() - before - seconds) < 10)

    def _database_ahead(self) -> float:
        """Seconds by which the clock of Postgres is ahead of ours; NaN: it does not answer."""
        rows = self._on.postgres.ask("select extract(epoch from clock_timestamp())::float8")
        return rows[0][0] - time.time() if rows else float("nan")

    def _cut_power(self) -> Injected:
        """Everything ends at once, and comes back in any order."""
        processes = [one for one in self._on.processes if not one.is_down]
        for process in processes:
            process.is_down = True
            process.process.kill()
        self._on.postgres.crash()

        def restart() -> None:
            for process in processes:
                process.process.wait()
                process.restart()
            self._on.postgres.revive()

        return Injected(end=restart)

    # -- processes of the service

    def _process(self, command: str, what: str, choice: int, *, anyway: bool) -> Injected | None:
        candidates = [self._on.api] if command == "api" else self._on.workers
        running = [one for one in candidates if one.process.poll() is None]
        busy = running if command == "api" else self._at_work(running)
        if not busy and not anyway:
            return None
        victims = busy or running
        if not victims:
            return MISSED
        process = victims[choice % len(victims)]
        pid = process.process.pid
        if what == "frozen":
            send_signal([pid], signal.SIGSTOP)

            def thaw() -> None:
                if process.process.pid == pid:  # not killed and started again meanwhile
                    send_signal([pid], signal.SIGCONT)

            return Injected(met=lambda: bool(busy), end=thaw)
        if what == "stopped":
            # Gracefully, as in a rolling update; the supervisor starts it again.
            ending = process.process
            ending.terminate()
            return Injected(met=lambda: ending.poll() is not None)
        process.is_down = True
        process.kill()
        return Injected(met=lambda: bool(busy), end=process.restart)

    def _at_work(self, workers: Sequence[Process]) -> list[Process]:
        busy = {pid for (pid,) in self._on.postgres.ask(_BUSY)}
        return [worker for worker in workers if worker.process.pid in busy]

    def _parser(self, what: str, choice: int, *, anyway: bool) -> Injected | None:
        children = [
            pid
            for worker in self._on.workers
            for pid in host.descendants(worker.process.pid)
            if "ingest.sandbox" in host.program(pid)
        ]
        before = {pid: cpu_ticks(pid) for pid in children}
        time.sleep(0.05)
        busy = [pid for pid, ticks in before.items() if cpu_ticks(pid) > ticks]
        if not busy and not anyway:
            return None
        victims = busy or children
        if not victims:
            return MISSED
        pid = victims[choice % len(victims)]
        said = host.program(pid)
        if what == "killed":
            send_signal([pid], signal.SIGKILL)
            return Injected(met=lambda: bool(busy))
        send_signal([pid], signal.SIGSTOP)

        def thaw() -> None:
            if host.program(pid) == said:
                send_signal([pid], signal.SIGCONT)

        return Injected(met=lambda: bool(busy), end=thaw)

    # -- what the service talks to

    def _provider(self, mood: Mood) -> Injected:
        provider = self._on.provider
        before = provider.served_badly[mood]
        provider.set(mood)
        return Injected(
            met=lambda: provider.served_badly[mood] > before, end=lambda: provider.set("well")
        )

    def _site(self, mood: SiteMood) -> Injected:
        site = self._on.site
        before = site.disturbed[mood]
        site.mood = mood

        def recover() -> None:
            site.mood = "well"

        return Injected(met=lambda: site.disturbed[mood] > before, end=recover)

    def _receiver(self, mood: ReceiverMood) -> Injected:
        receiver = self._on.receiver
        before = receiver.disturbed[mood]
        receiver.mood = mood

        def recover() -> None:
            receiver.mood = "well"

        return Injected(met=lambda: receiver.disturbed[mood] > before, end=recover)

    def _network(self, what: str, choice: int) -> Injected:
        proxy = self._on.processes[choice % len(self._on.processes)].proxy
        before = proxy.disturbed
        if what != "cut":
            proxy.set(MODES[what])

        def met() -> bool:
            if what == "cut":
                proxy.cut()
            return proxy.disturbed > before

        def mend() -> None:
            if what != "slow":
                proxy.cut()  # what was withheld is lost, and half-open connections end
            proxy.set("open")

        return Injected(met=met, end=mend)

    # -- the machine

    def _disk_full(self) -> Injected:
        before = self._refused_for_space()
        ballast = host.fill(self._on.disk)
        return Injected(met=lambda: self._refused_for_space() > before, end=ballast.unlink)

    def _refused_for_space(self) -> int:
        """Answers to clients and lines of logs that say that there is no space."""
        logs = (process.log.read_text(errors="replace") for process in self._on.processes)
        said = sum(text.count(_NO_SPACE) + text.count(" is full") for text in logs)
        return said + self._on.refused_for_space

    def _clock(self, choice: int, *, back: bool) -> Injected:
        """Of the API and one other process. Leases and schedules go by the database's clock."""
        shift = _SHIFTS[choice % len(_SHIFTS)] * (-1 if back else 1)
        api = self._on.api
        shifted = {api, self._on.processes[choice % len(self._on.processes)]}
        for process in shifted:
            process.shift_clock(shift)

        def met() -> bool:
            with suppress(Exception):
                date = api.http.get("/healthz", timeout=2).headers["date"]
                return abs(parsedate_to_datetime(date).timestamp() - time.time() - shift) < 30
            return False

        def set_right() -> None:
            for process in shifted:
                process.shift_clock(0)

        return Injected(met=met, end=set_right)
