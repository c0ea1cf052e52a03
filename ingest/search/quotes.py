"""The words of a chunk that a judgement is about.

A sentence instead of the chunk: it is still within one chunk when the text is chunked to another
size, and it finds its place when the document is processed again.
"""

import re
from typing import Final

from ingest.search.matched_text import MatchedText, sentences

_LONGEST: Final = 200
"""Characters; longer sentences are cut between words."""
_WORDS: Final = re.compile(r"\w+")


def best_quote(text: str, query: str) -> str:
    """The sentence that answers the query best; of a text without any word of it, the longest."""
    best = MatchedText(query).best_sentence(text)
    if not best:
        best = max((" ".join(one.split()) for one in sentences(text)), key=len)
    ends = [word.end() for word in _WORDS.finditer(best) if word.end() <= _LONGEST]
    return best if len(best) <= _LONGEST or not ends else best[: ends[-1]]


def has_quote(text: str, quote: str) -> bool:
    """Whether the words of the quote are in the text one after the other, whatever the markup."""
    return f" {plain_words(quote)} " in f" {plain_words(text)} "


def plain_words(text: str) -> str:
    return " ".join(_WORDS.findall(text.casefold()))
