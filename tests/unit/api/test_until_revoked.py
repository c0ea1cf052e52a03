"""Long-lived connections of the operator end after the operator key was replaced."""

import asyncio
from datetime import timedelta
from pathlib import Path
from typing import cast
from uuid import uuid4

import pytest

from api.authentication import Key, until_revoked
from harness.patience import PATIENCE
from ingest.postgres.database import Pool
from ingest.settings import operator_key
from ingest.settings.operator_key import OperatorKey, rotate


async def test_a_connection_of_the_operator_ends_after_a_rotation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(operator_key, "SETTLED_AFTER", timedelta(0))
    (tmp_path / "admin.key").write_text("rk_old\n")
    key = Key(
        application_id=uuid4(),
        role="admin",
        is_operator=True,
        operator_key=OperatorKey("rk_old", file=tmp_path / "admin.key"),
    )
    watching = asyncio.create_task(until_revoked(cast(Pool, None), key, check_seconds=0.01))
    await asyncio.sleep(0.05)
    before = watching.done()
    rotate(tmp_path, grace=timedelta(0))

    async with asyncio.timeout(PATIENCE):
        await watching
    assert not before
