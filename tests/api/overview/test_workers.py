"""GET /api/workers: who works, how much, and since when."""

from typing import Any
from uuid import UUID, uuid4

import httpx

from ingest.postgres.database import Connection


async def _add(conn: Connection, *, minutes: int, silent: int = 0, slots: int | None = 8) -> UUID:
    id = uuid4()
    await conn.execute(
        "insert into rag.workers "
        "       (id, host, pid, started_at, heartbeat_at, running, slots, draining) "
        "values (%s, 'host-a', 77, now() - %s * interval '1 minute', "
        "         now() - %s * interval '1 second', 3, %s, %s)",
        [id, minutes, silent, slots, silent > 0],
    )
    return id


async def _workers(client: httpx.AsyncClient, **params: Any) -> dict[str, Any]:
    answer = await client.get("/api/workers", params=params)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def test_live_and_silent_workers(conn: Connection, operator: httpx.AsyncClient) -> None:
    silent = await _add(conn, minutes=10, silent=130, slots=None)
    alive = await _add(conn, minutes=5)

    found = (await _workers(operator))["items"]

    shown = ("id", "host", "pid", "isAlive", "isDraining", "running", "slots")
    assert [[worker[name] for name in shown] for worker in found] == [
        [str(alive), "host-a", 77, True, False, 3, 8],
        [str(silent), "host-a", 77, False, True, 3, None],
    ]
    assert [round(worker["silentSeconds"], -1) for worker in found] == [0, 130]


async def test_hosts_are_shown_to_the_operator_only(
    conn: Connection, viewer: httpx.AsyncClient
) -> None:
    await _add(conn, minutes=1)

    [worker] = (await _workers(viewer))["items"]

    assert (worker["host"], worker["pid"]) == (None, None)
    assert (worker["running"], worker["slots"]) == (3, 8)


async def test_pages_of_workers(conn: Connection, operator: httpx.AsyncClient) -> None:
    ids = [str(await _add(conn, minutes=minutes)) for minutes in (1, 2, 3)]

    first = await _workers(operator, limit=2)
    second = await _workers(operator, limit=2, cursor=first["nextCursor"])

    assert [worker["id"] for worker in first["items"] + second["items"]] == ids
    assert second["nextCursor"] is None
