"""Pings of the server may come between any two messages, as they do on a slow machine."""

import pytest


@pytest.fixture(autouse=True)
def frequent_pings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("api.live.websocket._PING_SECONDS", 0.005)
