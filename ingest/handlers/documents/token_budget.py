"""Reserve an application's token budget for a call to the embedder."""

import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Final
from uuid import UUID

import psycopg
import structlog

from ingest.errors import Permanent, Snooze
from ingest.postgres.database import Pool, transaction
from ingest.store.limits import token_budgets

log = structlog.get_logger()

# Jitter for the jobs that resume when the budget renews at midnight.
_SPREAD: Final = timedelta(minutes=5)
_SECONDS_TO_GIVE_BACK: Final = 5.0


@dataclass(slots=True)
class Spending:
    """Tokens that the call has spent so far."""

    tokens: int = 0


@asynccontextmanager
async def reserved_tokens(
    pool: Pool, *, application_id: UUID, tokens: int
) -> AsyncIterator[Spending]:
    """Reserve tokens for the block; if it fails, return the tokens it has not spent.

    Raises Snooze until the next day if today's remaining budget is too small, Permanent if the
    budget of a whole day is; both with the code `budget_exceeded`.
    """
    async with transaction(pool) as conn:
        day = await token_budgets.reserve(conn, application_id=application_id, tokens=tokens)
        if day is None:
            raise _refusal(await token_budgets.state(conn, application_id), tokens)
    spending = Spending()
    try:
        yield spending
    except BaseException:
        left = tokens - spending.tokens
        try:
            async with transaction(pool, wait_seconds=_SECONDS_TO_GIVE_BACK) as conn:
                await token_budgets.give_back(
                    conn, application_id=application_id, day=day, tokens=left
                )
        except psycopg.OperationalError as error:
            # Must not replace the original error, least of all a cancellation.
            log.warning("budget.not_given_back", tokens=left, error=type(error).__name__)
        raise


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
