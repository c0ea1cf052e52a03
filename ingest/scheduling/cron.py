"""In-process schedules with the semantics of Deno.cron.

A cron has a unique name and a 5- or 6-field expression (seconds first) in UTC. Its runs never
overlap: a firing during a run is skipped. If the handler raises, it runs again after each pause of
its backoff schedule, then waits for the next firing.

With `catch_up`, the scheduler also runs the latest firing that it missed within the last day,
because it was not running, was busy with a long run, or the machine was suspended. It asks the
guard first, so the firing is skipped if another replica ran it. Several missed firings cause one
run. A new installation therefore runs what was due the night before.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

import structlog
from cronsim import CronSim

from ingest.asynchronous.tasks import cancel_all

log = structlog.get_logger()

BACKOFF_SCHEDULE: Final = (timedelta(seconds=1), timedelta(seconds=5), timedelta(seconds=10))
CATCH_UP_WITHIN: Final = timedelta(days=1)

# Longest sleep between two looks at the wall clock, which may be set meanwhile.
_STEP: Final = timedelta(minutes=1)

Handler = Callable[[], Awaitable[None]]
Guard = Callable[[str, datetime], Awaitable[bool]]
"""Whether this process may run the named cron for this firing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cron:
    name: str
    schedule: str
    handler: Handler
    backoff_schedule: Sequence[timedelta]
    on_every_replica: bool
    catch_up: bool


def next_firing(schedule: str, after: datetime) -> datetime:
    """The first firing after `after`, in UTC."""
    return next(CronSim(schedule, after.astimezone(UTC)))


def last_firing(schedule: str, until: datetime) -> datetime:
    """The latest firing at or before `until`, in UTC."""
    second_after = until.astimezone(UTC).replace(microsecond=0) + timedelta(seconds=1)
    return next(CronSim(schedule, second_after, reverse=True))


def _utc_now() -> datetime:
    return datetime.now(UTC)


class Scheduler:
    """Runs crons until closed. `guard` decides which replica runs a firing."""

    def __init__(self, guard: Guard, *, clock: Callable[[], datetime] = _utc_now) -> None:
        self._guard = guard
        self._clock = clock
        self._crons: dict[str, Cron] = {}
        self._tasks: list[asyncio.Task[None]] = []

    def cron(
        self,
        name: str,
        schedule: str,
        *,
        backoff_schedule: Sequence[timedelta] = BACKOFF_SCHEDULE,
        on_every_replica: bool = False,
        catch_up: bool = False,
    ) -> Callable[[Handler], Handler]:
        """Register a handler; raises ValueError if the name is taken."""

        def register(handler: Handler) -> Handler:
            if name in self._crons:
                raise ValueError(f"two cron schedules are named {name!r}")
            self._crons[name] = Cron(
                name=name,
                schedule=schedule,
                handler=handler,
                backoff_schedule=backoff_schedule,
                on_every_replica=on_every_replica,
                catch_up=catch_up,
            )
            return handler

        return register

    def start(self) -> None:
        self._tasks = [
            asyncio.create_task(self._run(cron), name=f"cron {cron.name}")
            for cron in self._crons.values()
        ]

    async def close(self) -> None:
        await cancel_all(*self._tasks)

    async def _run(self, cron: Cron) -> None:
        now = self._clock()
        done = now - CATCH_UP_WITHIN if cron.catch_up else now
        while True:
            firing = await self._due(cron, done)
            is_settled = await self._fire(cron, firing)
            # Firings during the run are skipped, or with `catch_up` the last one runs next.
            if not cron.catch_up:
                done = max(firing, self._clock())
            elif is_settled:
                done = firing
            else:
                await asyncio.sleep(max(cron.backoff_schedule, default=_STEP).total_seconds())

    async def _due(self, cron: Cron, done: datetime) -> datetime:
        """Wait for a firing after `done` and return it."""
        while True:
            now = self._clock()
            if now < done - _STEP:
                done = now  # the clock was set back: repeated firings run again
            if cron.catch_up:
                done = max(done, now - CATCH_UP_WITHIN)
            firing = next_firing(cron.schedule, done)
            if firing <= now:
                return last_firing(cron.schedule, now) if cron.catch_up else firing
            await asyncio.sleep(min(firing - now, _STEP).total_seconds())

    async def _fire(self, cron: Cron, firing: datetime) -> bool:
        """Run the handler if the guard allows it; False if the guard failed."""
        try:
            if not cron.on_every_replica and not await self._guard(cron.name, firing):
                return True
        except Exception as error:
            log.warning("cron.not_fired", cron=cron.name, error=type(error).__name__)
            return False
        for pause in (*cron.backoff_schedule, None):
            try:
                await cron.handler()
            except Exception as error:
                log.warning("cron.failed", cron=cron.name, exc_info=error)
                if pause is not None:
                    await asyncio.sleep(pause.total_seconds())
            else:
                break
        return True
