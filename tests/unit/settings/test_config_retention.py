"""How long things are kept: days, within reason."""

from datetime import timedelta

import pytest

from ingest.errors import SetupError
from ingest.settings.loading import load_settings


def test_durations_may_be_days(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INGEST_KEEP_JOBS", "1.5d")

    assert load_settings().keep_jobs == timedelta(hours=36)


@pytest.mark.parametrize("value", ["0", "59m", "-1d", "40000d", "d", "forever"])
def test_invalid_retention_period_stops_the_start(
    monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    monkeypatch.setenv("INGEST_KEEP_EVENTS", value)

    with pytest.raises(SetupError, match=r"^INGEST_KEEP_EVENTS: [^\n]+$"):
        load_settings()
