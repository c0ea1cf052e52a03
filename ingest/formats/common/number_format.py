"""Shows numbers and dates as spreadsheet programs do, by their number formats (ECMA-376, 18.8.31).

Separators are those of the file format (`1,234.50`): programs replace them by those of the user's
system, which no file names. For the same reason the formats "short date of the system" give ISO
8601. Colours, fills and padding have no text.
"""

import datetime as dt
import math
import re
from collections.abc import Callable, Mapping, Sequence
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Final

from ingest.formats.common import date_names
from ingest.formats.common.cells import cell_text, number_text
from ingest.formats.common.date_format import EPOCH, Token, Value, date_text

BUILT_IN: Final[Mapping[int, str]] = {
    1: "0", 2: "0.00", 3: "#,##0", 4: "#,##0.00",
    5: '"$"#,##0_);\\("$"#,##0\\)', 6: '"$"#,##0_);\\("$"#,##0\\)',
    7: '"$"#,##0.00_);\\("$"#,##0.00\\)', 8: '"$"#,##0.00_);\\("$"#,##0.00\\)',
    9: "0%", 10: "0.00%", 11: "0.00E+00", 12: "# ?/?", 13: "# ??/??",
    14: "yyyy-mm-dd", 15: "d-mmm-yy", 16: "d-mmm", 17: "mmm-yy",
    18: "h:mm AM/PM", 19: "h:mm:ss AM/PM", 20: "h:mm", 21: "h:mm:ss", 22: "yyyy-mm-dd h:mm",
    37: "#,##0_);(#,##0)", 38: "#,##0_);(#,##0)", 39: "#,##0.00_);(#,##0.00)",
    40: "#,##0.00_);(#,##0.00)", 41: '#,##0_);(#,##0);"-"', 42: '"$"#,##0_);("$"#,##0);"$""-"',
    43: '#,##0.00_);(#,##0.00);"-"', 44: '"$"#,##0.00_);("$"#,##0.00);"$""-"',
    45: "mm:ss", 46: "[h]:mm:ss", 47: "mm:ss.0", 48: "##0.0E+0",
}  # fmt: skip
"""Formats that files refer to by number only; the others show numbers as they are."""

_TOKEN: Final = re.compile(
    r"""(?P<literal>"[^"]*"?|\\.|_.|\*.)|\[(?P<bracket>[^\]]*)\]|(?P<general>General)
      |(?P<noon>AM/PM|A/P|上午/下午|午前/午後|오전/오후)
      |(?P<date>y+|m+|d+|h+|s+(?:\.0+)?|b+|e+(?![+-])|g+|aaaa?)
      |(?P<exponent>E[+-])|(?P<digit>[0\#?])|(?P<end>;)|(?P<other>.)""",
    re.VERBOSE | re.IGNORECASE | re.DOTALL,
)
_ELAPSED: Final = re.compile(r"h+|m+|s+", re.IGNORECASE)
_CONDITION: Final = re.compile(r"(<=|>=|<>|<|>|=)\s*(-?\d+(?:\.\d+)?)")
_TESTS: Final[Mapping[str, Callable[[float, float], bool]]] = {
    "<": lambda a, b: a < b, "<=": lambda a, b: a <= b, ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b, "=": lambda a, b: a == b, "<>": lambda a, b: a != b,
}  # fmt: skip
_LONGEST: Final = 255  # characters of a format, as in Excel; longer ones are not read
_MOST_SECTIONS: Final = 4
_HUGE: Final = 1e21
_MOST_DAYS: Final = 1e9  # of a timedelta
_EPOCH_1904: Final = dt.datetime.fromisoformat("1904-01-01")
_SECONDS_PER_DAY: Final = 86_400


class _Section:
    """One of up to four parts of a format: for positive, negative, zero, text; or by condition."""

    def __init__(self, tokens: Sequence[Token], condition: str, locale: int) -> None:
        self.tokens = tokens
        kinds = {kind for kind, _ in tokens}
        self.is_general = "general" in kinds
        self.is_exponent = "exponent" in kinds
        self.is_date = bool(kinds & {"date", "noon", "elapsed"})
        self.locale = locale
        found = _CONDITION.fullmatch(condition.strip())
        self.test = (_TESTS[found[1]], float(found[2])) if found else None


def is_plain(code: str) -> bool:
    """Whether the format shows every number as it is."""
    return not code or code.casefold() in ("general", "@", "standard")


def shown(value: Value, code: str, *, is_1904: bool = False) -> str:
    """The text that a cell with this format shows; a value for which it shows nothing, as it is."""
    sections = _sections(code)
    if is_1904 and isinstance(value, dt.time | dt.datetime):
        value = _since_1904(value, sections)
    if sections:
        if isinstance(value, int | float):
            text = _number(float(value), sections, is_1904=is_1904)
        else:
            dates = [section for section in sections if section.is_date]
            text = date_text(value, dates[0].tokens, dates[0].locale) if dates else ""
        text = " ".join(text.split())
        if "-" in text or any(map(str.isalnum, text)):
            return text
    return cell_text(float(value) if isinstance(value, int) else value)


def _since_1904(value: dt.time | dt.datetime, sections: Sequence[_Section]) -> Value:
    """The moment, or the time since the epoch for elapsed hours; a time is of the first day."""
    moment = dt.datetime.combine(_EPOCH_1904, value) if isinstance(value, dt.time) else value
    kinds = {kind for section in sections for kind, _ in section.tokens}
    return moment - _EPOCH_1904 if "elapsed" in kinds else moment


def serial_date(value: float, *, is_1904: bool = False) -> dt.datetime | None:
    """The date of a serial number, to the millisecond; None if there is none."""
    try:
        days = dt.timedelta(milliseconds=round(value * _SECONDS_PER_DAY * 1000))
        if not is_1904 and 0 <= value < 60:
            days += dt.timedelta(days=value >= 1)  # Excel's 1900 had a 29 February
        return (_EPOCH_1904 if is_1904 else EPOCH) + days
    except (OverflowError, ValueError):
        return None


@lru_cache(maxsize=1024)
def is_date(code: str) -> bool:
    """Whether the format shows numbers as dates or times."""
    return any(section.is_date for section in _sections(code)[:1])


@lru_cache(maxsize=1024)
def _sections(code: str) -> tuple[_Section, ...]:
    if len(code) > _LONGEST:
        return ()
    parts: list[_Section] = []
    tokens: list[Token] = []
    condition, locale = "", 0
    for match in [*_TOKEN.finditer(code), None]:
        kind = match.lastgroup if match else "end"
        text = match.group() if match else ""
        if kind == "end":
            parts.append(_Section(tokens, condition, locale))
            tokens, condition, locale = [], "", 0
        elif kind == "bracket":
            inside = text[1:-1]
            if inside.startswith("$"):
                symbol, _, language = inside[1:].partition("-")
                tokens.append(("literal", symbol))
                locale = date_names.code_of(language)
            elif _ELAPSED.fullmatch(inside):
                tokens.append(("elapsed", inside.lower()))
            elif inside[:1] in ("<", ">", "="):
                condition = inside
        elif kind == "literal":
            tokens.append(("literal", _literal(text)))
        elif tokens and _continues_seconds(tokens[-1], kind, text):
            tokens[-1] = ("elapsed", tokens[-1][1] + text)
        else:
            tokens.append((kind or "other", text))
    return tuple(parts[:_MOST_SECTIONS])


def _continues_seconds(before: Token, kind: str | None, text: str) -> bool:
    """Whether this is the point or a digit after elapsed seconds: `[ss].00`."""
    is_elapsed = before[0] == "elapsed" and before[1].startswith("s")
    return is_elapsed and (text == "0" if "." in before[1] else (kind, text) == ("other", "."))


def _literal(text: str) -> str:
    if text[0] == '"':
        return text[1:].removesuffix('"')
    return {"\\": text[1:], "_": " "}.get(text[0], "")


def _number(value: float, sections: Sequence[_Section], *, is_1904: bool) -> str:
    if not math.isfinite(value):
        return ""
    section, has_own_sign = _choose(value, sections)
    if abs(value) >= (_MOST_DAYS if section.is_date else _HUGE) and not section.is_exponent:
        return number_text(value)
    if section.is_date:
        if section.tokens and any(kind == "elapsed" for kind, _ in section.tokens):
            return date_text(dt.timedelta(days=value), section.tokens, section.locale)
        date = serial_date(value, is_1904=is_1904)
        return date_text(date, section.tokens, section.locale) if date is not None else ""
    size = abs(value)
    sign = "-" if value < 0 and not has_own_sign else ""
    kinds = [kind for kind, _ in section.tokens]
    if section.is_general:
        text = "".join(
            number_text(size) if kind == "general" else text for kind, text in section.tokens
        )
    elif "digit" not in kinds:
        return "".join(number_text(value) if text == "@" else text for _, text in section.tokens)
    elif ("other", "/") in section.tokens:
        text = _fraction(size, section.tokens)
    else:
        text = _digits(size, section.tokens)
        if not any(character in text for character in "123456789"):
            sign = ""  # rounded to zero
    return sign + text


def _choose(value: float, sections: Sequence[_Section]) -> tuple[_Section, bool]:
    """The section for a number, and whether it brings its own sign."""
    numeric = sections[:3]
    if any(section.test for section in numeric):
        for index, section in enumerate(numeric):
            if section.test is None or section.test[0](value, section.test[1]):
                return section, index > 0 and value < 0
        return numeric[-1], False
    if value < 0 and len(numeric) > 1:
        return numeric[1], True
    if value == 0 and len(numeric) > 2:
        return numeric[2], True
    return numeric[0], False


def _digits(size: float, tokens: Sequence[Token]) -> str:
    """A number in a pattern like `#,##0.00 "kg"`."""
    point = next((i for i, token in enumerate(tokens) if token == ("other", ".")), len(tokens))
    places = [i for i, (kind, _) in enumerate(tokens) if kind == "digit"]
    power = next((i for i, (kind, _) in enumerate(tokens) if kind == "exponent"), len(tokens))
    point = min(point, power)
    whole = [i for i in places if i < point]
    decimals = [i for i in places if point < i < power]
    commas = [i for i, token in enumerate(tokens) if token == ("other", ",")]
    number = Decimal(number_text(float(size)))
    number *= 100 ** sum(token == ("other", "%") for token in tokens)
    last = whole[-1] if whole else -1
    number = number.scaleb(-3 * sum(i > last for i in commas))
    exponent = 0
    exact = Decimal(1).scaleb(-len(decimals))
    if power < len(tokens) and number:
        step = max(1, len(whole))
        exponent = number.adjusted() // step * step
        if number.scaleb(-exponent).quantize(exact, ROUND_HALF_UP).adjusted() >= step:
            exponent += step  # 9.995 is rounded to 10.00
        number = number.scaleb(-exponent)
    number = number.quantize(exact, ROUND_HALF_UP)
    left, _, right = f"{number:f}".partition(".")
    least = sum(tokens[i][1] == "0" for i in whole)
    left = left.lstrip("0").rjust(least, "0")
    kept = max((n for n, i in enumerate(decimals, 1) if tokens[i][1] == "0"), default=0)
    right = right[:kept] + right[kept:].rstrip("0")
    is_grouped = any(whole and whole[0] < i < last for i in commas)
    shares = _shares(left, len(whole), is_grouped=is_grouped)
    out: list[str] = []
    for i, (kind, text) in enumerate(tokens):
        if kind == "digit":
            if i < point:
                out.append(shares.pop(0))
            elif i < power:
                out.append(right[:1])
                right = right[1:]
        elif kind == "exponent":
            width = sum(place > power for place in places)
            sign = "-" if exponent < 0 else "+" if text[1] == "+" else ""
            out.append(f"E{sign}{abs(exponent):0{max(1, width)}d}")
        elif i == point:
            out.append("." if right else "")
        elif (kind, text) != ("other", ","):
            out.append(text)
    return ("" if whole else left) + "".join(out)


def _shares(digits: str, places: int, *, is_grouped: bool) -> list[str]:
    """The digits for each place from left to right: the first takes what is too many."""
    marks = [
        f"{digit}," if is_grouped and left % 3 == 0 and left else digit
        for digit, left in zip(digits, range(len(digits) - 1, -1, -1), strict=True)
    ]
    over = max(0, len(marks) - places + 1)
    shares = ["".join(marks[:over]), *marks[over:]] if over else marks
    return [""] * (places - len(shares)) + shares


def _fraction(size: float, tokens: Sequence[Token]) -> str:
    slash = tokens.index(("other", "/"))
    below = "".join(
        text for kind, text in tokens[slash + 1 :] if kind == "digit" or text.isdecimal()
    )
    runs = [run for run in re.split(r"\s+", "".join(t for _, t in tokens[:slash])) if run]
    whole = math.floor(size) if len(runs) > 1 else 0
    rest = Fraction(size - whole).limit_denominator(10**9)
    if below.isdecimal() and int(below):
        denominator = int(below)
        numerator = round(rest * denominator)
    else:
        part = rest.limit_denominator(10 ** min(4, max(1, len(below))) - 1)
        numerator, denominator = part.numerator, part.denominator
    if numerator == denominator and len(runs) > 1:
        whole, numerator = whole + 1, 0
    if not numerator:
        return str(whole)
    return f"{whole or ''} {numerator}/{denominator}".strip()
