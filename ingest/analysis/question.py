"""Reads a question for the keyword search: its words, quoted phrases and excluded words.

"Heron pump" oil -filter  → words heron, pump, oil; phrase (heron, pump); excluded (filter,)
"a b" OR "c d"            → words a, b, c, d; one of both phrases
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import regex

from ingest.analysis.folding import written_out
from ingest.analysis.function_words import function_words
from ingest.analysis.terms import GRAM, Terms, forms, grams_of, numbers
from ingest.analysis.words import Words, split

_MOST_WORDS: Final = 64
_GRAMMAR: Final = 0.25
"""Weight of a word that a question has for its grammar."""
_CHARACTER: Final = 0.3
"""Weight of a Chinese character beside the pairs that it is in: a word of one character is a part
of other pairs in the text."""
_SENTENCE: Final = 5
"""Characters in a row of more than one word, so that one of them may be a word by itself."""
_OR: Final = "OR"
_LONGEST: Final = 4000
"""Characters that are read."""
_HAN: Final = regex.compile(r"\p{Han}")
_PIECE: Final = regex.compile(
    r'(?P<minus>(?<!\S)-)?(?:"(?P<phrase>[^"]*)(?:"|$)|(?P<word>[^\s"]+))'
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class QuestionWord:
    """A word of a question, with all forms that a document may have."""

    text: str
    terms: Terms
    """Any of these is the word: by its stem in each language, and by its spellings."""
    grams: Terms
    weight: float = 1.0
    """How much it counts, relative to another word as rare."""


Phrase = Sequence[QuestionWord]
"""Words in this order."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class KeywordQuestion:
    words: Sequence[QuestionWord]
    """Each once, without those excluded."""
    pairs: Sequence[tuple[int, int]]
    """Places in `words` of two that follow each other."""
    phrases: Sequence[Sequence[Phrase]]
    """Every hit has one phrase of each group."""
    excluded: Sequence[Phrase]
    """No hit has these."""


def read_question(text: str, languages: Sequence[str]) -> KeywordQuestion:
    """Read any string. `languages`: those of the application's documents."""
    reader = _Reader(languages)
    is_after_phrase = False
    for piece in _PIECE.finditer(text[:_LONGEST]):
        phrase = piece["phrase"]
        if piece["word"] == _OR and is_after_phrase:
            reader.take_next_as_alternative()
            continue
        is_after_phrase = phrase is not None
        words = split(piece["word"] if phrase is None else phrase)
        if piece["minus"]:
            reader.exclude(words)
        else:
            reader.add(words, is_phrase=phrase is not None)
    return reader.result()


class _Reader:
    def __init__(self, languages: Sequence[str]) -> None:
        self._languages: Sequence[str | None] = [None, *languages]
        self._words: dict[str, QuestionWord] = {}
        self._places: dict[str, int] = {}
        self._pairs: dict[tuple[int, int], None] = {}
        self._phrases: list[list[Phrase]] = []
        self._excluded: list[Phrase] = []
        self._last: int | None = None
        self._is_alternative = False
        self._characters: dict[str, None] = {}

    def add(self, words: Words, *, is_phrase: bool) -> None:
        for word in words.in_order:
            place = self._place(word)
            if place is None:
                return
            if self._last is not None and self._last != place:
                self._pairs[self._last, place] = None
            self._last = place
        for word in words.compounds:
            self._place(word)
        if len(words.characters) >= _SENTENCE:
            self._characters |= dict.fromkeys(filter(_HAN.match, words.characters))
        if is_phrase and words.in_order:
            phrase = [self._words[word] for word in words.in_order]
            if self._is_alternative and self._phrases:
                self._phrases[-1].append(phrase)
            else:
                self._phrases.append([phrase])
        self._is_alternative = False

    def take_next_as_alternative(self) -> None:
        """The next phrase, if it is one, may stand in place of the last."""
        self._is_alternative = True
        self._last = None

    def exclude(self, words: Words) -> None:
        self._last = None
        if words.in_order and len(self._excluded) < _MOST_WORDS:
            self._excluded.append([self._word(word) for word in words.in_order])

    def _place(self, word: str) -> int | None:
        """Where the word stands among those of the question; None: there are too many."""
        if word not in self._places:
            if len(self._words) >= _MOST_WORDS:
                return None
            self._places[word] = len(self._words)
            self._words[word] = self._word(word)
        return self._places[word]

    def _word(self, word: str) -> QuestionWord:
        spellings = [word, *filter(None, [written_out(word)])]
        alternatives = {form for language in self._languages for form in forms(spellings, language)}
        return QuestionWord(
            text=word,
            terms=numbers(sorted(alternatives)),
            grams=numbers(dict.fromkeys(grams_of(word, shortest=GRAM))),
        )

    def _weighted(self) -> list[QuestionWord]:
        words = dict(self._words)
        for character in self._characters:
            if character not in words and len(words) < _MOST_WORDS:
                words[character] = replace(self._word(character), weight=_CHARACTER)
        light = function_words(words, self._languages)
        if light.issuperset(self._words):  # "to be or not to be"
            return list(words.values())
        return [
            replace(word, weight=_GRAMMAR * word.weight) if word.text in light else word
            for word in words.values()
        ]

    def result(self) -> KeywordQuestion:
        return KeywordQuestion(
            words=self._weighted(),
            pairs=list(self._pairs),
            phrases=self._phrases,
            excluded=self._excluded,
        )
