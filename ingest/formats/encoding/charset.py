"""Detects legacy encodings: charset-normalizer proposes, familiarity decides.

charset-normalizer rules out encodings that decode to a mess. For short texts (a list of names, a
small CSV) several remain: `你好` in GB 18030 also decodes to two Hangul syllables. So these are
compared by how many of their characters are common in the languages written in that encoding.
charset-normalizer alone misses many of the texts in tests/unit/formats/text/test_decode.py.
"""

import codecs
import re
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from functools import cache

import charset_normalizer

from ingest.analysis.language import detect
from ingest.formats.encoding.charset_letters import (
    ALPHABETS,
    CJK_PUNCTUATION,
    DOS_OF_LANGUAGE,
    FREQUENT,
    LANGUAGES,
    LATIN,
    LETTERS,
    PUNCTUATION,
    ROWS,
)

_OF_THE_LANGUAGE = 0.4  # bonus
_READ = 4096  # bytes that tell the language
_TELLS_LANGUAGE = 16  # ASCII letters
_MOSTLY_ASCII = 2  # ASCII letters for each other byte
_OF_SEVERAL_LANGUAGES = 0.1  # penalty
_CANDIDATES = (*ROWS, *LETTERS)
NOT_LATIN = frozenset(_CANDIDATES) - LATIN
"""Encodings of non-Latin scripts."""
_HIGH = bytes(range(0x80, 0x100))
_EURO = re.compile(rb"(?<=\d) ?\x80(?![\w\x80-\xff])|(?<![\w\x80-\xff])\x80(?= ?\d)")
"""A euro sign beside an amount (cp1252); in other encodings 0x80 would be a lone letter."""
_MAC_CYRILLIC = re.compile(rb"[\x80-\x9f\xdf]")
"""Capitals and the last letter: without them, letters are those of cp1251, its capitals quotes."""
_ISO_GREEK = re.compile(rb"(?<![\xc0-\xfe])\xb6[\xc1-\xfe]")
"""An accented capital alpha, the only letter that ISO-8859-7 writes otherwise than cp1253."""
_VIETNAMESE = (re.compile(rb"[\xcc\xd2\xde\xec\xf2]"), re.compile(rb"[\xd0\xd5\xf0\xf5\xfd]"))
"""Its tones, and its own letters: without both, cp1258 is cp1252."""
_OTHER_SCRIPT = re.compile(rb"[\x80-\xff]{4}")  # a word of it in a text of ASCII letters
_VIETNAMESE_DENSITY = 12  # bytes for each one beyond ASCII: in its own texts, 3 or 4
_SHORT = 512  # bytes
_DOUBTFUL = 0.5  # score
_VALID_BESIDE_INVALID = 25  # characters of two bytes beside each invalid byte
_RULED_OUT = 0.3  # penalty for encodings that charset-normalizer ruled out
_CAPITAL_INSIDE = re.compile(
    r"(?<=[^\W\d_])[À-ÖØ-ÞĄĆĘŁŃŚŠŹŻŽČĎĚŇŘŤŮŐŰŒ](?=[a-zà-öø-ÿąćęłńśšźżžčďěňřťůőűœ])"
)
"""In a word, a capital is another letter of another encoding."""
# Weight of a capital: the wrong encoding may swap case (KOI8-R read as cp1251), and must score less
# than the right one.
_CAPITAL = 0.7


@dataclass(frozen=True, slots=True)
class Guess:
    """A Python codec name, and a confidence from 0 to 1."""

    name: str
    confidence: float


def guess(sample: bytes) -> Guess | None:
    """The most likely legacy encoding of bytes that are not UTF; None if none fits.

    Linear, but with a large constant: pass about 16 kB, not a whole file.
    """
    if is_ebcdic(sample):
        return Guess("cp500", 0.8)
    sample, euros = _EURO.subn(b"", sample)
    if euros and sample.isascii():
        return Guess("cp1252", 0.8)
    alphabet = _alphabet(sample)
    scored = ([] if alphabet else _double_byte(sample)) or _accepted(sample)
    ruled_out = {"cp1253" if _ISO_GREEK.search(sample) else "iso8859_7"}
    is_dense = _VIETNAMESE_DENSITY * _beyond_ascii(sample) > len(sample)
    if not is_dense or not all(letters.search(sample) for letters in _VIETNAMESE):
        ruled_out.add("cp1258")
    ruled_out |= {name for name, letters in DOS_OF_LANGUAGE.items() if alphabet not in letters}
    if not _MAC_CYRILLIC.search(sample):
        ruled_out.add("mac_cyrillic")
    scored = [row for row in scored if row[2] not in ruled_out]
    if alphabet:
        scored = _with_language(scored, sample, alphabet)
    if not scored:
        return None
    scored.sort(key=lambda row: _CANDIDATES.index(row[2]))
    _, familiar, name = max(scored, key=lambda row: row[0])
    return Guess(name, round(familiar * min(1.0, 0.4 + _beyond_ascii(sample) / 50), 2))


def _alphabet(sample: bytes) -> str | None:
    """Letters beyond ASCII of the language that the ASCII letters tell, if these are most."""
    sample = sample[:_READ]
    ascii_text = sample.decode("ascii", "ignore")
    letters = sum(map(str.isalpha, ascii_text))
    if letters < max(_TELLS_LANGUAGE, _MOSTLY_ASCII * _beyond_ascii(sample)):
        return None
    if _OTHER_SCRIPT.search(sample):
        return None
    return ALPHABETS.get(detect(ascii_text) or "")


def _with_language(
    scored: list[tuple[float, float, str]], sample: bytes, alphabet: str
) -> list[tuple[float, float, str]]:
    """The same, with more for Latin encodings in which the letters are those of the alphabet."""
    best = max((row[0] for row in scored), default=0.0)
    return [
        (score + _OF_THE_LANGUAGE * _share(_counts(sample, name), alphabet), familiar, name)
        if name in LATIN and score > best - _OF_THE_LANGUAGE
        else (score, familiar, name)
        for score, familiar, name in scored
    ]


def _counts(sample: bytes, name: str) -> Counter[str]:
    return Counter(sample[:_READ].decode(name, "ignore"))


def is_ebcdic(sample: bytes) -> bool:
    """Whether it is EBCDIC, which writes the space as 0x40 and letters and digits above 0x80."""
    spaces = sample.count(0x40)
    if spaces * 25 < len(sample) or sample.count(0x20) * 10 >= spaces:
        return False
    high = _beyond_ascii(sample)
    return high > spaces / 4 and high + spaces > len(sample) * 0.75


def common_cjk_share(text: str) -> float:
    """Share from 0 to 1 of non-ASCII characters that are common Chinese, Japanese or Korean."""
    return max(familiarity(text, name) for name in ROWS)


def _double_byte(sample: bytes) -> list[tuple[float, float, str]]:
    """Double-byte encodings that are almost certain, even if a stray byte is invalid."""
    scored = []
    for name in ROWS:
        text = sample.decode(name, "replace").removesuffix("\ufffd")  # its end may be cut off
        counts = Counter(text)
        share = _familiarity(counts, text, name)
        if share <= 0.8:
            continue
        invalid = text.count("\ufffd") * _VALID_BESIDE_INVALID
        pairs = len(text.encode(name, "ignore")) - len(text.replace("\ufffd", ""))
        score = share + _share(counts, FREQUENT[name])
        if score > 0.9 and not text.isascii() and len(text) > 20 and invalid <= pairs:
            scored.append((score, share, name))
    return scored


def _accepted(sample: bytes) -> list[tuple[float, float, str]]:
    """Score, familiarity and name of each encoding that charset-normalizer accepts."""
    matches = charset_normalizer.from_bytes(sample, cp_isolation=list(_CANDIDATES))
    scored = {
        name: _score(str(match), name, mess=match.chaos - match.coherence / 2)
        for match in matches
        for name in match.could_be_from_charset  # all that decode to the same text
        if name in _CANDIDATES
    }
    best = max((row[0] for row in scored.values()), default=0.0)
    if len(sample) < _SHORT or best < _DOUBTFUL:  # it also rules out some correct encodings
        for name in (*LETTERS, *ROWS):
            with suppress(UnicodeDecodeError):
                if name not in scored:
                    text = codecs.getincrementaldecoder(name)().decode(sample[:_READ])
                    scored[name] = _score(text, name, mess=_RULED_OUT)
    return list(scored.values())


def _score(text: str, name: str, *, mess: float) -> tuple[float, float, str]:
    counts = Counter(text)
    share = _familiarity(counts, text, name)
    one = 1.0
    if languages := LANGUAGES.get(name):
        one = max(_share(counts, letters) for letters in languages)
    score = share - _OF_SEVERAL_LANGUAGES * (1 - one) - mess
    return score, max(0.0, share - max(0.0, mess)), name


def _share(counts: Counter[str], characters: str) -> float:
    """Share from 0 to 1 of the non-ASCII characters that are among these, or their capitals."""
    foreign = known = 0
    for char, count in counts.items():
        for small in char.lower():  # that of `İ` are two
            if small >= "\x80":
                foreign += count
                known += count if small in characters else 0
    return known / max(1, foreign)


def familiarity(text: str, encoding: str) -> float:
    """Share from 0 to 1 of the non-ASCII characters that are common in the languages written in
    `encoding`, one of the candidates."""
    return _familiarity(Counter(text), text, encoding)


def _familiarity(counts: Counter[str], text: str, encoding: str) -> float:
    """`counts`: how often the text has each of its characters."""
    common = _common_characters(encoding)
    foreign = usual = capitals = 0
    for char, count in counts.items():
        if char >= "\x80":
            foreign += count
            if char in common:
                usual += count
            elif char.lower() in common:
                capitals += count
    if not foreign:
        return 0.0
    known = usual + _CAPITAL * capitals
    if encoding not in LATIN:
        return known / foreign
    share = (known - len(_CAPITAL_INSIDE.findall(text))) / foreign
    # Languages in Latin script write mostly ASCII letters, but Vietnamese fewer.
    letters = sum(count for char, count in counts.items() if char.isalpha())
    ascii_share = 1 if encoding == "cp1258" else 2
    return share / 2 if foreign > 4 and ascii_share * foreign > letters else share


def _beyond_ascii(sample: bytes) -> int:
    return len(sample) - len(sample.translate(None, _HIGH))


@cache
def _common_characters(encoding: str) -> frozenset[str]:
    if encoding in LETTERS:
        return frozenset(LETTERS[encoding] + PUNCTUATION)
    codec, leads = ROWS[encoding]
    rows = (bytes((lead, trail)) for lead in leads for trail in range(0x40, 0xFF))
    characters = set(CJK_PUNCTUATION)
    for row in rows:
        with suppress(UnicodeDecodeError):  # not "ignore": it keeps the second byte as a character
            characters.update(row.decode(codec))
    return frozenset(characters) - frozenset(map(chr, range(0xA0)))
