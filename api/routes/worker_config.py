"""Switches and limits of all workers together."""

from typing import Annotated

from fastapi import APIRouter
from pydantic import Field

from api.dependencies import Operator, PoolDep
from api.keyed_route import KeyedRoute
from api.schema.json_model import Body, Flag, View, Whole
from ingest.postgres.database import transaction
from ingest.store.limits import worker_config

router = APIRouter(route_class=KeyedRoute, prefix="/api/worker/config", tags=["management"])

# `provider/model`, and after a `#` the first digits of the digest of a provider's key.
Lane = Annotated[str, Field(max_length=200, pattern=r'^[!-."$-~]+/[!-"$-~]+(#[!-"$-~]+)?$')]
PerMinute = Annotated[Whole, Field(ge=1, le=10**9)]


class LaneLimits(Body):
    """Of all workers together, in any minute; null: as fast as the provider takes it."""

    requests_per_minute: PerMinute | None = None
    tokens_per_minute: PerMinute | None = None


Limits = Annotated[dict[Lane, LaneLimits], Field(max_length=100)]


class WorkerConfigPut(Body):
    """What is left out stays as it is; `limits` are replaced as a whole."""

    paused: Flag = False
    limits: Limits = Field(default_factory=dict)


class LaneLimitsView(View):
    requests_per_minute: int | None
    tokens_per_minute: int | None


class WorkerConfig(View):
    paused: bool
    limits: dict[str, LaneLimitsView]


@router.get("")
async def get_worker_config(pool: PoolDep, key: Operator) -> WorkerConfig:
    """Whether workers are paused, and how fast they may ask providers."""
    async with transaction(pool) as conn:
        return WorkerConfig.model_validate(await worker_config.get(conn))


@router.put("")
async def put_worker_config(body: WorkerConfigPut, pool: PoolDep, key: Operator) -> WorkerConfig:
    """Pause or resume all workers, limit providers.

    No job starts once a pause has been answered; those that are running go on to their end.
    """
    async with transaction(pool) as conn:
        if "paused" in body.model_fields_set:
            await worker_config.set_paused(conn, body.paused)
        if "limits" in body.model_fields_set:
            limits = {
                lane: worker_config.LaneLimits(
                    requests_per_minute=of_lane.requests_per_minute,
                    tokens_per_minute=of_lane.tokens_per_minute,
                )
                for lane, of_lane in body.limits.items()
            }
            await worker_config.set_limits(conn, limits)
        return WorkerConfig.model_validate(await worker_config.get(conn))
