"""Where a text answers a query: the words they share, the best sentence, the best section.

It explains hits and compares them; it does not rank. So words are compared by their beginnings,
in any language, instead of by the stems of the index.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from ingest.tokens.keywords import keyword_text

_WORD: Final = re.compile(r"\w+")
_SENTENCE_END: Final = re.compile(r"(?<=[.!?。！？])\s+|\n\s*\n")  # noqa: RUF001
_STEM: Final = 5


def words_of(text: str) -> Iterator[str]:
    """The words in lower case; Chinese, Japanese and Korean characters one by one."""
    return (found[0] for found in _WORD.finditer((keyword_text(text) or text).casefold()))


def key(word: str) -> str:
    """Equal for most forms of a word: `policy` and `policies`, `oil` and `oils`."""
    if not word.isalpha():
        return word
    return word[:_STEM] if len(word) > _STEM else word[:-1] if _is_plural(word) else word


def _is_plural(word: str) -> bool:
    return len(word) > 3 and word.endswith("s") and not word.endswith("ss")


class MatchedText:
    """Compares texts with one query."""

    def __init__(self, query: str) -> None:
        self._terms: dict[str, str] = {}
        for word in words_of(query):
            self._terms.setdefault(key(word), word)

    def terms(self, text: str) -> list[str]:
        """Words of the query that the text contains in some form, in the order of the query."""
        found = self._matched(text)
        return [word for term, word in self._terms.items() if term in found]

    def best_sentence(self, text: str) -> str:
        """The sentence with most words of the query, spaces normalised; empty if none has any."""
        best, most = "", 0
        for sentence in _SENTENCE_END.split(text):
            matched = len(self._matched(sentence))
            if matched > most:
                best, most = sentence, matched
        return " ".join(best.split())

    def best_section(self, texts: Sequence[str], headings: Sequence[Sequence[str]]) -> int:
        """The place of the text that shares most with the query, counting its headings; the first
        of equals. A word counts less, the more of the texts share it.
        """
        matched = [
            self._matched(f"{text} {' '.join(above)}")
            for text, above in zip(texts, headings, strict=True)
        ]
        shared = Counter(term for terms in matched for term in terms)
        weights = [sum(1 / shared[term] for term in terms) for terms in matched]
        return weights.index(max(weights))

    def _matched(self, text: str) -> set[str]:
        return {key(word) for word in words_of(text)} & self._terms.keys()
