"""What Word shows for fields whose result is not stored: `SYMBOL`, and equations (`EQ`).

EQ \\f(3,4)   → 3/4        EQ \\r(3,x)        → 3√x
EQ \\s\\up8(2) → ^2         EQ \\o\\ac(○,1)   → ○1
EQ \\o\\ad(\\s\\up9(とうきょう),東京) → 東京(とうきょう)
"""

import re
from typing import Final

from ingest.formats.office.symbol_fonts import glyph

_SYMBOL: Final = re.compile(r"\s*SYMBOL\s+(\d{1,6}|0x[0-9a-f]{1,5})\b([^\n]*)", re.IGNORECASE)
_FONT: Final = re.compile(r'\\f\s*"?([^"\\]+)', re.IGNORECASE)
_UNICODE: Final = re.compile(r"\\u\b", re.IGNORECASE)
_SURROGATES: Final = 0xD800
_EQUATION: Final = re.compile(r"\s*EQ\s", re.IGNORECASE)
_COMMAND: Final = re.compile(
    r"\\([a-z])[a-z]*+\d*+((?:\s*+\\(?:[a-z]++\s*+\d*+|[^a-z\d\s])){0,20}+)\s*+\(([^()]*)\)",
    re.IGNORECASE,
)
_PLAIN: Final = re.compile(r"\([^()]*\)")
_FORMAT: Final = re.compile(r'\\\*\s*+(?:"[^"]*"|[^\s\\()]+)')
"""A switch that every field may have."""
_DEEPEST: Final = 20  # nested commands
_LONGEST: Final = 2000
# Parentheses and commas of results, which belong to no arguments any more.
_HIDDEN: Final = "\ufdd4\ufdd5\ufdd6\ufdd7"
_COMMA: Final = _HIDDEN[2]
_HIDE, _SHOW = str.maketrans("(),;", _HIDDEN), str.maketrans(_HIDDEN, "(),;")


def result(instruction: str) -> str:
    """The text of a field; empty if it is another one."""
    match = _SYMBOL.match(instruction)
    if match is not None:
        font = _FONT.search(match[2])
        code = int(match[1], 0) if match[1].lower().startswith("0x") else int(match[1])
        if _UNICODE.search(match[2]) and code < _SURROGATES:
            return chr(code)
        return glyph(font[1].strip() if font is not None else None, code)
    start = _EQUATION.match(instruction[:_LONGEST])
    return "" if start is None else _equation(instruction[start.end() : _LONGEST])


def _equation(text: str) -> str:
    text = _FORMAT.sub("", text).replace("\\,", _COMMA)
    for _ in range(_DEEPEST):
        text, count = _COMMAND.subn(_shown, text)
        if not count:  # the innermost ones belong to no command
            text, count = _PLAIN.subn(lambda match: match[0].translate(_HIDE), text)
        if not count:
            break
    return " ".join(text.translate(_SHOW).split())


def _shown(match: re.Match[str]) -> str:
    command, options = match[1].lower(), match[2].lower()
    # Where a comma is a decimal sign, arguments have semicolons between them.
    separator = ";" if ";" in match[3] else ","
    arguments = [part.strip() for part in match[3].split(separator)]
    return _built(command, options, arguments).translate(_HIDE)


def _built(command: str, options: str, arguments: list[str]) -> str:
    first, last = arguments[0], arguments[-1]
    if command == "f" and len(arguments) == 2:
        return f"{_grouped(first)}/{_grouped(last)}"
    if command == "r":
        return (first if len(arguments) > 1 else "") + f"√{_grouped(last)}"
    if command == "s":
        return ("_" if "\\do" in options else "^") + _grouped(", ".join(arguments))
    if command == "i" and len(arguments) == 3:
        limits = zip("_^", arguments, strict=False)
        sign = "∑" if "\\su" in options else "∏" if "\\pr" in options else "∫"
        below, above = (f"{mark}{_grouped(text)}" if text else "" for mark, text in limits)
        return f"{sign}{below}{above} {last}"
    if command == "o" and len(arguments) == 2 and first.startswith("^"):
        return f"{last}({first[1:].strip(_HIDDEN)})"  # how a word is read, above it
    if command == "b":
        return f"({', '.join(arguments)})"
    return ("" if command == "o" else ", ").join(arguments)


def _grouped(text: str) -> str:
    return text if len(text) <= 1 or text.isalnum() else f"({text})"
