"""Statements of the keyword search. None finds deleted sources or other applications' chunks.

All need the transaction that `parse` configured.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from psycopg.rows import class_row

from ingest.postgres.database import Connection, load_queries
from ingest.store.search.scope import Ranked, SearchScope

_SQL = load_queries("search/keyword_search.sql")


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedQuery:
    strict: str
    """A tsquery that requires every word; empty if no word is indexed."""
    lexemes: Sequence[str]
    chunks: float
    """Estimated number of stored chunks, over all applications."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WordShares:
    """The share of chunks that contain a word, from the planner's statistics."""

    common: Mapping[str, float]
    rare: float
    """The share assumed for a word that is not in `common`."""

    def of(self, word: str) -> float:
        return self.common.get(word, self.rare)


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    tsquery: str
    weight: float
    """In the ranking; higher for rare terms."""


async def parse(
    conn: Connection, *, words: str, strict: str, statement_timeout: timedelta
) -> ParsedQuery:
    """Configure the transaction and parse a query (ingest/tokens/keywords.py).

    From then on, a statement that takes longer raises psycopg QueryCanceled.
    """
    timeout_ms = str(round(statement_timeout.total_seconds() * 1000))
    cursor = await conn.execute(
        _SQL["parse"], {"words": words, "strict": strict, "timeout_ms": timeout_ms}
    )
    [(*_, tsquery, lexemes, chunks)] = await cursor.fetchall()
    return ParsedQuery(strict=tsquery, lexemes=lexemes, chunks=chunks)


async def word_shares(conn: Connection) -> WordShares | None:
    """Word frequencies; a word not in the statistics gets half the share of the rarest in them.

    None if the chunks were not analysed yet or have no words.
    """
    row = await (await conn.execute(_SQL["shares"])).fetchone()
    if row is None:
        return None
    words, shares = row
    return WordShares(common=dict(zip(words, shares, strict=False)), rare=shares[len(words)] / 2)


async def collect_statistics(conn: Connection) -> None:
    """Collect word frequencies if `word_shares` would miss newer ones. Outside a transaction, as
    the owner of the tables."""
    [(are_old,)] = await (await conn.execute(_SQL["statistics_are_old"])).fetchall()
    if are_old:
        await conn.execute(_SQL["collect_statistics"])


async def matches(
    conn: Connection,
    scope: SearchScope,
    telling: str,
    *,
    terms: Sequence[Term],
    ranked: int,
    limit: int,
) -> list[Ranked]:
    """The best of up to `ranked` chunks that match the tsquery `telling`, ranked by `terms`."""
    statement, parameters = scope.fill_in(
        _SQL["matches_in_haste" if scope.finds_deleted else "matches"]
    )
    async with conn.cursor(row_factory=class_row(Ranked)) as cur:
        # Not prepared, since a generic plan cannot know how many chunks these words match.
        await cur.execute(
            statement,
            {
                **parameters,
                "telling": telling,
                "terms": [term.tsquery for term in terms],
                "weights": [term.weight for term in terms],
                "ranked": ranked,
                "limit": limit,
            },
            prepare=False,
        )
        return await cur.fetchall()
