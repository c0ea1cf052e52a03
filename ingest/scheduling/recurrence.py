"""When a source is fetched again: a cron expression in the wall time of a zone. Pure.

If the expression names hours, each named time fires once. A time that the clock skips (02:30 when
summer time starts) fires at the end of the gap, together with other skipped times; a time that
occurs twice fires at the first. Debian's cron does the same. With `*` for the hour, firings follow
the clock: none in the gap, and twice in the repeated hour.

cronsim does this only for five fields, and not in zones that shift by half an hour. So we use it
for naive wall times and convert them to instants here.
"""

import hashlib
import heapq
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from importlib.resources import files
from itertools import pairwise
from typing import Final
from uuid import UUID
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError

MAX_LENGTH: Final = 100
SHORTEST: Final = timedelta(minutes=5)

# Samoa skipped a whole day in 2011; no zone ever shifted its clock by more.
_LARGEST_SHIFT: Final = timedelta(days=1)
_MINUTE: Final = timedelta(minutes=1)
_MICROSECOND: Final = timedelta(microseconds=1)
# Any start works: cronsim looks 50 years ahead, in which every date falls on every weekday.
_SOME_DAY: Final = datetime(2024, 1, 1)  # noqa: DTZ001  # wall time


@dataclass(frozen=True, slots=True, kw_only=True)
class Recurrence:
    """When a source is fetched again; made by `parse`.

    `cron` has 5 fields, or 6 with seconds first; `timezone` is an IANA name.
    """

    cron: str
    timezone: str


def parse(cron: str, timezone: str = "UTC") -> Recurrence:
    """Validate an expression and a zone; raises ValueError with the invalid one and the reason."""
    _check_timezone(timezone)
    _check_cron(cron)
    return Recurrence(cron=cron, timezone=timezone)


def next_run(recurrence: Recurrence, *, after: datetime, jitter: timedelta) -> datetime:
    """Return the first run later than `after` (aware), in UTC.

    A run follows its firing by `jitter`, modulo the time to the next firing. So no run passes the
    next firing, and sources stay spread out.
    """
    for firing, following in pairwise(_firings(recurrence, after - jitter)):
        run = firing + jitter % (following - firing)
        if run > after:
            return run
    raise ValueError(f"cron: {recurrence.cron!r} never fires")


def jitter(id: UUID, *, within: timedelta) -> timedelta:
    """The fixed delay of a source; uniform in [0, `within`) over all sources."""
    number = int.from_bytes(hashlib.sha256(id.bytes).digest()[:8])
    return _MICROSECOND * (number * (within // _MICROSECOND) >> 64)


def _check_timezone(timezone: str) -> None:
    # ZoneInfo also accepts other files of the zone folder (posixrules, right/UTC with its leap
    # seconds, localtime of this machine), and raises five kinds of errors for invalid names.
    if timezone not in _timezones():
        raise ValueError(
            f"timezone: {timezone[:40]!r} is not an IANA time zone, such as 'Europe/Berlin'"
        )


@cache
def _timezones() -> frozenset[str]:
    return frozenset(files("tzdata").joinpath("zones").read_text("utf-8").split())


def _check_cron(cron: str) -> None:
    if len(cron) > MAX_LENGTH:
        raise ValueError(f"cron: longer than {MAX_LENGTH} characters")
    if len(cron.split()) not in (5, 6):
        raise ValueError("cron: must have 5 fields, or 6 with the seconds first")
    try:
        expression = CronSim(cron, _SOME_DAY)
        first = next(expression, None)
    except CronSimError as error:
        reason = str(error)
        raise ValueError(f"cron: {cron!r} is invalid: {reason[:1].lower()}{reason[1:]}") from None
    if first is None:
        raise ValueError(f"cron: {cron!r} never fires")
    if _shortest_distance(expression) < SHORTEST:
        raise ValueError(f"cron: {cron!r} fires too often: at most every 5 minutes")


def _shortest_distance(expression: CronSim) -> timedelta:
    """The shortest time between two firings, within one hour or across two hours."""
    if len(expression.seconds) > 1:
        return timedelta(0)
    minutes = sorted(expression.minutes)
    if any((hour + 1) % 24 in expression.hours for hour in expression.hours):
        minutes.append(minutes[0] + 60)
    return _MINUTE * min((later - earlier for earlier, later in pairwise(minutes)), default=60)


def _firings(recurrence: Recurrence, after: datetime) -> Iterator[datetime]:
    """Firings later than `after`, in UTC, in order, without duplicates."""
    last = after
    for instant in _instants(recurrence, after):
        if instant > last:
            yield instant
            last = instant


def _instants(recurrence: Recurrence, after: datetime) -> Iterator[datetime]:
    """Firings in order, starting before `after`; may contain duplicates."""
    cron, zone = recurrence.cron, ZoneInfo(recurrence.timezone)
    start = _earliest_wall_time(after, zone)
    if cron.split()[-4] == "*":
        both_readings = [_instants_on_the_clock(cron, zone, start, fold) for fold in (0, 1)]
        return heapq.merge(*both_readings)
    return _instants_of_named_times(cron, zone, start)


def _earliest_wall_time(after: datetime, zone: ZoneInfo) -> datetime:
    """The earliest wall time shown after `after`, even if the clock is set back meanwhile."""
    now, then = (
        moment.astimezone(zone).replace(tzinfo=None) for moment in (after, after + _LARGEST_SHIFT)
    )
    return min(now, then - _LARGEST_SHIFT)


def _instants_on_the_clock(
    cron: str, zone: ZoneInfo, start: datetime, fold: int
) -> Iterator[datetime]:
    """Firings that follow the wall clock; `fold` 1 means the second pass of the repeated hour."""
    for wall in CronSim(cron, start):
        if _exists(wall, zone):
            yield wall.replace(tzinfo=zone, fold=fold).astimezone(UTC)


def _instants_of_named_times(cron: str, zone: ZoneInfo, start: datetime) -> Iterator[datetime]:
    """Each named time once: at its first occurrence, or at the end of the gap that skips it."""
    for named in CronSim(cron, start):
        wall = named
        while not _exists(wall, zone):
            wall = wall.replace(second=0) + _MINUTE
        yield wall.replace(tzinfo=zone).astimezone(UTC)


def _exists(wall: datetime, zone: ZoneInfo) -> bool:
    there = wall.replace(tzinfo=zone).astimezone(UTC)
    return there.astimezone(zone).replace(tzinfo=None) == wall
