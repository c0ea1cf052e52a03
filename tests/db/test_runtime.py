"""What the composition root gives to the worker."""

from pathlib import Path
from typing import Any

import pytest

from ingest import runtime
from ingest.handlers.context import Context
from ingest.settings.settings import Settings
from ingest.worker.loop import lookups_every


async def test_a_worker_has_its_own_connections_and_paces_its_look_ups(
    dsn: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: dict[str, Any] = {}

    def context(**parts: Any) -> Context:
        given.update(parts)
        return Context(**parts)

    monkeypatch.setattr(runtime, "Context", context)
    settings = Settings(data_dir=tmp_path, embedder="static", worker_concurrency=8)

    async with runtime.open_runtime(settings, dsn, work=True) as opened:
        pools = (opened.pool, opened.search_parts.pool, given["pool"])

    assert len({pool.connections.open for pool in pools}) == 3
    assert given["pacing"].every == lookups_every(8)
    assert lookups_every(8) < lookups_every(48)
    assert given["pacing"].enough == 4
    assert not given["pacing"].is_more_expected()  # as long as no file is being read
