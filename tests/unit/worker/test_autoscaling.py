"""The wanted number of workers: by depth, age, limits, and with patience."""

from datetime import timedelta
from typing import Any

import pytest

from ingest.autoscaling import Load, ScalingRule, ScalingState, parse_table, settle, wanted

TABLE = parse_table("0:0,1:1,100:2,1000:4,10000:8")


def rule(**changes: Any) -> ScalingRule:
    usual: dict[str, Any] = {
        "table": TABLE,
        "age": timedelta(seconds=60),
        "up_after": timedelta(0),
        "down_after": timedelta(minutes=5),
        "slots": 8,
    }
    return ScalingRule(**usual | changes)


def load(ready: int, running: int = 0, **more: Any) -> Load:
    return Load(ready=ready, running=running, **more)


@pytest.mark.parametrize(
    ("loads", "current", "workers", "reason"),
    [
        ([], 0, 0, "idle"),
        ([load(0)], 3, 0, "idle"),
        # depth, of all types together
        ([load(1)], 0, 1, "depth"),
        ([load(99)], 0, 1, "depth"),
        ([load(100)], 0, 2, "depth"),
        ([load(600), load(400)], 0, 4, "depth"),
        ([load(1_000_000)], 0, 8, "depth"),
        # old work asks for one more than there are, up to the most
        ([load(5, oldest_seconds=61)], 1, 2, "age"),
        ([load(5, oldest_seconds=60)], 1, 1, "depth"),
        ([load(5, oldest_seconds=9999)], 8, 8, "age"),
        ([load(5, oldest_seconds=9999)], 20, 8, "age"),
        ([load(1000, oldest_seconds=61)], 1, 4, "depth"),
        # running jobs keep their workers
        ([load(0, running=1)], 1, 1, "running"),
        ([load(0, running=17)], 3, 3, "running"),
        ([load(1, running=17)], 3, 3, "running"),
        # what may not run asks for nothing
        ([load(5000, is_open=False, oldest_seconds=9999)], 0, 0, "idle"),
        ([load(5000, is_open=False), load(1)], 0, 1, "depth"),
        ([load(5000, is_paused=True, oldest_seconds=9999)], 0, 0, "paused"),
        ([load(0, is_paused=True)], 0, 0, "idle"),
        ([load(5000, is_paused=True), load(1)], 0, 1, "depth"),
        ([load(5000, running=1, is_paused=True)], 1, 1, "running"),
        ([load(5000, running=2, max_concurrent=2, oldest_seconds=9999)], 1, 1, "running"),
        ([load(5000, max_concurrent=3, oldest_seconds=9999)], 1, 1, "depth"),
        ([load(5000, running=9, max_concurrent=2)], 2, 2, "running"),
        ([load(5000, rate_per_minute=120, oldest_seconds=9999)], 2, 2, "depth"),
        # but a limit that is wide enough changes nothing
        ([load(50, max_concurrent=60, oldest_seconds=61)], 1, 2, "age"),
    ],
)
def test_the_load_asks_for_workers(
    loads: list[Load], current: int, workers: int, reason: str
) -> None:
    asked = wanted(loads, rule(), current=current)

    assert (asked.workers, asked.reason) == (workers, reason)


def test_no_more_workers_are_wanted_than_there_are_jobs() -> None:
    eager = rule(table=parse_table("0:0,1:5"))

    assert wanted([load(2, running=1)], eager, current=0).workers == 3


def test_an_operator_may_keep_workers_without_work() -> None:
    warm = rule(table=parse_table("0:2,1000:4"))

    assert wanted([], warm, current=0).workers == 2


def test_reported_load_is_what_could_start() -> None:
    loads = [
        load(10, oldest_seconds=5),
        load(700, is_open=False, oldest_seconds=900),
        load(40, rate_per_minute=6, oldest_seconds=30),
        load(8, is_paused=True, oldest_seconds=700),
    ]

    asked = wanted(loads, rule(), current=0)

    assert (asked.ready, asked.paused, asked.oldest_seconds) == (16, 8, 30)


def answers(*asked: tuple[float, int], rule: ScalingRule, first: int) -> list[int]:
    """What is answered to each (time, wanted)."""
    memory = ScalingState(desired=first)
    given = []
    for now, workers in asked:
        memory = settle(memory, workers, rule, now=now)
        given.append(memory.desired)
    return given


def test_first_desired_number_has_no_delay() -> None:
    assert settle(None, 3, rule(), now=0).desired == 3


def test_scale_up_is_immediate_by_default() -> None:
    assert answers((0, 4), rule=rule(), first=1) == [4]


def test_scale_down_waits_for_the_delay() -> None:
    asked = [(0, 1), (299, 1), (300, 1)]

    assert answers(*asked, rule=rule(), first=4) == [4, 4, 1]


def test_load_peak_restarts_the_scale_down_delay() -> None:
    asked = [(0, 1), (200, 4), (300, 1), (599, 1), (600, 1)]

    assert answers(*asked, rule=rule(), first=4) == [4, 4, 4, 4, 1]


def test_scale_down_goes_to_the_maximum_wanted_during_the_delay() -> None:
    asked = [(0, 1), (100, 3), (300, 1), (599, 1), (600, 1)]

    assert answers(*asked, rule=rule(), first=4) == [4, 4, 3, 3, 1]


def test_scale_up_delay_does_not_apply_from_zero() -> None:
    patient = rule(up_after=timedelta(seconds=30))

    assert answers((0, 2), (29, 4), (30, 4), rule=patient, first=1) == [1, 1, 4]
    assert answers((0, 2), (10, 1), (35, 2), (64, 2), rule=patient, first=1) == [1, 1, 1, 1]
    assert answers((0, 2), rule=patient, first=0) == [2]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "list of jobs:workers"),
        ("0:0,1", "list of jobs:workers"),
        ("0:0,1:2:3", "list of jobs:workers"),
        ("0:0,many:2", "list of jobs:workers"),
        ("1:1", "begin with 0"),
        ("0:0,5:1,5:2", "must rise"),
        ("0:0,5:2,9:1", "must not fall"),
        ("0:-1,5:2", "between 0"),
        ("0:0,5:10001", "between 0"),
    ],
)
def test_invalid_scaling_table_is_refused(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        parse_table(text)
