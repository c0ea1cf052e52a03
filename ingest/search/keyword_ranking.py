"""Ranks chunks by the words that they share with the question."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from ingest.postgres.database import Connection
from ingest.search.statistics import SearchStatistics
from ingest.search.terms import looser_and_looser, rare_first
from ingest.store.search import keyword_search
from ingest.store.search.keyword_search import Term
from ingest.store.search.scope import STATEMENT_TIMEOUT, Ranked, SearchScope
from ingest.tokens.keywords import keyword_query

# Candidates read per chunk ranked.
_READ_PER_RANKED: Final = 4
_MOST_TERMS: Final = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Matches:
    """Chunks that match a query, best first. Both lists share one scale of scores, 0 and above."""

    with_all: Sequence[Ranked]
    """Chunks with every word and quoted phrase, and no excluded word."""
    with_some: Sequence[Ranked]
    """Chunks with some of the words; searched for only if `with_all` is too short."""

    def in_order(self) -> list[Ranked]:
        """All hits: those with all words first, scored 1 to 2, then the rest, scored below 1."""
        return [
            *(Ranked(id=hit.id, score=1 + _below_one(hit.score)) for hit in self.with_all),
            *(Ranked(id=hit.id, score=_below_one(hit.score)) for hit in self.with_some),
        ]


async def by_words(
    conn: Connection,
    scope: SearchScope,
    query: str,
    statistics: SearchStatistics,
    *,
    limit: int,
    enough: int,
    ranked: int,
) -> Matches:
    """Up to `limit` chunks with all words of the query or, if fewer than `enough`, with some.

    Quotes make a phrase and `-` excludes a word; both apply only to the search for all words. Any
    string is accepted. At most `ranked` matches of each statement are ranked. Needs its own
    transaction.
    """
    wanted = keyword_query(query)
    parsed = await keyword_search.parse(
        conn, words=wanted.words, strict=wanted.strict, statement_timeout=STATEMENT_TIMEOUT
    )
    rated = rare_first(
        lexemes=parsed.lexemes,
        runs=wanted.runs,
        shares=await statistics.word_shares(conn),
        most=_MOST_TERMS,
    )
    terms = [Term(tsquery=term, weight=math.log(1 + 1 / share)) for term, share in rated]

    async def matches(telling: str) -> list[Ranked]:
        return await keyword_search.matches(
            conn, scope, telling, terms=terms, ranked=ranked, limit=limit
        )

    with_all = await matches(parsed.strict) if parsed.strict else []
    if len(with_all) >= enough:
        return Matches(with_all=with_all, with_some=[])
    known = {hit.id for hit in with_all}
    some: dict[UUID, Ranked] = {}
    for telling in looser_and_looser(rated, _READ_PER_RANKED * ranked / parsed.chunks):
        if len(known) + len(some) >= limit:
            break
        some.update({hit.id: hit for hit in await matches(telling) if hit.id not in known})
    best = sorted(some.values(), key=lambda hit: (-hit.score, hit.id))
    return Matches(with_all=with_all, with_some=best[: limit - len(with_all)])


def _below_one(score: float) -> float:
    return score / (1 + score)
