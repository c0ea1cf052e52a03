"""Where a text answers a query: the words they share, the best sentence, the best section.

It explains hits and compares them; it does not rank. So words are compared by their beginnings,
in any language, instead of by the stems of the index.
"""

import re
from collections import Counter
from collections.abc import Sequence
from itertools import islice
from math import fsum
from typing import Final

# Chinese, Japanese and Korean characters, which have no spaces between words.
_CJK: Final = (
    "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uff66-\uff9f\U00020000-\U0003ffff"
)
_ONE_CJK: Final = re.compile(f"[{_CJK}]")
_WORD: Final = re.compile(rf"[{_CJK}]|[^\W{_CJK}]+")
# Also a blank line, and a line of dashes, as above the footer of a mail.
_SENTENCE_END: Final = re.compile(r"(?<=[.!?。！？])\s+|\n\s*\n|\n[-_=*]{2,}\s*\n")  # noqa: RUF001
_STEM: Final = 5
_SHORT: Final = 3
_MOST_TERMS: Final = 64


def words_of(text: str) -> list[str]:
    """The words in lower case; Chinese, Japanese and Korean characters one by one."""
    return _WORD.findall(text.casefold())


def sentences(text: str) -> list[str]:
    return _SENTENCE_END.split(text)


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
        words = {key(word): word for word in reversed(words_of(query))}
        self._terms = dict(islice(reversed(words.items()), _MOST_TERMS))

    def terms(self, text: str) -> list[str]:
        """Words of the query that the text contains in some form, in the order of the query."""
        found = self._matched(text)
        return [word for term, word in self._terms.items() if term in found]

    def best_sentence(self, text: str) -> str:
        """The sentence that answers the query best, spaces normalised; empty if none has a word of
        it."""
        found = sentences(text)
        best = self.best_of(found)
        return "" if best is None else " ".join(found[best].split())

    def best_section(self, texts: Sequence[str], headings: Sequence[Sequence[str]]) -> int:
        """The place of the section that answers the query best, counting its headings."""
        pairs = zip(texts, headings, strict=True)
        return self.best_of([f"{text} {' '.join(above)}" for text, above in pairs]) or 0

    def best_of(self, texts: Sequence[str]) -> int | None:
        """The place of the text with most words of the query, the first of equals. A word counts
        less, the more of the texts have it, and if it is short: most such words are in any text.
        None: no text has any.
        """
        matched = [self._matched(text) for text in texts]
        shared = Counter(term for terms in matched for term in terms)
        # Exact sums: the order of a set, which is another in each process, must not break ties.
        weights = [fsum(_weight(term) / shared[term] for term in terms) for terms in matched]
        best = max(weights, default=0)
        return weights.index(best) if best else None

    def _matched(self, text: str) -> set[str]:
        folded = text.casefold()
        return {term for term in self._terms if _has(folded, term)}


def _weight(term: str) -> float:
    return 0.25 if term.isalpha() and len(term) <= _SHORT and not _ONE_CJK.fullmatch(term) else 1.0


def _has(folded: str, term: str) -> bool:
    """Whether a word with this key is in the text. Searches for the key, as most texts lack it:
    ten times faster than to split them into words."""
    start = folded.find(term)
    while start >= 0:
        end = start + len(term)
        if _ONE_CJK.fullmatch(term):
            return True
        if start == 0 or not _is_letter(folded[start - 1]):
            while end < len(folded) and _is_letter(folded[end]):
                end += 1
            if key(folded[start:end]) == term:
                return True
        start = folded.find(term, end)
    return False


def _is_letter(character: str) -> bool:
    """As `\\w`."""
    return character.isalnum() or character == "_"
