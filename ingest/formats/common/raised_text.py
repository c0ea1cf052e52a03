"""Super- and subscripts as plain text, so that 2 to the power of 10 does not become 210.

    10, -3 after a digit      → ^10, ^-3     (the keyword index would read 2¹⁰ as 210)
    2 after a letter          → ²            (m², and `m2` finds it)
    2 lowered                 → ₂            (CO₂, and `co2` finds it)
    4 after a word, or a link → [^4]         (a note, as DOCX has them)
    st, nd, ème after a digit → unchanged

`before` is the text in front, of which the last `CONTEXT` characters count. Formats that give a
paragraph in runs mark theirs with `raised` and `lowered`; `written_out` then replaces the marks.
"""

import re
from typing import Final

CONTEXT: Final = 60
_LONGEST = 12  # characters; longer text is only small
_HIGH = str.maketrans("0123456789+-\u2212\u2013=()ni", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁻⁼⁽⁾ⁿⁱ")
_LOW = str.maketrans("0123456789+-\u2212\u2013=()", "₀₁₂₃₄₅₆₇₈₉₊₋₋₋₌₍₎")
_HAS_HIGH = re.compile(r"[0-9+\-\u2212\u2013=()ni]+")
_HAS_LOW = re.compile(r"[0-9+\-\u2212\u2013=()]+")
_MINUS = str.maketrans("\u2212\u2013", "--")
_LETTER = r"[^\W\d_⁰¹²³⁴-⁹ⁿⁱ₀-₉]"
_SIMPLE = re.compile(rf"-?\d+(?:\.\d+)?|{_LETTER}+")
_SIGN = re.compile("[+\\-\u2212\u2013]")
_MARKS = {"tm": "™", "sm": "℠", "r": "®"}
_ORDINAL = re.compile(
    r"(?:st|nd|rd|th|er|ers|re|res|[eè]me|[eè]mes|[eè]re|de|d|e|[oa]s?|ª|º|\.)", re.IGNORECASE
)
_ABBREVIATED = re.compile(
    r"(?:[mM](?:me|mes|lle|lles|gr)|[nN]os?|[DM]r|Ste?|Cie|[IVXLC]+(?:e|er|re|ème))"
)
_FURTHER = r"(?: ?[,;\u2013-] ?(?:\d{1,3}|[a-z*†‡§¶#])){0,9}"
_DEGREE = re.compile(r"\s?[CF]\b")
_NOTE = re.compile(rf"\[?\(?(?:note |fn\.? ?)?((?:\d{{1,3}}|[a-z]){_FURTHER})\)?\]?")
_IN_BRACKETS = re.compile(r"\[[^\[\]]{1,40}\]")
_WORD = re.compile(rf"{_LETTER}+\Z")
_IN_PARENTHESES = re.compile(r"\(([^()]*)\)\Z")
_LONG_WORD = re.compile(r"[^\W\d_]{4}")
_POWERS = re.compile(
    r"min|m?mol|sec|csc|rad|mil|atm|bar|sinh?|cosh?|tanh?|cot|log|exp|det|dim|lim|deg|ohm|pixel"
    r"|inch|feet|foot|yard|miles?|met(?:re|er)s?"
)
_SIGNS = r"(?:[$£€¥₹₽₺₴₪]|(?:USD|CAD|AUD|EUR|GBP|CHF|PLN|CZK|SEK|NOK|DKK|zł|kr|Kč|lei)\b)"
_PRICE = re.compile(rf"{_SIGNS}\s?\d[\d.,]*\Z")
_CURRENCY = re.compile(rf"\s?{_SIGNS}(?!\d)")  # not that of the next price
_BEFORE_CENTS = re.compile(rf"\d(?:[.,]|\s?{_SIGNS})\Z")  # 12,⁹⁹ or, in French, 12€⁹⁹
_CENTS = re.compile(rf"([.,]?)\d\d(\s?{_SIGNS})?")
# 1.ª, n.º, Sr.ª
_DOTTED = re.compile(r"(?:(?<![\d.,])\d{1,2}|\b(?:[nN]|[DM]|Sr|Dr|Prof|Exm))\.\Z")
_DOTTED_END = re.compile(r"[oa]s?")


# Characters that no text may have, as begin and end.
_RAISED, _LOWERED = ("\ufdd0", "\ufdd1"), ("\ufdd2", "\ufdd3")
_MARKED = re.compile("\ufdd0([^\ufdd0-\ufdd3]*)\ufdd1|\ufdd2([^\ufdd0-\ufdd3]*)\ufdd3")
_STRAY = re.compile("[\ufdd0-\ufdd3]")


def raised(text: str) -> str:
    """Mark raised text for `written_out`."""
    return text.join(_RAISED) if text else ""


def lowered(text: str) -> str:
    """Mark lowered text for `written_out`."""
    return text.join(_LOWERED) if text else ""


def written_out(text: str) -> str:
    """The text with marked passages as this module writes them; adjacent ones are one."""
    if not _STRAY.search(text):
        return text
    for begin, close in (_RAISED, _LOWERED):
        text = text.replace(close + begin, "")
    pieces: list[str] = []
    before, end = "", 0
    for match in _MARKED.finditer(text):
        between = text[end : match.start()]
        before = (before + between)[-CONTEXT:]
        line = before[before.rfind("\n") + 1 :].rstrip("*")  # without marks of emphasis
        if match[1] is not None:
            after = text[match.end() : match.end() + CONTEXT]
            written = superscript(match[1], line, _STRAY.sub("", after))
        else:
            written = subscript(match[2], line)
        inside = match[1] if match[1] is not None else match[2]
        written += " " if inside[-1:].isspace() and inside.strip() else ""
        pieces += [between, written]
        before = (before + written)[-CONTEXT:]
        end = match.end()
    return _STRAY.sub("", "".join([*pieces, text[end:]]))


def superscript(text: str, before: str, after: str = "", *, is_note: bool = False) -> str:
    """Raised text after `before` and in front of `after`; `is_note`: it links to a note."""
    text = " ".join(text.split())
    if not is_note and (cents := _cents(text, before, after)) is not None:
        return cents
    if not is_note and _DOTTED_END.fullmatch(text) and _DOTTED.search(before):
        return text
    if not any(map(str.isalnum, text)):
        return text.translate(_HIGH) if _SIGN.fullmatch(text) and before[-1:].strip() else text
    if len(text) > _LONGEST or (" " in text and not _NOTE.fullmatch(text)):
        return _apart(text, before)
    if text in "o0º" and _DEGREE.match(after) and before[-1:].isdecimal():
        return "°"
    gap = " " if not before.strip() and after[:1].isalnum() else ""
    if _IN_BRACKETS.fullmatch(text):
        return text + gap
    note = _NOTE.fullmatch(text)
    if note and (is_note or _follows_word(text, before, after)):
        return f"[^{note[1]}]{gap}"
    if not before[-1:].strip():
        return text.translate(_HIGH) if _HAS_HIGH.fullmatch(text) else text
    return _attached(text, before, after)


def _attached(text: str, before: str, after: str) -> str:
    if text.lower() in _MARKS and (len(text) == 2 or text == "R"):
        return _MARKS[text.lower()]
    word = _WORD.search(before)
    if before[-1].isdecimal():
        return text if _ORDINAL.fullmatch(text) else f"^{_grouped(text)}"
    if word and _ABBREVIATED.fullmatch(word[0] + text):
        return text
    return text.translate(_HIGH) if _HAS_HIGH.fullmatch(text) else f"^{_grouped(text)}"


def _cents(text: str, before: str, after: str) -> str | None:
    """The raised cents of a price, behind the mark that separates them."""
    found = _CENTS.fullmatch(text)
    if found is None:
        return None
    is_price = bool(found[2] or _PRICE.search(before.rstrip(".,")) or _CURRENCY.match(after))
    if _BEFORE_CENTS.search(before):
        is_split_by_sign = before[-1] not in ".,"
        return text if (is_price or is_split_by_sign) and not found[1] else None
    if not before[-1:].isdecimal():
        return None
    if found[1]:
        return text
    return f".{text}" if is_price else None


def subscript(text: str, before: str) -> str:
    """Lowered text after `before`."""
    text = " ".join(text.split())
    if not any(map(str.isalnum, text)):
        return text
    if len(text) > _LONGEST or " " in text or not before[-1:].strip():
        return _apart(text, before)
    if _HAS_LOW.fullmatch(text) and not before[-1].isdecimal():
        return text.translate(_LOW)
    return f"_{_grouped(text)}"


def _follows_word(text: str, before: str, after: str) -> bool:
    """Whether raised text is the mark of a note by what is around it: not a unit or a variable."""
    if not before.strip():  # at the start of a note; ¹⁴C is an isotope
        return not re.match(r"[A-Z][a-z]?(?![a-z])", after)
    if before[-1].isspace():
        return False
    inside = _IN_PARENTHESES.search(before)
    if inside:
        return bool(_LONG_WORD.search(inside[1]))
    word = _WORD.search(before)
    if word is None:
        return not before[-1].isalnum() and before[-1] not in ")]}|⁺⁻°"
    if len(text) == 1 and text.isalpha():
        return len(word[0]) > 2 and not _ABBREVIATED.fullmatch(word[0] + text)
    return len(word[0]) > 2 and not _POWERS.fullmatch(word[0].lower())


def _grouped(text: str) -> str:
    text = text.translate(_MINUS)
    return text if _SIMPLE.fullmatch(text) else f"({text})"


def _apart(text: str, before: str) -> str:
    return f" {text}" if before[-1:].isalnum() and text[0].isalnum() else text
