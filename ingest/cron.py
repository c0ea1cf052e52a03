"""In-process schedules with the semantics of Deno.cron.

A cron has a unique name and a 5- or 6-field expression (seconds first) in UTC. Its runs never
overlap: a firing that comes while the last run still works is skipped. A handler that raises is
run again after each pause of its backoff schedule, then left until the next firing.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

import structlog
from cronsim import CronSim

from ingest.tasks import end

log = structlog.get_logger()

BACKOFF_SCHEDULE: Final = (timedelta(seconds=1), timedelta(seconds=5), timedelta(seconds=10))

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


def next_firing(schedule: str, after: datetime) -> datetime:
    """The first time after `after` that the expression names; in UTC."""
    return next(CronSim(schedule, after.astimezone(UTC)))


class Scheduler:
    """Runs crons until cancelled. `guard` makes one of many replicas run each firing."""

    def __init__(self, guard: Guard) -> None:
        self._guard = guard
        self._crons: dict[str, Cron] = {}
        self._tasks: list[asyncio.Task[None]] = []

    def cron(
        self,
        name: str,
        schedule: str,
        *,
        backoff_schedule: Sequence[timedelta] = BACKOFF_SCHEDULE,
        on_every_replica: bool = False,
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
        fired = datetime.now(UTC)
        while True:
            # Counted from now, not from the last firing: those that passed meanwhile are skipped.
            firing = next_firing(cron.schedule, max(fired, datetime.now(UTC)))
            await _sleep_until(firing)
            fired = firing
            await self._fire(cron, firing)

    async def _fire(self, cron: Cron, firing: datetime) -> None:
        try:
            if not cron.on_every_replica and not await self._guard(cron.name, firing):
                return
        except Exception as error:
            log.warning("cron.not_fired", cron=cron.name, error=type(error).__name__)
            return
        for pause in (*cron.backoff_schedule, None):
            try:
                await cron.handler()
            except Exception as error:
                log.warning("cron.failed", cron=cron.name, exc_info=error)
                if pause is not None:
                    await asyncio.sleep(pause.total_seconds())
            else:
                return


async def _sleep_until(moment: datetime) -> None:
    # In steps, because the wall clock may be set while we sleep.
    while (rest := (moment - datetime.now(UTC)).total_seconds()) > 0:  # noqa: ASYNC110
        await asyncio.sleep(min(rest, 60.0))
