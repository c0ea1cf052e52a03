"""INGEST_QUOTAS and INGEST_KEY_LIMITS, and what settings of an application override."""

import pytest

from ingest.errors import SetupError
from ingest.quotas import DEFAULTS, KeyLimits, Quotas, Room, Usage
from ingest.settings.loading import load_settings


def test_named_values_replace_the_defaults(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INGEST_QUOTAS", "storedBytes:1000, sources:5")
    monkeypatch.setenv("INGEST_KEY_LIMITS", "searches:0")

    settings = load_settings()

    assert settings.quotas == Quotas(stored_bytes=1000, sources=5)
    assert settings.key_limits == KeyLimits(searches=0)
    assert settings.disk_reserve == 1024**3


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("INGEST_QUOTAS", "files:5"),
        ("INGEST_QUOTAS", "sources"),
        ("INGEST_QUOTAS", "sources:-1"),
        ("INGEST_QUOTAS", "storedBytes:1e9"),
        ("INGEST_QUOTAS", f"storedBytes:{10**16}"),
        ("INGEST_KEY_LIMITS", "sources:5"),
        ("INGEST_DISK_RESERVE", "-1"),
    ],
)
def test_a_wrong_value_names_its_variable(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str
) -> None:
    monkeypatch.setenv(variable, value)

    with pytest.raises(SetupError, match=variable):
        load_settings()


@pytest.mark.parametrize("stored", [None, [], "x", {"sources": True}, {"sources": -1}, {"x": 1}])
def test_invalid_stored_quotas_are_ignored(stored: object) -> None:
    assert DEFAULTS.overridden_by(stored) == DEFAULTS


def test_staged_bytes_count_towards_the_stored_bytes_that_they_will_become() -> None:
    room = Room(quotas=Quotas(stored_bytes=100), used=Usage(stored_bytes=60, staged_bytes=30))

    assert room.take(staged_bytes=10) is None
    excess = room.take(staged_bytes=1)
    assert excess is not None
    assert (excess.quota, excess.used, excess.ends_by_itself) == ("storedBytes", 100, False)


def test_what_does_not_fit_takes_nothing() -> None:
    room = Room(quotas=Quotas(sources=1, pending_jobs=0), used=Usage())

    assert room.take(sources=1, jobs=1) is not None
    assert room.used == Usage()


def test_what_is_larger_than_the_whole_quota_never_fits_by_itself() -> None:
    room = Room(quotas=Quotas(pending_jobs=2), used=Usage(pending_jobs=2))

    small, large = room.excess(jobs=1), room.excess(jobs=3)

    assert small is not None
    assert small.ends_by_itself
    assert large is not None
    assert not large.ends_by_itself
