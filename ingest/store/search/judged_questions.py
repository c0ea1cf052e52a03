"""The questions of sets of judgements, and what answers them."""

from datetime import datetime
from typing import Any, Final, NamedTuple
from uuid import UUID

from psycopg.rows import class_row, kwargs_row
from pydantic import Field

from ingest.postgres.database import Connection, load_queries
from ingest.store.view import UtcTime, View

_SQL: Final = load_queries("search/judged_questions.sql")

MOST_ANSWERS: Final = 200
"""Answers of a question that an evaluation looks for."""


class QuestionView(View):
    question_hash: bytes = Field(exclude=True)
    query: str
    filter: dict[str, Any] | None
    judgement_count: int
    relevant_count: int
    """Judgements with a grade above 0."""
    judged_at: UtcTime


class Answer(NamedTuple):
    """A passage that answers a question."""

    question_count: int
    """Questions of the set with an answer."""
    question_hash: bytes
    query: str
    filter: dict[str, Any] | None
    uri: str
    quote: str
    grade: int


async def questions(
    conn: Connection,
    *,
    application_id: UUID,
    set_name: str,
    limit: int,
    before: tuple[datetime, bytes] | None,
) -> list[QuestionView]:
    """The questions of a set, those judged last first."""
    time, hash = before or (None, None)
    async with conn.cursor(row_factory=class_row(QuestionView)) as cur:
        await cur.execute(
            _SQL["questions"],
            {
                "application_id": application_id,
                "set_name": set_name,
                "limit": limit,
                "before_time": time,
                "before_hash": hash,
            },
        )
        return await cur.fetchall()


async def answers(
    conn: Connection, *, application_id: UUID, set_name: str, limit: int
) -> list[Answer]:
    """Up to `limit` questions of a set, which stand for all, with their best answers."""
    async with conn.cursor(row_factory=kwargs_row(Answer)) as cur:
        await cur.execute(
            _SQL["answerable"],
            {
                "application_id": application_id,
                "set_name": set_name,
                "limit": limit,
                "most_answers": MOST_ANSWERS,
            },
        )
        return await cur.fetchall()
