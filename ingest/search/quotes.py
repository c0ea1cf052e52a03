"""The words of a chunk that a judgement is about.

A sentence instead of the chunk: it is still within one chunk when the text is chunked to another
size, and it finds its place when the document is processed again.
"""

import re
from typing import Final

from ingest.search.matched_text import MatchedText, sentences, words_of

_LONGEST: Final = 200
"""Characters; longer sentences are cut between words."""
_FEWEST: Final = 5
"""Words of a sentence."""
_WORDS: Final = re.compile(r"[^\W_]+")


def best_quote(text: str, query: str) -> str:
    """The sentence that answers the query best; of a text without any word of it, the longest.

    A heading or a name is none, if there are others: many chunks may have it.
    """
    known = [" ".join(one.split()) for one in sentences(text)]
    known = [one for one in known if len(words_of(one)) >= _FEWEST] or known
    place = MatchedText(query).best_of(known)
    best = max(known, key=len) if place is None else known[place]
    ends = [word.end() for word in _WORDS.finditer(best) if word.end() <= _LONGEST]
    return best if len(best) <= _LONGEST or not ends else best[: ends[-1]]


def has_quote(text: str, quote: str) -> bool:
    """Whether the words of the quote are in the text one after the other, whatever the markup."""
    return f" {plain_words(quote)} " in f" {plain_words(text)} "


def plain_words(text: str) -> str:
    return " ".join(_WORDS.findall(text.casefold()))
