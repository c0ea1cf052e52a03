"""Switches and limits that apply to all workers together."""

from typing import Annotated

from pydantic import Field

from api.authenticated_route import KeyedRouter
from api.dependencies import Operator, PoolDep
from api.schema.json_model import Body, Flag, Whole
from ingest.postgres.database import transaction
from ingest.store.limits import worker_config
from ingest.store.view import View

router = KeyedRouter(prefix="/api/worker/config", tags=["management"])

# `provider/model`, optionally followed by `#` and the first digits of the key's digest.
Lane = Annotated[str, Field(max_length=200, pattern=r'^[!-."$-~]+/[!-"$-~]+(#[!-"$-~]+)?$')]
PerMinute = Annotated[Whole, Field(ge=1, le=10**9)]


class LaneLimits(Body):
    """Limits of all workers together, in any minute; null: as fast as the provider accepts."""

    requests_per_minute: PerMinute | None = None
    tokens_per_minute: PerMinute | None = None


Limits = Annotated[dict[Lane, LaneLimits], Field(max_length=100)]


class WorkerConfigPut(Body):
    """Fields that are left out stay unchanged; `limits` are replaced as a whole."""

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
    """Whether workers are paused, and their rate limits for providers."""
    async with transaction(pool) as conn:
        return WorkerConfig.model_validate(await worker_config.get(conn))


@router.put("")
async def put_worker_config(body: WorkerConfigPut, pool: PoolDep, key: Operator) -> WorkerConfig:
    """Pause or resume all workers, and limit requests to providers.

    After a pause no job starts; running jobs finish.
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
