"""Providers: pause and resume single ones, end the pauses that they caused."""

from typing import Annotated, Literal

from fastapi import Query
from pydantic import Field

from api.authenticated_route import KeyedRouter
from api.dependencies import Operator, PoolDep, RuntimeDep
from api.schema.json_model import Body, Text
from ingest.errors import NotFound
from ingest.postgres.database import Connection, transaction
from ingest.runtime import Runtime
from ingest.store.limits import provider_lanes, provider_pauses
from ingest.store.limits.provider_pauses import ProviderPause
from ingest.store.view import UtcTime, View

router = KeyedRouter(prefix="/api/worker/provider", tags=["management"])

_LISTED = 100

Name = Annotated[Text, Field(min_length=1, max_length=200)]


class ProviderView(View):
    name: str
    """`provider/model`."""
    use: Literal["embedding", "rerank"] | None
    """What this process asks it for; null: it was used earlier, or by others."""
    paused_since: UtcTime | None
    """When the operator paused it; null: not paused by the operator."""
    note: str | None
    """Who paused it and why."""
    is_paused: bool
    """By the operator."""


class Providers(View):
    items: list[ProviderView]


class ProviderPauseRequest(Body):
    name: Name
    """`provider/model`; digests of the key and the address may follow, as in `limits`."""
    note: Annotated[Text, Field(max_length=500)] | None = None
    """Who pauses it and why, for others who share the operator key."""


class Resumed(View):
    lanes: list[str]
    """The lanes that were paused."""
    job_count: int
    """Number of jobs that were resumed."""


@router.get("")
async def list_providers(runtime: RuntimeDep, pool: PoolDep, key: Operator) -> Providers:
    """Providers that can be paused: in use, used earlier, or paused. By name, up to 100 lanes."""
    async with transaction(pool) as conn:
        pauses = await provider_pauses.paused(conn)
        known = await _known(conn, runtime)
    uses = _in_use(runtime)
    return Providers(
        items=[_shown(name, uses, pauses.get(name)) for name in sorted(known | pauses.keys())]
    )


@router.post("/pause")
async def pause_provider(
    body: ProviderPauseRequest, runtime: RuntimeDep, pool: PoolDep, key: Operator
) -> ProviderView:
    """Send a provider no requests until it is resumed; all other work goes on.

    Requests that were sent are answered. Jobs that need the provider wait with `waitReason`
    `provider_paused`, without using up an attempt, and keep what they have embedded; searches rank
    by words only, or without the reranker, and say so. Holds for all processes, also after a
    restart or with another key. A provider that is paused keeps its time and note.
    """
    async with transaction(pool) as conn:
        if body.name.partition("#")[0] not in await _known(conn, runtime):
            raise NotFound("provider")
        pause = await provider_pauses.pause(conn, body.name, note=body.note)
    return _shown(body.name, _in_use(runtime), pause)


@router.delete("/pause")
async def unpause_provider(
    runtime: RuntimeDep, pool: PoolDep, key: Operator, *, name: Annotated[Name, Query()]
) -> Resumed:
    """End the operator's pause of a provider and resume the jobs that wait for it.

    Repeat it if the answer did not arrive.
    """
    async with transaction(pool) as conn:
        was_paused = await provider_pauses.resume(conn, name)
    jobs = await runtime.governor.release_stopped()
    return Resumed(lanes=[name] if was_paused else [], job_count=jobs)


@router.post("/resume")
async def resume_provider(runtime: RuntimeDep, key: Operator) -> Resumed:
    """End the pauses of all providers, except the operator's, and resume the jobs that wait.

    A provider that still fails pauses its lane again at the first request. No attempt is used up.
    """
    lanes = await runtime.governor.end_pauses()
    return Resumed(lanes=lanes, job_count=await runtime.governor.release(all=True))


def _in_use(runtime: Runtime) -> dict[str, Literal["embedding", "rerank"]]:
    model, reranking = runtime.model, runtime.search_parts.reranking
    uses: dict[str, Literal["embedding", "rerank"]] = {}
    if reranking is not None:
        uses[_short(reranking.lane)] = "rerank"
    uses[_short(runtime.lane or f"{model.provider}/{model.name}")] = "embedding"
    return uses


async def _known(conn: Connection, runtime: Runtime) -> set[str]:
    lanes = await provider_lanes.names(conn, limit=_LISTED)
    return {*map(_short, lanes), *_in_use(runtime)}


def _short(lane: str) -> str:
    """The lane without key and address: a pause outlasts their change."""
    return lane.partition("#")[0].partition("@")[0]


def _shown(
    name: str, uses: dict[str, Literal["embedding", "rerank"]], pause: ProviderPause | None
) -> ProviderView:
    return ProviderView(
        name=name,
        use=uses.get(_short(name)),
        paused_since=None if pause is None else pause.since,
        note=None if pause is None else pause.note,
        is_paused=pause is not None,
    )
