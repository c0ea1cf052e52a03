"""In-process schedules with the semantics of Deno.cron.

A cron has a unique name and a 5- or 6-field expression (seconds first) in UTC. Its runs never
overlap: a firing that comes while the last run still works is skipped. A handler that raises is
run again after each pause of its backoff schedule, then left until the next firing.

With `catch_up`, the last firing is not lost because nobody was there: a scheduler that starts, or
comes out of a long run or a suspended machine, asks the guard for the latest firing that has
passed, if that was within a day, and so runs it unless a replica has. However many firings were
missed, that is one run. A new installation so runs what would have been due the night before.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

import structlog
from cronsim import CronSim

from ingest.asynchronous.tasks import end

log = structlog.get_logger()

BACKOFF_SCHEDULE: Final = (timedelta(seconds=1), timedelta(seconds=5), timedelta(seconds=10))
CATCH_UP_WITHIN: Final = timedelta(days=1)

# How long we sleep at most before we look again, because the wall clock may be set meanwhile.
_STEP: Final = timedelta(minutes=1)

Handler = Callable[[], Awaitable[None]]
Guard = Callable[[str, datetime], Awaitable[bool]]
"""Whether this process may run the named cron for that firing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cron:
    name: str
    schedule: str
    handler: Handler
    backoff_schedule: Sequence[timedelta]
    on_every_replica: bool
    catch_up: bool


def next_firing(schedule: str, after: datetime) -> datetime:
    """The first time after `after` that the expression names; in UTC."""
    return next(CronSim(schedule, after.astimezone(UTC)))


def last_firing(schedule: str, until: datetime) -> datetime:
    """The latest time up to `until`, that included, that the expression names; in UTC."""
    second_after = until.astimezone(UTC).replace(microsecond=0) + timedelta(seconds=1)
    return next(CronSim(schedule, second_after, reverse=True))


def _utc_now() -> datetime:
    return datetime.now(UTC)


class Scheduler:
    """Runs crons until cancelled. `guard` makes one of many replicas run each firing."""

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
        """Register a handler; ValueError for a name that is taken."""

        def register(handler: Handler) -> Handler:
            if name in self._crons:
                raise ValueError(f"two crons are named {name!r}")
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
        await end(*self._tasks)

    async def _run(self, cron: Cron) -> None:
        now = self._clock()
        done = now - CATCH_UP_WITHIN if cron.catch_up else now
        while True:
            firing = await self._due(cron, done)
            is_settled = await self._fire(cron, firing)
            # Those that passed meanwhile are skipped, or the last of them is caught up.
            if not cron.catch_up:
                done = max(firing, self._clock())
            elif is_settled:
                done = firing
            else:
                await asyncio.sleep(max(cron.backoff_schedule, default=_STEP).total_seconds())

    async def _due(self, cron: Cron, done: datetime) -> datetime:
        """Wait for a firing after `done`; which."""
        while True:
            now = self._clock()
            if now < done - _STEP:
                done = now  # the clock was set back: what it names again, it means again
            if cron.catch_up:
                done = max(done, now - CATCH_UP_WITHIN)
            firing = next_firing(cron.schedule, done)
            if firing <= now:
                return last_firing(cron.schedule, now) if cron.catch_up else firing
            await asyncio.sleep(min(firing - now, _STEP).total_seconds())

    async def _fire(self, cron: Cron, firing: datetime) -> bool:
        """Run the handler if the firing is ours; False if nobody could say whose it is."""
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
