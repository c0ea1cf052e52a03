"""What a keyword search asks the index for: terms of the query, and ever looser conditions."""

from collections.abc import Iterator, Sequence
from itertools import accumulate, combinations, pairwise
from typing import Final, NamedTuple

from ingest.store.search.keyword_search import WordShares

_COUNTED: Final = 10
# Assumed share of chunks with a given pair of characters; the statistics have single ones only.
_PAIR_SHARE: Final = 0.001


class RatedTerm(NamedTuple):
    tsquery: str
    share: float
    """Estimated share of chunks that contain it."""


def rare_first(
    *, lexemes: Sequence[str], runs: Sequence[str], shares: WordShares, most: int
) -> list[RatedTerm]:
    """Up to `most` terms of a query.

    A run of Chinese, Japanese or Korean characters is split into adjacent pairs, which are about as
    selective as words.
    """
    words = [RatedTerm(_quoted(lexeme), shares.of(lexeme)) for lexeme in sorted(lexemes)]
    pairs = dict.fromkeys(pair for run in runs for pair in _pairs(run))
    terms = [RatedTerm(pair, _PAIR_SHARE) for pair in pairs] + words
    return sorted(terms, key=lambda term: term.share)[:most]


def looser_and_looser(terms: Sequence[RatedTerm], most: float) -> Iterator[str]:
    """Ever looser conditions: a rare word plus two more words, plus one more, then alone.

    The rare words together occur in a share of at most about `most` of the chunks. So the index
    scans few chunks, however common the other words are, and only matches are read for ranking.
    """
    names = [term.tsquery for term in terms[:_COUNTED]]
    shares = list(accumulate(term.share for term in terms[:_COUNTED]))
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


def _pairs(run: str) -> list[str]:
    if len(run) == 1:
        return [_quoted(run)]
    return [f"({_quoted(first)} <-> {_quoted(second)})" for first, second in pairwise(run)]


def _quoted(lexeme: str) -> str:
    escaped = lexeme.replace("\\", "\\\\").replace("'", "''")
    return f"'{escaped}'"
