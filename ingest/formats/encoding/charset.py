"""Detects legacy encodings: charset-normalizer proposes, familiarity decides.

charset-normalizer rules out encodings that decode to a mess. For short texts (a list of names, a
small CSV) several remain: `你好` in GB 18030 also decodes to two Hangul syllables. So these are
compared by how many of their characters are common in the languages written in that encoding.
charset-normalizer alone misses many of the texts in tests/unit/formats/text/test_decode.py.
"""

# ruff: noqa: RUF001  (the letters of other scripts are the point)

import re
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from functools import cache

import charset_normalizer

_PUNCTUATION = "“”‘’…–—€«»•·©®°"
_CJK_PUNCTUATION = "、。・「」『』（）！？：；，《》【】ー～“”‘’…—·　％"

# The most frequent non-ASCII letters of the languages written in each encoding. The first
# encoding wins a tie, so those that are common in practice come first.
_LETTERS = {
    "cp1252": "éèàçöäüßñíóáêâôîûùëïåøæãõúìòœ¿¡£ÖÄÜÉÅØÆÇ",
    "cp1251": "оеаинтсрвлкмдпуяыії",
    "cp1250": "áéíóúýčďěňřšťůžąćęłńśźżőűöüăâîşţđäôÁÉÍČŘŠŽŚŻŁŐÖÜ",
    "cp1254": "çğışöüİŞÇÖÜ",
    "cp1253": "αοιετσνηυρπκλςμάίόήέ",
    "cp1255": "יוהלאמרתבשנםעכד",
    "cp1256": "ايلمنترويبةعدسفهكأقحج،",
    "cp874": "านรอกเงมยลวดทตสปแคพไหจบชขิีัุู่้ำ์ะ",
    "koi8_r": "оеаинтсрвлкмдпуяы",
    "koi8_u": "оеаинтсрвлкмдпуяыіїє",
    "cp1257": "āčēģīķļņšūžąęėįųõäöüåøæÅÄÖ",
    "iso8859_2": "áéíóúýčďěňřšťůžąćęłńśźżőűöüăâîşţđäôÁÉÍČŘŠŽŚŻŁŐÖÜ",
    "cp866": "оеаинтсрвлкмдпуяы",
    "mac_cyrillic": "оеаинтсрвлкмдпуяы",
    "iso8859_5": "оеаинтсрвлкмдпуяыії",
    "cp862": "יוהלאמרתבשנםעכד",
    "cp850": "éèàçöäüßñíóáêâôîûùëïåøæãõúÖÄÜÉ",
    "mac_roman": "éèàçöäüßñíóáêâôîûùëïåøæãõúÖÄÜÉ",
    "cp852": "áéíóúýčďěňřšťůžąćęłńśźżőűöüăâîşţđäôÁÉÍČŘŠŽŚŻŁŐÖÜ",
    "iso8859_6": "ايلمنترويبةعدسفهكأقحج،",
    "cp855": "оеаинтсрвлкмдпуяы",
}
# Letters of single languages, which tell encodings of Latin script apart: no language writes both
# `õ` and `û`, but Hungarian writes both `ő` and `ű`.
_LANGUAGES = {
    "cp1252": ("£", "éèàçêâôîûùëïœ", "öäüß", "ñíóáéú¿¡", "ãõçáéíóúâêà", "åäöæøé", "àèéìòù"),
    "cp1250": ("áéíóúýčďěňřšťůž", "ąćęłńóśźż", "áéíóöőúüű", "ăâîşţ", "áäčďéíľĺňóôŕšťúýž"),
    "cp1254": ("çğışöüİ",),
    "cp1257": ("āčēģīķļņšūž", "ąčęėįšųūž", "õäöüšž"),
}
_LANGUAGES |= {
    "iso8859_2": _LANGUAGES["cp1250"],
    "cp850": _LANGUAGES["cp1252"],
    "cp852": _LANGUAGES["cp1250"],
    "mac_roman": _LANGUAGES["cp1252"],
}
# Codec and lead bytes of the rows that hold the common characters of a double-byte encoding.
_ROWS = {
    "cp949": ("cp949", range(0xB0, 0xC9)),
    "gb18030": ("gb2312", range(0xB0, 0xD8)),
    "big5hkscs": ("big5", range(0xA4, 0xC7)),
    "cp932": ("cp932", (*range(0x82, 0x84), *range(0x88, 0x98))),
    "euc_jp": ("euc_jp", (*range(0xA4, 0xA6), *range(0xB0, 0xD0))),
    "johab": ("cp949", range(0xB0, 0xC9)),
}
# The characters that almost every sentence holds. The rows of Hangul lie within those of Chinese.
_FREQUENT = {
    "cp949": "이다는의에을를가고하은로한지도",
    "gb18030": "的一是了我不在人有他这中大来上国",
    "big5hkscs": "的一是了我不在人有他這中大來上國",
    "cp932": "のにはをたがでてとしれさいる",
    "euc_jp": "のにはをたがでてとしれさいる",
    "johab": "이다는의에을를가고하은로한지도",
}
_LATIN = {"cp1252", "cp1250", "cp1254", "cp1257", "iso8859_2", "cp850", "cp852", "mac_roman"}
_OF_SEVERAL_LANGUAGES = 0.1  # penalty
_CANDIDATES = (*_ROWS, *_LETTERS)
NOT_LATIN = frozenset(_CANDIDATES) - _LATIN
"""Encodings of non-Latin scripts."""
_HIGH = bytes(range(0x80, 0x100))
_EURO = re.compile(rb"(?<=\d) ?\x80(?![\w\x80-\xff])|(?<![\w\x80-\xff])\x80(?= ?\d)")
"""A euro sign beside an amount (cp1252); in other encodings 0x80 would be a lone letter."""
_MAC_CYRILLIC = re.compile(rb"[\x80-\x9f\xdf]")
"""Capitals and the last letter: without them, letters are those of cp1251, its capitals quotes."""
_SHORT = 512  # bytes
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
    scored = _double_byte(sample) or _accepted(sample)
    if not scored:
        return None
    if not _MAC_CYRILLIC.search(sample):
        scored = [row for row in scored if row[2] != "mac_cyrillic"]
    scored.sort(key=lambda row: _CANDIDATES.index(row[2]))
    _, familiar, name = max(scored, key=lambda row: row[0])
    return Guess(name, round(familiar * min(1.0, 0.4 + _beyond_ascii(sample) / 50), 2))


def is_ebcdic(sample: bytes) -> bool:
    """Whether it is EBCDIC, which writes the space as 0x40 and letters and digits above 0x80."""
    spaces = sample.count(0x40)
    if spaces * 25 < len(sample) or sample.count(0x20) * 10 >= spaces:
        return False
    high = _beyond_ascii(sample)
    return high > spaces / 4 and high + spaces > len(sample) * 0.75


def common_cjk_share(text: str) -> float:
    """Share from 0 to 1 of non-ASCII characters that are common Chinese, Japanese or Korean."""
    return max(familiarity(text, name) for name in _ROWS)


def _double_byte(sample: bytes) -> list[tuple[float, float, str]]:
    """Double-byte encodings that are almost certain, even if a stray byte is invalid."""
    scored = []
    for name in _ROWS:
        text = sample.decode(name, "replace").removesuffix("\ufffd")  # its end may be cut off
        counts = Counter(text)
        share = _familiarity(counts, text, name)
        if share <= 0.8:
            continue
        invalid = text.count("\ufffd") * _VALID_BESIDE_INVALID
        pairs = len(text.encode(name, "ignore")) - len(text.replace("\ufffd", ""))
        score = share + _share(counts, _FREQUENT[name])
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
    if len(sample) < _SHORT or not scored:  # it also rules out correct encodings of short texts
        for name in (*_LETTERS, *_ROWS):
            with suppress(UnicodeDecodeError):
                if name not in scored:
                    scored[name] = _score(sample.decode(name), name, mess=_RULED_OUT)
    return list(scored.values())


def _score(text: str, name: str, *, mess: float) -> tuple[float, float, str]:
    counts = Counter(text)
    share = _familiarity(counts, text, name)
    one = 1.0
    if languages := _LANGUAGES.get(name):
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
    if encoding not in _LATIN:
        return known / foreign
    share = (known - len(_CAPITAL_INSIDE.findall(text))) / foreign
    # Languages in Latin script write mostly ASCII letters.
    letters = sum(count for char, count in counts.items() if char.isalpha())
    return share / 2 if foreign > 4 and 2 * foreign > letters else share


def _beyond_ascii(sample: bytes) -> int:
    return len(sample) - len(sample.translate(None, _HIGH))


@cache
def _common_characters(encoding: str) -> frozenset[str]:
    if encoding in _LETTERS:
        return frozenset(_LETTERS[encoding] + _PUNCTUATION)
    codec, leads = _ROWS[encoding]
    rows = (bytes((lead, trail)) for lead in leads for trail in range(0x40, 0xFF))
    characters = set(_CJK_PUNCTUATION)
    for row in rows:
        with suppress(UnicodeDecodeError):  # not "ignore": it keeps the second byte as a character
            characters.update(row.decode(codec))
    return frozenset(characters) - frozenset(map(chr, range(0xA0)))
