"""Which chunks are ranked: conditions for the keyword index, the most promising first.

Every chunk with a rare word is ranked. Common words would bring thousands of chunks, so first those
that have several of them are ranked, the heaviest words together first.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Final

import numpy as np

from ingest.analysis.question import KeywordQuestion, QuestionWord
from ingest.analysis.terms import Terms
from ingest.search.bm25 import Statistics, word_weights
from ingest.search.field_rows import Flags
from ingest.store.search.keyword_search import MOST_GROUPS, GramCondition, WordCondition

_RARE: Final = 0.5
"""Of the chunks that are ranked, how many may come from single rare words."""
_USUAL: Final = 2
"""So many words are looked for together, even if no chunk of the sample has them."""
_GRAMS_OF_CONDITION: Final = 3
"""Six letters in a row; five of short words, of which an inflection leaves less."""
_SHORT: Final = 5
_CONDITIONS_OF_GRAMS: Final = 4
"""For each word."""
_MOST_WORDS_BY_GRAMS: Final = 8


def conditions(
    question: KeywordQuestion,
    statistics: Statistics,
    sampled: Flags,
    *,
    most: int,
    with_grams: bool,
    among_few: bool = False,
) -> Iterator[WordCondition | GramCondition]:
    """Conditions for `most` chunks; none for a question without words.

    `sampled`: which chunks of a sample have each word, of shape (words, chunks). `among_few`:
    whether a filter leaves few chunks, all of which are compared with each condition.
    """
    weights = word_weights(question, statistics)
    heaviest_first = sorted(range(len(weights)), key=lambda number: -weights[number])
    if question.phrases:
        # Every hit has them, so the other words only count in the ranking.
        places = {question.words[number].text: place for place, number in enumerate(heaviest_first)}
        for phrase in question.phrases[0]:
            heavy = sorted(phrase, key=lambda word: places[word.text])[:MOST_GROUPS]
            in_order = [word.terms for word in phrase] if len(phrase) > 1 else []
            yield WordCondition(groups=[word.terms for word in heavy], phrase=in_order)
        return
    if among_few:
        yield from _among_few([question.words[number].terms for number in heaviest_first])
    else:
        yield from _of_words(question, statistics, heaviest_first, weights, sampled, most)
    if with_grams:
        # Not of words that weigh little, or have a single gram: too many chunks have that.
        words = [question.words[number] for number in heaviest_first]
        by_grams = [word for word in words if len(word.grams) and word.weight == 1]
        for word in by_grams[:_MOST_WORDS_BY_GRAMS]:
            yield from _of_grams(word)


def _of_words(
    question: KeywordQuestion,
    statistics: Statistics,
    heaviest_first: Sequence[int],
    weights: Sequence[float],
    sampled: Flags,
    most: int,
) -> Iterator[WordCondition]:
    """Each rare word, and common words together."""
    expected, common = 0.0, []
    for number in heaviest_first:
        expected += statistics.found[number]
        if expected <= _RARE * most:
            yield WordCondition(groups=[question.words[number].terms])
        else:
            common.append(number)
    for numbers in _together(common, weights, sampled):
        yield WordCondition(groups=[question.words[number].terms for number in numbers])


def _among_few(heaviest_first: Sequence[Terms]) -> Iterator[WordCondition]:
    """The heaviest word with another one, then any word."""
    if not heaviest_first:
        return
    first, *others = heaviest_first
    if others:
        yield WordCondition(groups=[first, np.concatenate(others)])
    yield WordCondition(groups=[np.concatenate(heaviest_first)])


def _together(
    common: Sequence[int], weights: Sequence[float], sampled: Flags
) -> Iterator[Sequence[int]]:
    """Sets of the heaviest words, the heaviest set first; then the other words alone."""
    heavy = common[:MOST_GROUPS]
    sets = [numbers for count in range(1, len(heavy) + 1) for numbers in combinations(heavy, count)]
    for numbers in sorted(sets, key=lambda numbers: -sum(weights[one] for one in numbers)):
        if len(numbers) <= _USUAL or sampled[list(numbers)].all(axis=0).any():
            yield numbers
    yield from ([number] for number in common[MOST_GROUPS:])


def _of_grams(word: QuestionWord) -> Iterator[GramCondition]:
    """Each has neighbouring grams of the word; together they cover it."""
    count = _GRAMS_OF_CONDITION if len(word.grams) > _SHORT else _GRAMS_OF_CONDITION - 1
    last = max(0, len(word.grams) - count)
    starts = {
        round(last * step / (_CONDITIONS_OF_GRAMS - 1)) for step in range(_CONDITIONS_OF_GRAMS)
    }
    for start in sorted(starts):
        yield GramCondition(grams=word.grams[start : start + count])
