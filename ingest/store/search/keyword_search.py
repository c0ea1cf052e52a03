"""Keyword search over chunks. Never finds deleted sources or other applications' chunks."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, combinations, pairwise
from typing import Any, Final
from uuid import UUID

from psycopg.rows import class_row

from ingest.postgres.database import Connection, load_queries
from ingest.store.search.search_hints import Hints, WordShares
from ingest.store.search.vector_search import TUNED, Ranked, Scope
from ingest.tokens.keywords import keyword_query

_SQL = load_queries("search/keyword_search.sql")
_WORDS = _SQL["words"].replace(b"{tuned}", TUNED)
_MATCHES, _MATCHES_IN_HASTE = (
    _SQL["matches"].replace(b"{candidates}", _SQL[candidates])
    for candidates in ("candidates", "candidates_in_haste")
)

# Candidates read per chunk ranked.
_READ_PER_RANKED: Final = 4
_MOST_TERMS: Final = 64
_COUNTED: Final = 10
# Assumed share of chunks with a given pair of characters; the statistics have single ones only.
_PAIR_SHARE: Final = 0.001
_UNKNOWN_SHARE: Final = 0.001


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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Words:
    strict: str
    """A tsquery that requires every word; empty if no word is indexed."""
    terms: Sequence[tuple[str, float]]
    """Terms of a tsquery, rarest first, each with the share of chunks that contain it."""
    chunks: float
    """Estimated number of stored chunks, over all applications."""


async def by_keyword(
    conn: Connection,
    scope: Scope,
    query: str,
    *,
    limit: int,
    enough: int,
    ranked: int,
    hints: Hints,
) -> Matches:
    """Up to `limit` chunks with all words of the query or, if fewer than `enough`, with some.

    Quotes make a phrase and `-` excludes a word; both apply only to the search for all words. Any
    string is accepted. At most `ranked` matches of each statement are ranked.

    Needs its own transaction, like by_vector.
    """
    words = await _words(conn, query, hints)
    parameters = {
        **scope.parameters(),
        "limit": limit,
        "ranked": ranked,
        "terms": [term for term, _ in words.terms],
        "weights": [math.log(1 + 1 / share) for _, share in words.terms],
    }
    with_all = await _matches(conn, scope, words.strict, parameters) if words.strict else []
    if len(with_all) >= enough:
        return Matches(with_all=with_all, with_some=[])
    known = {hit.id for hit in with_all}
    some: dict[UUID, Ranked] = {}
    for telling in _ever_less(words.terms, _READ_PER_RANKED * ranked / words.chunks):
        if len(known) + len(some) >= limit:
            break
        found = await _matches(conn, scope, telling, parameters)
        some.update({hit.id: hit for hit in found if hit.id not in known})
    best = sorted(some.values(), key=lambda hit: (-hit.score, hit.id))
    return Matches(with_all=with_all, with_some=best[: limit - len(with_all)])


async def _words(conn: Connection, query: str, hints: Hints) -> _Words:
    # A run of characters is split into adjacent pairs, which are about as selective as words.
    wanted = keyword_query(query)
    cursor = await conn.execute(_WORDS, {"words": wanted.words, "strict": wanted.strict})
    [(*_, strict, chunks, lexemes)] = await cursor.fetchall()
    shares = await _shares(conn, hints)
    words = [(_quoted(lexeme), shares.of(lexeme)) for lexeme in sorted(lexemes)]
    pairs = dict.fromkeys(pair for run in wanted.runs for pair in _pairs(run))
    terms = [(pair, _PAIR_SHARE) for pair in pairs] + words
    ordered = sorted(terms, key=lambda term: term[1])[:_MOST_TERMS]
    return _Words(strict=strict, terms=ordered, chunks=chunks)


async def _shares(conn: Connection, hints: Hints) -> WordShares:
    """Word frequencies; a word not in the statistics gets half the share of the rarest in them."""
    known = hints.shares
    if known is None:
        row = await (await conn.execute(_SQL["shares"])).fetchone()
        if row is None:
            return WordShares(common={}, rare=_UNKNOWN_SHARE)  # not analysed yet, or no words
        words, shares = row
        known = WordShares(
            common=dict(zip(words, shares, strict=False)), rare=shares[len(words)] / 2
        )
        hints.read(known)
    return known


async def _matches(
    conn: Connection, scope: Scope, telling: str, parameters: Mapping[str, Any]
) -> list[Ranked]:
    statement = _MATCHES_IN_HASTE if scope.finds_deleted else _MATCHES
    async with conn.cursor(row_factory=class_row(Ranked)) as cur:
        # Not prepared: a generic plan cannot know how many chunks these words match.
        await cur.execute(statement, {**parameters, "telling": telling}, prepare=False)
        return await cur.fetchall()


def _ever_less(terms: Sequence[tuple[str, float]], most: float) -> Iterator[str]:
    """Ever looser conditions: a rare word plus two more words, plus one more, then alone.

    The rare words together occur in a share of at most about `most` of the chunks. So the index
    scans few chunks, however common the other words are, and only matches are read for ranking.
    """
    names = [term for term, _ in terms[:_COUNTED]]
    shares = list(accumulate(share for _, share in terms[:_COUNTED]))
    rare = names[: max(1, sum(total <= most for total in shares))]
    for others in (2, 1, 0):
        if others < len(names):
            yield " | ".join(_with_others(term, names, others) for term in rare)


def _with_others(term: str, names: Sequence[str], count: int) -> str:
    if count == 0:
        return term
    choices = combinations([name for name in names if name != term], count)
    either = " | ".join(f"({' & '.join(choice)})" for choice in choices)
    return f"({term} & ({either}))"


def _below_one(score: float) -> float:
    return score / (1 + score)


def _pairs(run: str) -> list[str]:
    if len(run) == 1:
        return [_quoted(run)]
    return [f"({_quoted(first)} <-> {_quoted(second)})" for first, second in pairwise(run)]


def _quoted(lexeme: str) -> str:
    escaped = lexeme.replace("\\", "\\\\").replace("'", "''")
    return f"'{escaped}'"
