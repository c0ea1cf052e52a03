"""Who makes a key that is limited to collections, and of what."""

from dataclasses import replace
from uuid import UUID

import httpx
import pytest

from ingest.postgres.database import Pool
from ingest.runtime import Runtime
from tests.api.access.limited_keys import House
from tests.api.access.routes import seen
from tests.api.access.test_collections import make
from tests.api.conftest import OPERATOR_KEY, connect, serve


@pytest.mark.parametrize(
    "change",
    [{"role": "editor"}, {"collectionIds": []}, {"collectionIds": ["x"]}],
)
async def test_a_limited_key_is_a_viewers(
    admin: httpx.AsyncClient, application_id: UUID, house: House, change: dict[str, object]
) -> None:
    body = {"name": "x", "role": "viewer", "collectionIds": [house.shown.collection], **change}

    answer = await admin.post(f"/api/applications/{application_id}/keys", json=body)

    assert answer.status_code == 422


async def test_a_key_is_not_limited_to_collections_of_others(
    admin: httpx.AsyncClient, stranger: httpx.AsyncClient, application_id: UUID
) -> None:
    theirs = await make(stranger)
    body = {"name": "x", "role": "viewer", "collectionIds": [theirs]}

    answer = await admin.post(f"/api/applications/{application_id}/keys", json=body)

    assert answer.status_code == 404


async def test_where_the_database_would_not_limit_it_such_a_key_is_neither_made_nor_accepted(
    runtime: Runtime, pool: Pool, house: House, application_id: UUID
) -> None:
    unprotected = Pool(replace(pool.connections, limited_role=None), None)
    body = {"name": "x", "role": "viewer", "collectionIds": [house.shown.collection]}
    async with (
        serve(replace(runtime, pool=unprotected)) as app,
        connect(app, house.key) as limited,
        connect(app, OPERATOR_KEY) as operator,
    ):
        used = await limited.get("/api/knowledge-sources")
        made = await operator.post(f"/api/applications/{application_id}/keys", json=body)

    assert [seen(answer) for answer in (used, made)] == [(503, "limited_keys_not_enforced")] * 2
