"""Switches and limits of all workers, as the API shows and sets them."""

from collections.abc import Sequence
from typing import Any, Final

import httpx
from psycopg.types.json import Jsonb

from ingest.postgres.database import Connection
from tests.api.helpers import count
from tests.support.queue_builders import claimable

CONFIG: Final = "/api/worker/config"
OPENAI: Final = "openai/text-embedding-3-small"
LIMITS: Final = {
    OPENAI: {"requestsPerMinute": 500, "tokensPerMinute": 1_000_000},
    f"{OPENAI}#a1b2c3d4": {"requestsPerMinute": 10, "tokensPerMinute": None},
}


async def test_the_pause_stops_all_claiming(operator: httpx.AsyncClient, conn: Connection) -> None:
    paused = await operator.put(CONFIG, json={"paused": True})
    while_paused = await claimable(conn, "file")
    await operator.put(CONFIG, json={"paused": False})
    resumed = await claimable(conn, "file")

    assert paused.json() == {"paused": True, "limits": {}}
    assert (while_paused, resumed) == (set(), {"file"})
    assert (await operator.get(CONFIG)).json() == {"paused": False, "limits": {}}


async def test_omitted_settings_are_kept(operator: httpx.AsyncClient) -> None:
    await operator.put(CONFIG, json={"limits": LIMITS})
    await operator.put(CONFIG, json={"paused": True})
    answer = await operator.put(CONFIG, json={})

    assert answer.json() == {"paused": True, "limits": LIMITS}
    assert (await operator.get(CONFIG)).json() == answer.json()


async def test_limits_are_replaced_as_a_whole(operator: httpx.AsyncClient) -> None:
    await operator.put(CONFIG, json={"limits": LIMITS})
    other = await operator.put(CONFIG, json={"limits": {"acme/llm#1": {"requestsPerMinute": 1}}})
    none = await operator.put(CONFIG, json={"limits": {}})

    shown = {"acme/llm#1": {"requestsPerMinute": 1, "tokensPerMinute": None}}
    assert other.json()["limits"] == shown
    assert none.json()["limits"] == {}


async def test_limits_are_stored_in_the_form_that_workers_read(
    operator: httpx.AsyncClient, conn: Connection
) -> None:
    await operator.put(CONFIG, json={"limits": LIMITS})

    row = await (
        await conn.execute("select value from rag.worker_config where key = 'limits'")
    ).fetchone()
    assert row == (LIMITS,)


WRONG: Final[Sequence[tuple[dict[str, Any], str]]] = (
    ({"paused": None}, "paused"),
    ({"limits": None}, "limits"),
    ({"limits": {"openai": {}}}, "limits.openai.[key]"),
    ({"limits": {"a/b c": {}}}, "limits.a/b c.[key]"),
    ({"limits": {"a/b#": {}}}, "limits.a/b#.[key]"),
    ({"limits": {"a/b#c#d": {}}}, "limits.a/b#c#d.[key]"),
    ({"limits": {"a/b": {"requestsPerMinute": 0}}}, "limits.a/b.requestsPerMinute"),
    ({"limits": {"a/b": {"requestsPerMinute": -5}}}, "limits.a/b.requestsPerMinute"),
    ({"limits": {"a/b": {"tokensPerMinute": 0.5}}}, "limits.a/b.tokensPerMinute"),
    ({"limits": {"a/b": {"tokensPerMinute": 10**10}}}, "limits.a/b.tokensPerMinute"),
    ({"limits": {"a/b": {"perMinute": 1}}}, "limits.a/b.perMinute"),
    ({"limits": {f"a/{n}": {} for n in range(101)}}, "limits"),
    ({"pause": True}, "pause"),
)


async def test_a_wrong_value_is_a_422_that_names_it_and_changes_nothing(
    operator: httpx.AsyncClient, conn: Connection
) -> None:
    for body, field in WRONG:
        answer = await operator.put(CONFIG, json=body)

        assert answer.status_code == 422, body
        assert [error["field"] for error in answer.json()["errors"]] == [f"body.{field}"]
    assert await count(conn, "rag.worker_config where key = 'limits'") == 0


async def test_a_lane_has_at_most_200_characters(operator: httpx.AsyncClient) -> None:
    longest = "a/" + "b" * 198
    answers = [
        await operator.put(CONFIG, json={"limits": {lane: {"tokensPerMinute": 1}}})
        for lane in (longest, longest + "b")
    ]

    assert [answer.status_code for answer in answers] == [200, 422]


async def test_invalid_stored_limits_are_ignored_field_by_field(
    operator: httpx.AsyncClient, conn: Connection
) -> None:
    by_hand = {"a/b": 5, "c/d": {"requestsPerMinute": -1, "tokensPerMinute": 7}}
    await conn.execute(
        "insert into rag.worker_config (key, value) values ('limits', %s)", [Jsonb(by_hand)]
    )
    shown = (await operator.get(CONFIG)).json()["limits"]
    await conn.execute("update rag.worker_config set value = '[]' where key = 'limits'")
    unreadable = (await operator.get(CONFIG)).json()["limits"]

    assert shown == {"c/d": {"requestsPerMinute": None, "tokensPerMinute": 7}}
    assert unreadable == {}
