"""Running text of LaTeX: commands, groups, accents, notes; formulas stay as they are."""

import re
import unicodedata
from collections.abc import Mapping

from ingest.formats.common.raised_text import lowered, raised, written_out
from ingest.formats.text.latex_commands import COUNTS, DROPPED_BY_NAME, LAST_BY_NAME, SIGNS, SILENT

MATH = (
    r"(?<!\\)\$\$[^$]{1,5000}\$\$|(?<!\\)\$(?:[^$\\]|\\.){1,1000}\$"
    r"|\\\([^\n]{1,500}?\\\)|\\\[.{1,5000}?\\\]"
)
_TOKEN = re.compile(
    r"\\(?:verb|lstinline)\*?(?:\[[^\]\n]{0,200}\])?"
    r"(?:(?P<mark>[^\w\s\[{*\\])(?P<verbatim>[^\n]{0,500}?)(?P=mark)|\{(?P<braced>[^{}\n]{0,500})\})"
    rf"|(?P<math>{MATH})|\\(?P<name>[A-Za-z@]+)\*?|\\(?P<sign>[^A-Za-z])"
    r"|(?P<brace>[{}])|(?P<other>~|---?|``|''|`)",
    re.DOTALL,
)
_INTERESTING = re.compile(r"[\\{}~`]|--|''")
_BRACE = re.compile(r"\\.|[{}]", re.DOTALL)
_OPTION = re.compile(r"[ \t]*(?:\[[^\[\]]{0,300}\]|<[^<>\n]{0,30}>)")
_DEFINITION = re.compile(r"[ \t]*\\[A-Za-z@]{1,60}(?:#\d)*(?:[ \t]*=?[ \t]*\\[A-Za-z@]{1,60})?")
_GAP = re.compile(r"[ \t]*\n?[ \t]*(?=\{)")
_ACCENTS = dict(
    zip(
        "'`^\"~=.uvHckrbd",
        "\u0301\u0300\u0302\u0308\u0303\u0304\u0307\u0306\u030c\u030b\u0327\u0328\u030a\u0331\u0323",
        strict=True,
    )
)
_ACCENTED = re.compile(r"[ ]?\{?[ ]?(?:\\([ij])(?![A-Za-z])[ ]?|([^\W\d_]))\}?")
_OTHERS = {"~": " ", "---": "—", "--": "\u2013", "``": "“", "''": "”", "`": "\u2018"}
_SPACES = {" ": " ", "\n": " ", ",": " ", ";": " ", ":": " ", "!": "", "/": "", "@": "", "-": ""}
_LINE_END = re.compile(r"\*?[ \t]*(?:\[[^\]\n]{0,20}\])?")
_ESCAPED = re.compile(r"\\([%#&_~])")
_UNITS = re.compile(r"\\([A-Za-z]+)\s*")
_DEEPEST = 25  # groups in one another
_MOST_EXPANDED = 200_000  # characters that macros of the file's own may add

Macros = Mapping[str, tuple[int, str]]
"""The number of arguments and the text of the commands that a file defines."""


class Inline:
    """Running text as Markdown; collects the notes, by number, in `notes`."""

    def __init__(self, macros: Macros) -> None:
        self._macros = macros
        self._room = _MOST_EXPANDED
        self.notes: dict[int, str] = {}

    def write(self, text: str) -> str:
        return written_out(self._write(text, 0))

    def _write(self, text: str, depth: int) -> str:
        if depth > _DEEPEST or not _INTERESTING.search(text):
            return text
        closing = closing_braces(text)
        out: list[str] = []
        at = 0
        while found := _TOKEN.search(text, at):
            out.append(text[at : found.start()])
            at = found.end()
            code = found["verbatim"] or found["braced"]
            if code is not None or found["mark"]:
                out.append(f"`{code or ''}`")
            elif found["math"]:
                out.append(found["math"])
            elif found["name"]:
                shown, at = self._command(found["name"], text, at, closing, depth)
                out.append(shown)
            elif found["sign"]:
                shown, at = self._sign(found["sign"], text, at)
                out.append(shown)
            elif found["brace"]:
                end = closing.get(found.start())
                if end is not None:  # one without the other is of a longer group
                    out.append(self._write(text[at:end], depth + 1))
                    at = end + 1
            else:
                out.append(_OTHERS[found["other"]])
        return "".join([*out, text[at:]])

    def _sign(self, sign: str, text: str, at: int) -> tuple[str, int]:
        if sign in _ACCENTS and (letter := _ACCENTED.match(text, at)):
            return _accented(sign, letter), letter.end()
        if sign == "\\":
            end = _LINE_END.match(text, at)
            return "\n", end.end() if end else at
        return _SPACES.get(sign, sign), at

    def _command(
        self, name: str, text: str, at: int, closing: Mapping[int, int], depth: int
    ) -> tuple[str, int]:
        if name in SIGNS or name in SILENT:
            shown = SIGNS.get(name, "")
            if text.startswith("{}", at):
                return shown, at + 2
            return shown, at + (name != "and" and text.startswith(" ", at))
        if name in _ACCENTS and (letter := _ACCENTED.match(text, at)):
            return _accented(name, letter), letter.end()
        if name in self._macros:
            return self._expanded(name, text, at, closing, depth)
        if name in ("def", "let") and (defined := _DEFINITION.match(text, at)):
            at = defined.end()
        given, end = arguments(text, at, closing, COUNTS.get(name))
        if name in DROPPED_BY_NAME:
            return "", end
        if not any(given):
            return f"\\{name}", end
        return self._shown(name, given[-1:] if name in LAST_BY_NAME else given, depth), end

    def _expanded(
        self, name: str, text: str, at: int, closing: Mapping[int, int], depth: int
    ) -> tuple[str, int]:
        count, body = self._macros[name]
        given, at = arguments(text, at, closing, count)
        for number, argument in enumerate(given, start=1):
            body = body.replace(f"#{number}", argument)
        self._room -= len(body)
        if not count and text.startswith("{}", at):
            at += 2
        return (self._write(body, depth + 1) if self._room > 0 else name), at

    def _shown(self, name: str, given: list[str], depth: int) -> str:
        first, last = given[0], given[-1]
        if name.lower().startswith(("cite", "textcite", "parencite", "autocite", "footcite")):
            return f"[{', '.join(key.strip() for key in last.split(','))}]"
        if name in ("footnote", "thanks", "footnotetext"):
            number = len(self.notes) + 1
            self.notes[number] = ""  # a note inside of it has a higher number
            self.notes[number] = " ".join(written_out(self._write(first, depth + 1)).split())
            return f"[^{number}]"
        if name == "href":
            return f"[{self._write(last, depth + 1)}]({_ESCAPED.sub(lambda mark: mark[1], first)})"
        if name in ("url", "nolinkurl", "path"):
            return first
        if name.endswith("ref") and len(given) == 1:
            return first
        if name in ("SI", "qty", "si", "unit", "SIrange"):
            return " ".join(_UNITS.sub(_unit, part).strip() for part in given)
        if name == "enquote":
            return f"“{self._write(first, depth + 1)}”"
        if name in ("textsuperscript", "textsubscript"):
            mark = raised if name == "textsuperscript" else lowered
            return mark(self._write(first, depth + 1))
        return " ".join(filter(None, (self._write(part, depth + 1) for part in given)))


def closing_braces(text: str) -> dict[int, int]:
    """For the position of each brace that opens a group: that of the one that closes it."""
    found: dict[int, int] = {}
    waiting: list[int] = []
    for brace in _BRACE.finditer(text):
        if brace[0] == "{":
            waiting.append(brace.start())
        elif brace[0] == "}" and waiting:
            found[waiting.pop()] = brace.start()
    return found


def arguments(
    text: str, at: int, closing: Mapping[int, int], most: int | None
) -> tuple[list[str], int]:
    """Up to `most` arguments in braces from `at`, without options in brackets, and their end.

    None: as many as follow without a space.
    """
    given: list[str] = []
    while most is None or len(given) < most:
        begin = at
        while option := _OPTION.match(text, begin):
            begin = option.end()
        if (most or not given) and (gap := _GAP.match(text, begin)):
            begin = gap.end()
        if begin not in closing:
            break
        given.append(text[begin + 1 : closing[begin]])
        at = closing[begin] + 1
    return given, at


def _accented(accent: str, letter: re.Match[str]) -> str:
    composed = unicodedata.normalize("NFC", (letter[1] or letter[2]) + _ACCENTS[accent])
    stands_alone = letter[0].lstrip().startswith("{") == letter[0].endswith("}")
    return composed if stands_alone else composed + "}"


def _unit(found: re.Match[str]) -> str:
    return " per " if found[1] == "per" else found[1]
