"""Tells text layers that say nothing: their codes are not those of the letters that readers see.

Fonts without a mapping to Unicode, or with a wrong one, give the numbers of glyphs, letters moved
along the alphabet, or one letter for all. A text in no known language is no sign: lists of serial
numbers, code and transliterations have none either. Each sign below is one that they do not have.
"""

import re
import unicodedata
from collections import Counter
from functools import cache

import numpy as np

from ingest.analysis.function_words import listed
from ingest.formats.common.letter_order import RIGHT_TO_LEFT
from ingest.formats.pdf.engine import pdfium
from ingest.formats.pdf.layout.text_lines import HYPHEN

_UNMAPPED = re.compile("[\x01-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufffd\ue000-\uf8ff" + HYPHEN + "]")
_GARBLED = 0.3  # share of the sample
_SAMPLE = 60  # characters
_FEW_DIFFERENT = 15  # characters in the sample; texts have about 25
_READ, _READ_MOVED = 4000, 1000  # characters
_ASCII = 0.9  # share of the sample
_COMMON_LAST = "\u024f"  # end of Latin Extended-B
_ENOUGH = 40  # letters or words
_ONE_LETTER = 0.9  # share of the letters of words
_LATIN_1_LETTERS = re.compile("[\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u017f]")
_OTHER_CODE_PAGE = 0.6  # share of accented letters; Vietnamese has 0.35
_MIXED = re.compile("[A-Za-z][\u0590-\u08ff]")
_FEWEST_WORDS, _MOST_MIXED = 20, 0.3  # Latin words with an Arabic article are fewer
_RARE = re.compile(r"[!\"#$%&'*+;<=>?@\[\\\]^_`{|}~]")  # few in print, many in numbers of glyphs
_MOST_RARE = 0.3
_MOST_SPACES = 0.03
_LINE = 25  # characters; lists of single words have no spaces, either
_LEAST_VOWELS = 0.18  # of the letters; languages in Latin script have 0.3 to 0.5
_SEVERAL = re.compile(r"[^\W\d_]{2,}")
_LETTER = re.compile(r"[^\W\d_]")
_SHIFTS = frozenset(range(1, 61)) - {32}  # that one makes small letters of capitals
_MOST_LETTERS = 0.5  # of a text, spaces may be among the moved
_CODES = 128
_LETTERS = np.array([chr(code).isalpha() for code in range(_CODES)], np.int64)
_MOST_SHIFTS = 8
_USUAL = "etaonirsl"
_MOST_FIGURES = 0.2  # share of the text
_FREQUENT = np.array([chr(code).lower() in _USUAL for code in range(_CODES)], np.int64)
_ODD, _WRITTEN, _WRITTEN_VOWELS, _WRITTEN_SMALL = 0.5, 0.56, 0.33, 0.85  # shares of letters
_VOWELS = np.array([chr(code) in "aeiouyAEIOUY" for code in range(_CODES)], np.int64)
_PRINTED = range(33, 127)
_SPACE, _KEPT = ord(" "), frozenset(b" \r\n\t")
_TOO_FAR = re.compile("[^\x00-\xba]")  # further from the printed ones than the largest shift
_KNOWN = 0.15  # share of grammar's words in a text
_DIFFERENT = 5  # words of grammar; any letters are one or two of them
_MARKS = ".,:;!?()\"'"  # between words


def is_garbled(text_page: int, text: str, count: int) -> bool:
    """Whether the text of a page, of `count` characters for pdfium, is unreadable."""
    sample = "".join(text[:: max(len(text) // _SAMPLE, 1)].split())
    is_ascii = sample.isascii()
    has_signs = not (is_ascii and sample.isprintable())
    if has_signs and len(_UNMAPPED.findall(sample)) > _GARBLED * len(sample):
        return True
    head = text[:_READ]
    # The sample says at once that most pages need no closer look.
    if len(set(sample)) < _FEW_DIFFERENT and _is_one_letter(head):
        return True
    if not is_ascii and (_is_other_code_page(head) or _is_mixed(sample, head)):
        return True
    if _has_no_mapping(text_page, count):
        is_latin = sum(map(_COMMON_LAST.__lt__, sample)) <= 0.5 * len(sample)
        return _is_unreadable(head) if is_latin else count == len(text)
    if not is_ascii and sum(map(str.isascii, sample)) < _ASCII * len(sample):
        return False
    return _is_moved(text[:_READ_MOVED])


def _has_no_mapping(text_page: int, count: int) -> bool:
    places = range(0, count, max(count // _SAMPLE, 1))
    half = (len(places) + 1) // 2
    failed: int = sum(pdfium.has_no_mapping(text_page, index) == 1 for index in places[:half])
    if not failed:  # not even the other half can be most of them
        return False
    failed += sum(pdfium.has_no_mapping(text_page, index) == 1 for index in places[half:])
    return failed > 0.5 * len(places)


def _is_one_letter(text: str) -> bool:
    # Letters that stand alone are marks, as in a matrix of crosses.
    letters = Counter("".join(_SEVERAL.findall(text)))
    total = letters.total()
    return total >= _ENOUGH and letters.most_common(1)[0][1] > _ONE_LETTER * total


def _is_other_code_page(text: str) -> bool:
    """Whether most letters are accented: a text of another code page, read as Latin."""
    accented = len(_LATIN_1_LETTERS.findall(text))
    if accented <= _OTHER_CODE_PAGE * _ENOUGH:
        return False
    letters = len(_LETTER.findall(text))
    return letters >= _ENOUGH and accented > _OTHER_CODE_PAGE * letters


def _is_mixed(sample: str, text: str) -> bool:
    """Whether Latin letters are inside most words of Arabic or Hebrew, as codes of glyphs are."""
    if RIGHT_TO_LEFT.search(sample) is None:
        return False
    words = text.split()
    others = [word for word in words if RIGHT_TO_LEFT.search(word)]
    mixed = sum(_MIXED.search(word) is not None for word in others)
    return 2 * len(others) > len(words) >= _FEWEST_WORDS and mixed > _MOST_MIXED * len(others)


def _is_unreadable(text: str) -> bool:
    """Whether codes of a font that has no mapping are not those of print.

    Bitmap fonts of TeX have none either, but mostly the codes of ASCII. Where codes are numbers of
    glyphs, those of spaces are no spaces.
    """
    visible = "".join(text.split())
    if text.count(" ") > _MOST_SPACES * len(text) or len(visible) < _LINE * len(text.splitlines()):
        return False
    if len(_RARE.findall(visible)) > _MOST_RARE * len(visible):
        return True
    letters = unicodedata.normalize("NFD", "".join(_LETTER.findall(visible))).lower()
    vowels = sum(map(letters.count, "aeiouyæøœ"))
    return len(letters) > max(_ENOUGH, 0.6 * len(visible)) and vowels < _LEAST_VOWELS * len(letters)


def _is_moved(text: str) -> bool:
    """Whether all characters are the same number of places away from a text in a known language."""
    if len(text) < _SAMPLE * 2:
        return False
    as_it_is = _known(text, _KNOWN)
    if as_it_is >= _KNOWN:
        return False
    codes = _TOO_FAR.sub("\xff", text).encode("latin-1")
    wanted = max(_KNOWN, 2 * as_it_is)
    is_odd = _is_odd(text)
    for shift in _plausible_shifts(text):
        moved = codes.translate(_moved(shift)).decode("ascii")
        if _known(moved, wanted) >= wanted or (is_odd and _looks_written(moved)):
            return True
    return False


def _is_odd(text: str) -> bool:
    """Whether the usual letters are rare, as in no language in Latin script; not of figures."""
    figures = sum(map(str.isdigit, text))
    is_table = figures > _MOST_FIGURES * len("".join(text.split()))
    return not is_table and _share_of(_USUAL, _small_letters(text)) < _ODD


def _looks_written(text: str) -> bool:
    """Whether a text has the letters of some language in Latin script: mostly small, mostly usual
    ones, with enough vowels. Random letters, and codes of letters and figures, have not."""
    letters = _small_letters(text)
    small = sum(map(str.islower, text))
    return (
        len(set(letters)) >= _FEW_DIFFERENT
        and small >= _WRITTEN_SMALL * len("".join(text.split()))
        and _share_of(_USUAL, letters) >= _WRITTEN
        and _share_of("aeiou", letters) >= _WRITTEN_VOWELS
    )


def _small_letters(text: str) -> str:
    return "".join(_LETTER.findall(text)).lower()


def _share_of(some: str, letters: str) -> float:
    return sum(map(letters.count, some)) / max(len(letters), 1)


def _plausible_shifts(text: str) -> list[int]:
    """Those that make letters of most characters, and enough vowels; the most likely ones first."""
    codes = np.frombuffer("".join(text.split()).encode("ascii", "ignore"), np.uint8)
    counts = np.bincount(codes, minlength=_CODES)[:_CODES]
    letters = np.correlate(_LETTERS, counts, "full")
    vowels = np.correlate(_VOWELS, counts, "full")
    are_plausible = (letters >= _MOST_LETTERS * len(codes)) & (vowels >= _LEAST_VOWELS * letters)
    frequent = np.where(are_plausible, np.correlate(_FREQUENT, counts, "full"), 0)
    order = [place - (_CODES - 1) for place in np.argsort(-frequent).tolist() if frequent[place]]
    return [shift for shift in order if abs(shift) in _SHIFTS][:_MOST_SHIFTS]


@cache
def _moved(shift: int) -> bytes:
    """For bytes.translate(): what each character becomes, a space if it is not printed."""
    moved = (code + shift if code + shift in _PRINTED else _SPACE for code in range(256))
    return bytes(code if code in _KEPT else other for code, other in enumerate(moved))


def _known(text: str, enough: float) -> float:
    """The share of words that belong to the grammar of one language; 0 if they are too few.

    Of the first language with `enough` of them, else of the best.
    """
    text = text.lower()
    for mark in _MARKS:  # of a text that is not ASCII, five times as fast as translate()
        text = text.replace(mark, " ")
    words = text.split()
    known = list(filter(_grammar_of_any().__contains__, words))
    different = set(known)
    share = 0.0
    if len(different) >= _DIFFERENT:
        for grammar in _grammars():
            found = grammar & different
            if len(found) >= _DIFFERENT and sum(len(word) > 2 for word in found) >= _DIFFERENT // 2:
                share = max(share, sum(map(found.__contains__, known)) / len(words))
                if share >= enough:
                    break
    return share


@cache
def _grammar_of_any() -> frozenset[str]:
    return frozenset[str]().union(*_grammars())


@cache
def _grammars() -> tuple[frozenset[str], ...]:
    return tuple(
        frozenset(word for word in words if word.isascii() and len(word) > 1)
        for words in listed().values()
    )
