"""Prepares text for the keyword index in languages without spaces between words.

Postgres reads a run of Chinese, Japanese or Korean characters as one word, so `大学` would not be
found in `東京大学`. We index each such character; a query searches for them as a phrase. Chunks
and queries must be changed in the same way, so both use this module.
"""

import re
import unicodedata
from dataclasses import dataclass
from typing import Final

# Han with its extensions and marks, kana (also half width), bopomofo, hangul syllables and letters.
_CJK: Final = (
    "\u1100-\u11ff\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3038-\u303b\u3041-\u3096"
    "\u3099-\u309a\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3105-\u318e\u31a0-\u31bf\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97c\uac00-\ud7fb\uf900-\ufaff\uff66-\uffdc"
    "\U0001b000-\U0001b16f\U00020000-\U0003ffff"
)
_CHARACTER: Final = re.compile(f"[{_CJK}]")
_RUN: Final = re.compile(f"[{_CJK}]+")
_UNSTORABLE: Final = re.compile("[\0\ud800-\udfff]")

# Postgres refuses a query with a word above 2,046 bytes.
_MOST_TERMS: Final = 64
_LONG_WORD: Final = re.compile(r"\S{256,}")


@dataclass(frozen=True, slots=True, kw_only=True)
class KeywordQuery:
    """A query in the form that the keyword index expects."""

    strict: str
    """For websearch_to_tsquery: every word, phrases in quotes, `-` excludes."""
    words: str
    """The query without `runs`: plain text for to_tsvector."""
    runs: tuple[str, ...]
    """Runs of Chinese, Japanese or Korean characters."""


def keyword_text(text: str) -> str | None:
    """The text with spaces around each such character; None if there are none."""
    if text.isascii() or _CHARACTER.search(text) is None:
        return None
    return _spaced(text)


def keyword_query(query: str) -> KeywordQuery:
    """Change a query in the same way as the chunks. Accepts any string."""
    text = unicodedata.normalize("NFC", _UNSTORABLE.sub(" ", query))
    text = _bounded(_LONG_WORD.sub(_keep_cjk, text))
    # Odd parts are inside quotes: quotes around a run would end that phrase.
    parts = text.split('"')
    strict = '"'.join(
        _spaced(part) if n % 2 else _RUN.sub(_phrase, part) for n, part in enumerate(parts)
    )
    return KeywordQuery(
        strict=strict, words=_RUN.sub(" ", text), runs=tuple(dict.fromkeys(_RUN.findall(text)))
    )


def _bounded(text: str) -> str:
    """The first words and characters, each word once: ranking takes time for each term."""
    kept: list[str] = []
    terms = 0
    for word in text.split():
        characters = sum(map(len, _RUN.findall(word)))
        if terms + max(1, characters) > _MOST_TERMS:
            kept.append(word[: max(0, _MOST_TERMS - terms)] if characters else "")
            break
        # A phrase may contain a word twice.
        if '"' in text or word not in kept:
            kept.append(word)
            terms += max(1, characters)
    return " ".join(kept)


def _spaced(text: str) -> str:
    return _CHARACTER.sub(r" \g<0> ", text)


def _phrase(run: re.Match[str]) -> str:
    return f' "{" ".join(run[0])}" '


def _keep_cjk(word: re.Match[str]) -> str:
    return " ".join(_RUN.findall(word[0]))
