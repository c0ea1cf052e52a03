"""Recurrences: what is refused, days on which clocks change, odd zones, jitter."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from statistics import mean
from uuid import UUID, uuid4
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.scheduling.recurrence import Recurrence, jitter, next_run, parse

_NONE = timedelta(0)
_DAY = timedelta(days=1)
_MINUTE = timedelta(minutes=1)


def _utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def _runs(recurrence: Recurrence, *, after: datetime, count: int) -> list[str]:
    runs = []
    for _ in range(count):
        after = next_run(recurrence, after=after, jitter=_NONE)
        runs.append(after.strftime("%m-%d %H:%M"))
    return runs


@pytest.mark.parametrize(
    ("cron", "after", "expected"),
    [
        ("0 3 * * *", "2026-01-01T03:00:00", "2026-01-02T03:00:00"),
        ("0 3 * * *", "2026-01-01T02:59:59.999999", "2026-01-01T03:00:00"),
        ("30 15 4 * * *", "2026-01-01T00:00:00", "2026-01-01T04:15:30"),
        ("0 0 1 1 *", "2026-01-01T00:00:00", "2027-01-01T00:00:00"),
        ("59 23 31 12 *", "2026-12-31T23:59:00", "2027-12-31T23:59:00"),
        ("0 0 29 2 *", "2028-02-29T00:00:00", "2032-02-29T00:00:00"),
        ("0 0 * 2 MON#5", "2072-03-01T00:00:00", "2112-02-29T00:00:00"),
        ("0 0 L * *", "2027-02-01T00:00:00", "2027-02-28T00:00:00"),
        ("0 9 * * MON#1", "2026-03-03T00:00:00", "2026-04-06T09:00:00"),
    ],
)
def test_the_next_run_is_later_than_the_given_time(cron: str, after: str, expected: str) -> None:
    assert next_run(parse(cron), after=_utc(after), jitter=_NONE) == _utc(expected)


@pytest.mark.parametrize(
    ("cron", "timezone", "after", "expected"),
    [
        # 02:00 becomes 03:00.
        (
            "30 2 * * *",
            "Europe/Berlin",
            "2026-03-28",
            ["03-28 01:30", "03-29 01:00", "03-30 00:30"],
        ),
        ("0 30 2 * * *", "Europe/Berlin", "2026-03-29", ["03-29 01:00", "03-30 00:30"]),
        ("0 3 * * *", "Europe/Berlin", "2026-03-29", ["03-29 01:00", "03-30 01:00"]),
        ("0,30 2-3 * * *", "Europe/Berlin", "2026-03-29", ["03-29 01:00", "03-29 01:30"]),
        ("*/30 2 * * *", "Europe/Berlin", "2026-03-29", ["03-29 01:00", "03-30 00:00"]),
        ("30 */2 * * *", "Europe/Berlin", "2026-03-29", ["03-29 01:00", "03-29 02:30"]),
        ("30 2 * * *", "America/New_York", "2026-03-08", ["03-08 07:00", "03-09 06:30"]),
        # 03:00 becomes 02:00 again.
        ("30 2 * * *", "Europe/Berlin", "2026-10-25", ["10-25 00:30", "10-26 01:30"]),
        ("0 30 2 * * *", "Europe/Berlin", "2026-10-25", ["10-25 00:30", "10-26 01:30"]),
        ("0 3 * * *", "Europe/Berlin", "2026-10-25", ["10-25 02:00", "10-26 02:00"]),
        # Half an hour, twice a year.
        ("15 2 * * *", "Australia/Lord_Howe", "2026-10-03", ["10-03 15:30", "10-04 15:15"]),
        ("0 15 2 * * *", "Australia/Lord_Howe", "2026-04-04", ["04-04 15:45", "04-05 15:45"]),
        ("45 1 * * *", "Australia/Lord_Howe", "2026-04-04", ["04-04 14:45", "04-05 15:15"]),
        # Midnight that does not exist, and a whole day that did not.
        ("0 0 * * *", "America/Sao_Paulo", "2018-11-04", ["11-04 03:00", "11-05 02:00"]),
        ("0 3 * * *", "Pacific/Apia", "2011-12-29", ["12-29 13:00", "12-30 10:00", "12-30 13:00"]),
        ("15 3 * * *", "Asia/Kathmandu", "2026-01-01", ["01-01 21:30", "01-02 21:30"]),
    ],
)
def test_a_named_time_fires_exactly_once_when_the_clock_changes(
    cron: str, timezone: str, after: str, expected: list[str]
) -> None:
    runs = _runs(parse(cron, timezone), after=_utc(after), count=len(expected))

    assert runs == expected


@pytest.mark.parametrize(
    ("cron", "timezone", "after", "expected"),
    [
        ("30 * * * *", "Europe/Berlin", "2026-03-29T00:00", ["00:30", "01:30", "02:30"]),
        ("30 * * * *", "Europe/Berlin", "2026-10-25T00:00", ["00:30", "01:30", "02:30"]),
        ("30 * * * *", "Europe/Berlin", "2026-10-25T00:40", ["01:30", "02:30"]),
        ("15 * * * *", "Australia/Lord_Howe", "2026-10-03T14:00", ["14:45", "16:15"]),
    ],
)
def test_hourly_schedule_follows_wall_clock_hours(
    cron: str, timezone: str, after: str, expected: list[str]
) -> None:
    runs = _runs(parse(cron, timezone), after=_utc(after), count=len(expected))

    assert [run[-5:] for run in runs] == expected


def test_a_run_whose_firing_has_passed_is_still_to_come() -> None:
    recurrence = parse("0 3 * * *")
    delay = timedelta(minutes=17)

    run = next_run(recurrence, after=_utc("2026-01-01T03:16:59"), jitter=delay)

    assert run == _utc("2026-01-01T03:17")
    assert next_run(recurrence, after=run, jitter=delay) == _utc("2026-01-02T03:17")


_CHANGES = [
    ("Europe/Berlin", "2026-03-29T01:00"),
    ("Europe/Berlin", "2026-10-25T01:00"),
    ("Australia/Lord_Howe", "2026-10-03T15:30"),
    ("Australia/Lord_Howe", "2026-04-04T15:00"),
    ("America/Havana", "2026-11-01T05:00"),
    ("America/Sao_Paulo", "2018-11-04T03:00"),
    ("Africa/Casablanca", "2026-03-22T02:00"),
    ("Pacific/Apia", "2011-12-30T10:00"),
]


def _watched(
    zone: ZoneInfo, hours: set[int], minutes: set[int], *, start: datetime, length: timedelta
) -> list[datetime]:
    """What somebody notes who looks at the clock every minute and ticks off what has come."""
    fired = []
    reached = start.astimezone(zone).replace(tzinfo=None)
    for step in range(1, length // _MINUTE + 1):
        moment = start + step * _MINUTE
        shown = moment.astimezone(zone).replace(tzinfo=None)
        passed = range((shown - reached) // _MINUTE)
        times = [shown - minute * _MINUTE for minute in passed]
        if any(time.hour in hours and time.minute in minutes for time in times):
            fired.append(moment)
        reached = max(reached, shown)
    return fired


@settings(max_examples=50)
@given(
    change=st.sampled_from(_CHANGES),
    hours=st.sets(st.integers(0, 23), min_size=1, max_size=12),
    minutes=st.sets(st.sampled_from(range(0, 60, 5)), min_size=1, max_size=4),
)
def test_recurrence_matches_a_simulated_clock(
    change: tuple[str, str], hours: set[int], minutes: set[int]
) -> None:
    timezone, when = change
    start, length = _utc(when) - timedelta(hours=5), timedelta(hours=10)
    cron = f"{','.join(map(str, minutes))} {','.join(map(str, hours))} * * *"
    expected = _watched(ZoneInfo(timezone), hours, minutes, start=start, length=length)

    runs, last = [], start
    while (last := next_run(parse(cron, timezone), after=last, jitter=_NONE)) <= start + length:
        runs.append(last)

    assert runs == expected


@pytest.mark.parametrize(
    "cron",
    [
        *("", "   ", "@daily", "* * * *", "0 0 0 0 0 0 0", "a b c d e", "61 * * * *", "0 24 * * *"),
        *("0 0 0 * *", "0 0 * 13 *", "0 0 * * 8", "*/0 3 * * *", "-1 3 * * *", "5-1 3 * * *"),
        *("0 3 * * MON#6", "٣ 3 * * *", "0 3 * * \x00", "0 3 * * \ud800", "1," * 60 + "1 3 * * *"),
    ],
)
def test_invalid_cron_expression_is_refused(cron: str) -> None:
    with pytest.raises(ValueError, match=r"^cron: ") as caught:
        parse(cron)

    assert str(caught.value).isprintable()


@pytest.mark.parametrize("cron", ["0 0 30 2 *", "0 0 31 2,4,6 *", "0 0 * 4 */7#5"])
def test_an_expression_that_never_fires_is_refused(cron: str) -> None:
    with pytest.raises(ValueError, match=r"^cron: "):
        parse(cron)


@pytest.mark.parametrize(
    "cron",
    [
        *("* * * * *", "*/4 * * * *", "0,3 3 * * *", "* 3 * * *", "0,1 0 3 * * *"),
        *("58,2 * * * *", "59,1 23,0 * * *", "*/5 * * * * *", "*/7 * * * *"),
    ],
)
def test_more_often_than_every_five_minutes_is_refused(cron: str) -> None:
    with pytest.raises(ValueError, match="at most every 5 minutes"):
        parse(cron)


@pytest.mark.parametrize(
    "cron", ["*/5 * * * *", "58,2 3 * * *", "0 */5 * * * *", "58,3 * * * *", "7 3 * * *"]
)
def test_every_five_minutes_is_accepted(cron: str) -> None:
    assert parse(cron).cron == cron


@pytest.mark.parametrize(
    "timezone",
    [
        *("", " ", "../etc/passwd", "/etc/localtime", "posixrules", "localtime", "right/UTC"),
        *("posix/UTC", "Europe", "Europe/Berlin ", "europe/berlin", "Mars/Base", "UTC\x00"),
        *("\ud800", "x" * 5000, "zone.tab", "CEST-1"),
    ],
)
def test_invalid_time_zone_is_refused(timezone: str) -> None:
    with pytest.raises(ValueError, match=r"^timezone: ") as caught:
        parse("0 3 * * *", timezone)

    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 200


@settings(max_examples=50)
@given(
    cron=st.text(st.sampled_from("0123456789*/-,#L?W MONFEBx٣\x00"), max_size=110),
    timezone=st.one_of(st.text(max_size=20), st.just("UTC")),
)
def test_any_text_is_a_recurrence_or_a_value_error(cron: str, timezone: str) -> None:
    try:
        recurrence = parse(cron, timezone)
    except ValueError as error:
        assert str(error).startswith(("cron: ", "timezone: "))  # noqa: PT017  # only when raised
    else:
        assert next_run(recurrence, after=_utc("2026-01-01"), jitter=_NONE) > _utc("2026-01-01")


@given(number=st.integers(0, 2**128 - 1))
def test_jitter_is_stable_and_below_its_window(number: int) -> None:
    within = timedelta(minutes=20)

    assert _NONE <= jitter(UUID(int=number), within=within) < within
    assert jitter(UUID(int=number), within=within) == jitter(UUID(int=number), within=within)
    assert jitter(UUID(int=number), within=_NONE) == _NONE


def test_jitter_spreads_sources_evenly_over_the_window() -> None:
    delays = [jitter(uuid4(), within=_DAY) / _DAY for _ in range(4000)]

    assert 0.45 < mean(delays) < 0.55
    assert all(
        300 < sum(tenth <= delay * 10 < tenth + 1 for delay in delays) < 500 for tenth in range(10)
    )


@settings(max_examples=50)
@given(
    cron=st.sampled_from(["*/5 * * * *", "0 3 * * *", "30 2 * * *", "0,50 */6 * * *"]),
    minutes=st.integers(0, 3000),
    start=st.integers(0, 60 * 24),
)
def test_every_firing_has_one_run_before_the_next_firing(
    cron: str, minutes: int, start: int
) -> None:
    recurrence = parse(cron, "Europe/Berlin")
    firings = [_utc("2026-03-28") + start * _MINUTE]
    for _ in range(4):
        firings.append(next_run(recurrence, after=firings[-1], jitter=_NONE))
    firings = firings[1:]
    runs = [firings[0] - timedelta(microseconds=1)]
    while runs[-1] < firings[-1]:
        runs.append(next_run(recurrence, after=runs[-1], jitter=minutes * _MINUTE))

    counts = [
        sum(firing <= run < following for run in runs) for firing, following in pairwise(firings)
    ]
    assert counts == [1, 1, 1]
