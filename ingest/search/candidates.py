"""Which chunks are ranked: conditions for the keyword index, from the rare words of a question.

Every chunk with a rare word is ranked. Common words would bring thousands of chunks, so they only
count in the ranking, or select chunks together with another word.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Final

from ingest.analysis.question import KeywordQuestion, QuestionWord
from ingest.search.bm25 import Statistics
from ingest.store.search.keyword_search import GramCondition, WordCondition

_GROUPS: Final = 3
_GRAMS_OF_CONDITION: Final = 3
"""Six letters in a row; five of short words, of which an inflection leaves less."""
_SHORT: Final = 5
_CONDITIONS_OF_GRAMS: Final = 4
"""For each word."""
_MOST_WORDS_BY_GRAMS: Final = 8


def conditions(
    question: KeywordQuestion, statistics: Statistics, *, most: int, with_grams: bool
) -> Iterator[WordCondition | GramCondition]:
    """Conditions that about `most` chunks meet together; none for a question without words."""
    rare_first = sorted(
        zip(statistics.found, question.words, strict=True), key=lambda item: item[0]
    )
    if question.phrases:
        # Every hit has them, so the other words only count in the ranking.
        chunks = {word.text: found for found, word in rare_first}
        for phrase in question.phrases[0]:
            rare = sorted(phrase, key=lambda word: chunks[word.text])[:_GROUPS]
            in_order = [word.terms for word in phrase] if len(phrase) > 1 else []
            yield WordCondition(groups=[word.terms for word in rare], phrase=in_order)
        return
    yield from _of_words(rare_first, most)
    if with_grams:
        # Not of words that weigh little, or have a single gram: too many chunks have that.
        by_grams = [word for _, word in rare_first if len(word.grams) and word.weight == 1]
        for word in by_grams[:_MOST_WORDS_BY_GRAMS]:
            yield from _of_grams(word)


def _of_words(
    rare_first: Sequence[tuple[float, QuestionWord]], most: int
) -> Iterator[WordCondition]:
    expected, common = 0.0, []
    for number, (chunks, word) in enumerate(rare_first):
        expected += chunks
        if number == 0 or expected <= most:
            yield WordCondition(groups=[word.terms])
        else:
            common.append(word)
    if not common:
        return
    if rare_first[0][0] > most:
        # No word is rare: the first condition alone would rank any `most` chunks with it.
        common.insert(0, rare_first[0][1])
    for count in (3, 2):
        for words in combinations(common[:_GROUPS], count):
            yield WordCondition(groups=[word.terms for word in words])


def _of_grams(word: QuestionWord) -> Iterator[GramCondition]:
    """Each has neighbouring grams of the word; together they cover it."""
    count = _GRAMS_OF_CONDITION if len(word.grams) > _SHORT else _GRAMS_OF_CONDITION - 1
    last = max(0, len(word.grams) - count)
    starts = {
        round(last * step / (_CONDITIONS_OF_GRAMS - 1)) for step in range(_CONDITIONS_OF_GRAMS)
    }
    for start in sorted(starts):
        yield GramCondition(grams=word.grams[start : start + count])
