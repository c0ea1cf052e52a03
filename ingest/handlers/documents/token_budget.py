"""Reserve an application's token budget for a call to the embedder."""

import random
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import date, timedelta
from functools import partial
from typing import Final
from uuid import UUID
from weakref import WeakValueDictionary

import psycopg
import structlog

from ingest.errors import Permanent, Snooze
from ingest.postgres.batch_loader import BatchLoader
from ingest.postgres.database import Pool, is_database_unavailable, transaction
from ingest.store.limits import token_budgets

log = structlog.get_logger()

# Jitter for the jobs that resume when the budget renews at midnight.
_SPREAD: Final = timedelta(minutes=5)
_SECONDS_TO_GIVE_BACK: Final = 5.0


@dataclass(slots=True)
class Spending:
    """Tokens that the call has spent so far."""

    tokens: int = 0


@dataclass(slots=True, eq=False)
class _Reservation:
    tokens: int
    day: date | None = None
    is_abandoned: bool = False
    """The caller was cancelled before it got an answer."""


class TokenReservations:
    """Concurrent reservations of an application share a transaction: all lock the same row.

    One per worker.
    """

    def __init__(self) -> None:
        self._loaders: WeakValueDictionary[UUID, BatchLoader[_Reservation, date]] = (
            WeakValueDictionary()
        )

    @asynccontextmanager
    async def hold(
        self, pool: Pool, *, application_id: UUID, tokens: int
    ) -> AsyncIterator[Spending]:
        """Reserve tokens for the block; if it fails, return the tokens it has not spent.

        `pool`: the application's. Raises Snooze until the next day if today's remaining budget is
        too small, Permanent if the budget of a whole day is; both with the code `budget_exceeded`.
        """
        wanted, spending = _Reservation(tokens), Spending()
        try:
            loader = self._loaders.get(application_id)
            if loader is None:
                loader = BatchLoader(
                    partial(_reserve, pool, application_id), concerns_all=is_database_unavailable
                )
                self._loaders[application_id] = loader
            await loader.get([wanted])
            if wanted.day is None:
                async with transaction(pool) as conn:
                    budget = await token_budgets.state(conn, application_id)
                raise _refusal(budget, tokens)
            yield spending
        except BaseException:
            wanted.is_abandoned = True
            await _give_back(pool, application_id, wanted, tokens - spending.tokens)
            raise


async def _reserve(
    pool: Pool, application_id: UUID, wanted: Sequence[_Reservation]
) -> Mapping[_Reservation, date]:
    """Reserve for all; if that is too much, for those that fit, in their order."""
    async with transaction(pool) as conn:
        reserve = partial(token_budgets.reserve, conn, application_id=application_id)
        day = await reserve(tokens=sum(each.tokens for each in wanted))
        days = [day] * len(wanted)
        if day is None and len(wanted) > 1:
            days = [await reserve(tokens=each.tokens) for each in wanted]
    # No await in between: each reservation is returned either here or by its caller.
    abandoned: list[_Reservation] = []
    for each, day in zip(wanted, days, strict=True):
        each.day = day
        if each.is_abandoned:
            abandoned.append(each)
    for each in abandoned:
        await _give_back(pool, application_id, each, each.tokens)
    return {each: each.day for each in wanted if each.day is not None}


async def _give_back(
    pool: Pool, application_id: UUID, reservation: _Reservation, tokens: int
) -> None:
    day = reservation.day
    if day is None:
        return
    try:
        async with transaction(pool, wait_seconds=_SECONDS_TO_GIVE_BACK) as conn:
            await token_budgets.give_back(
                conn, application_id=application_id, day=day, tokens=tokens
            )
    except psycopg.OperationalError as error:
        # Must not replace the original error, least of all a cancellation.
        log.warning("budget.not_given_back", tokens=tokens, error=type(error).__name__)


def _refusal(budget: token_budgets.TokenBudget | None, tokens: int) -> Permanent | Snooze:
    if budget is None:
        return Permanent("the application was deleted", code="source_deleted")
    if budget.per_day is not None and tokens > budget.per_day:
        return Permanent(
            f"the job needs {tokens:,} tokens; the application may use {budget.per_day:,} a day",
            code="budget_exceeded",
        )
    spread = _SPREAD * random.random()  # noqa: S311  # spreads load, guards nothing
    return Snooze(
        budget.renews_in + spread,
        reason="budget_exceeded",
        code="budget_exceeded",
        message=f"the job needs {tokens:,} tokens, and {budget.used:,} of the application's"
        f" {budget.per_day or 0:,} for today are used",
    )
