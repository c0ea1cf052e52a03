"""The terms of texts, found by token: most tokens of a text have been seen before."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import chain, islice
from typing import Final

import numpy as np

from ingest.analysis.folding import written_out
from ingest.analysis.terms import Terms, forms, grams, has_grams, number
from ingest.analysis.words import LONGEST, is_plain, tokens_of, words_of

_MOST_KNOWN: Final = 300_000
"""Characters of all languages' tokens whose terms are kept, in up to 70 MB."""


_Spellings = tuple[list[int], list[int], list[int]]
"""Of compounds, of words with umlauts written out, and of characters."""


@dataclass(frozen=True, slots=True)
class TextTerms:
    """The terms of a text."""

    in_order: Terms
    """Of its words, in order."""
    spellings: Terms
    """Of other spellings (words.py)."""
    grams: Terms


@dataclass(slots=True)
class _Known:
    """The terms of tokens that texts of one language have had."""

    language: str | None
    _in_order: dict[str, tuple[int, ...]] = field(default_factory=dict)
    """All tokens. The terms of one in the others are added before, as threads share them."""
    _spellings: dict[str, _Spellings] = field(default_factory=dict)
    """Of tokens that have any."""
    _grams: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Of all tokens, in a language that has grams."""
    _words: dict[str, int] = field(default_factory=dict)
    """Lower-case words, of which tokens consist."""
    _gram_numbers: dict[str, int] = field(default_factory=dict)
    size: int = 0
    """Characters of all tokens."""

    def terms(self, tokens: Sequence[str]) -> TextTerms:
        try:
            in_order = list(chain.from_iterable(map(self._in_order.__getitem__, tokens)))
        except KeyError:
            self._learn(set(tokens).difference(self._in_order))  # not minus: it reads all known
            in_order = list(chain.from_iterable(map(self._in_order.__getitem__, tokens)))
        spelled = map(self._spellings.__getitem__, filter(self._spellings.__contains__, tokens))
        return TextTerms(
            in_order=_array(in_order),
            spellings=_array([one for kind in zip(*spelled, strict=True) for one in chain(*kind)]),
            grams=self._sorted_grams(tokens),
        )

    def _sorted_grams(self, tokens: Sequence[str]) -> Terms:
        if not has_grams(self.language):
            return _array([])
        found = set(chain.from_iterable(map(self._grams.__getitem__, set(tokens))))
        return _array(list(map(self._gram_numbers.__getitem__, sorted(found))))

    def _learn(self, tokens: Collection[str]) -> None:
        """Learn many at a time: one call of a stemmer for all."""
        plain = list(filter(is_plain, tokens))
        words = [token.lower()[:LONGEST] for token in plain]
        if has_grams(self.language):
            for token, word in zip(plain, words, strict=True):
                self._grams[token] = self._grams_of([word])
        self._in_order.update(zip(plain, zip(self._numbers(words), strict=True), strict=True))
        others = {token: words_of(token) for token in tokens if token not in self._in_order}
        in_order = self._numbers([word for found in others.values() for word in found.in_order])
        compounds = self._new([word for found in others.values() for word in found.compounds])
        for token, found in others.items():
            spellings = (
                list(islice(compounds, len(found.compounds))),
                [] if token.isascii() else list(self._new(_written_out(found.in_order))),
                list(map(number, found.characters)),
            )
            if any(spellings):
                self._spellings[token] = spellings
            if has_grams(self.language):
                self._grams[token] = self._grams_of(found.in_order)
            self._in_order[token] = tuple(islice(in_order, len(found.in_order)))
        self.size += sum(map(len, tokens))

    def _grams_of(self, words: Sequence[str]) -> tuple[str, ...]:
        found = tuple(grams(words, self.language))
        self._gram_numbers.update((gram, number(gram)) for gram in found)
        return found

    def _numbers(self, words: Sequence[str]) -> Iterator[int]:
        """Of words; other tokens have many of them, too."""
        new = list({*words}.difference(self._words))
        self._words.update(zip(new, self._new(new), strict=True))
        return map(self._words.__getitem__, words)

    def _new(self, words: list[str]) -> Iterator[int]:
        return map(number, forms(words, self.language))


def terms_of(text: str, language: str | None) -> TextTerms:
    """The terms of a text in a language; any string is accepted."""
    known = _languages()
    if sum(one.size for one in list(known.values())) > _MOST_KNOWN:
        _languages.cache_clear()  # other threads may use the old ones
        known = _languages()
    return known.setdefault(language, _Known(language)).terms(tokens_of(text))


@cache
def _languages() -> dict[str | None, _Known]:
    return {}


def _written_out(words: Sequence[str]) -> list[str]:
    return list(filter(None, map(written_out, words)))


def _array(numbers: list[int]) -> Terms:
    return np.array(numbers, np.uint32).view(np.int32)
