"""Job types of a user, as INGEST_HANDLERS loads them into real workers."""

import asyncio
import os
import time
from datetime import timedelta

import httpx

from harness.patience import PATIENCE
from ingest.errors import Transient
from ingest.handlers.context import Context, Outcome, Progress
from ingest.handlers.registry import handler
from ingest.store.queue.jobs import ClaimedJob

MODULE = __name__


@handler("call")
async def call(job: ClaimedJob, ctx: Context, progress: Progress) -> Outcome:
    """Ask the provider that the payload names, in a lane of its own."""
    lane = f"{job.payload['provider']}/call"
    await ctx.governor.enter(lane)
    async with httpx.AsyncClient(timeout=PATIENCE, trust_env=False, verify=False) as client:
        answer = await client.post(f"{job.payload['url']}/{job.payload['provider']}")
    if answer.status_code >= 500:
        await ctx.governor.record_failure(lane)
        raise Transient("the provider is down", code="internal")
    await ctx.governor.record_success(lane)
    return Outcome(result={"status": answer.status_code})


@handler("nap")
async def nap(job: ClaimedJob, ctx: Context, progress: Progress) -> Outcome:
    await asyncio.sleep(timedelta(milliseconds=job.payload.get("milliseconds", 20)).total_seconds())
    return Outcome()


@handler("poison")
async def poison(job: ClaimedJob, ctx: Context, progress: Progress) -> Outcome:
    """Takes its worker down, as a fault in a native library would."""
    os._exit(9)


@handler("block")
async def block(job: ClaimedJob, ctx: Context, progress: Progress) -> Outcome:
    """Never lets the event loop go on, as a forgotten synchronous call would."""
    while True:
        time.sleep(1)  # noqa: ASYNC251  # that is the fault
