"""Finds the classes and functions of source code, by the lines that begin them and by indents.

No parser: it needs to be right for code that is indented as usual, in about 50 languages, and never
slow or wrong for the rest. Nothing is found in minified code, and little in code without indents.
"""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Final

from ingest.chunking.structure import Heading, Position, Structure

_DEEPEST: Final = 4  # definitions inside of each other
_LONGEST: Final = 300  # characters of a line that are read
_NAME: Final = r"(?P<name>[^\W\d][\w$]*(?:(?:\.|::|\#|:(?=\w))~?[^\W\d][\w$]*)*[?!]?)"
_MODIFIERS: Final = (
    r"(?:(?:public|private|protected|internal|static|final|abstract|sealed|open|override|virtual"
    r"|async|export|default|declare|unsafe|extern|const|inline|partial|readonly|data|inner"
    r"|companion|suspend|operator|tailrec|local|global|case|implicit|mutating|nonisolated"
    r"|fileprivate|pub(?:\([^)\s]*\))?|constexpr|pure|elemental|recursive|strictfp|external|annotation|typedef"
    r"|enum(?=\s+(?:class|struct)\b)|fun(?=\s+interface\b)"
    r"|template\s*<[^>]*>|create(?:\s+or\s+(?:replace|alter))?|temp|temporary)\s++)*+"
)
# The words that begin a definition, by language.
_KEYWORDS: Final = """
class def: python
class interface enum namespace module function function*: javascript jsx typescript tsx vue svelte
class interface enum record @interface: java
class interface object enum: kotlin
class trait object enum def: scala groovy
class struct interface enum record namespace: csharp
class struct union enum namespace: c cpp
class struct interface trait enum function namespace: php
class struct protocol extension enum actor func: swift
@interface @implementation @protocol: objectivec
class mixin extension enum: dart
class module def: ruby
func type: go
fn struct enum trait mod union macro_rules!: rust
fn: zig
sub package: perl
function: lua bash
function struct module macro: julia
module class interface type member: fsharp
def defp defmodule defmacro defprotocol defimpl: elixir
class data newtype module: haskell
module class: ocaml
contract library interface struct function modifier: solidity
proc func method iterator template macro type: nim
class filter: powershell
class module sub function structure interface property: vb
procedure function constructor destructor unit program: pascal
subroutine function module program: fortran
function procedure table view trigger package index type: sql
type interface enum input union scalar: graphql
message service enum rpc struct exception: protobuf thrift
module task function entity architecture package process: verilog vhdl
function macro: cmake
"""
_METHODS: Final = (
    r"|[ \t]+(?:(?:public|private|protected|static|async|get|set|readonly|abstract|override)\s++)*+"
    r"[*\#]?(?!(?:if|for|while|switch|catch|with|function|return)\b)(?P<method>[\w$]++)\s*"
    r"(?:<[^<>]*>)?\((?:(?!=>)[^\"'`])*\{\s*$"
    r"|[ \t]*(?:(?:export|default|const|let|var|static)\s++)*+(?P<arrow>[\w$.]++)\s*"
    r"(?::[^=;]{1,80}=(?!>)|[=:])\s*"  # its type
    r"(?:(?:React\.)?(?:memo|forwardRef|useCallback|observer|defineComponent)(?:<[^<>]*>)?\(\s*)?"
    r"(?:async\s+)?(?:function\b|(?:\([^()]*\)|[\w$]++)\s*(?::\s*[^=]{1,60})?=>)"
    r"|(?:(?:export|default)\s++)*+(?:const|let|var)\s++(?P<object>[\w$]++)\s*(?::[^=;]{1,80})?"
    r"=\s*\{\s*$"
)
_TYPED: Final = (  # return type, name, parameters; no call, which ends in `;` or begins so
    r"|[ \t]*(?!(?:return|else|new|throw|case|delete|goto|await|yield|using|typedef|package|import"
    r"|if|for|while|switch|catch|do)\b)"
    r"(?:(?:[\w:<>,\[\]*&?~@.]++\s++)++[*&]*(?P<method>~?[^\W\d][\w$]*(?:::~?\w+)*)\s*"
    r"\([^;\"]*(?<!;)$|(?P<constructor>~?[^\W\d][\w$]*(?:::~?\w+)*)\s*\([^;\"']*(?<=[{):])$)"
)
_TYPED_LANGUAGES: Final = ["c", "cpp", "java", "csharp", "dart", "groovy", "solidity", "objectivec"]
_EXTRA: Final = {
    "javascript jsx typescript tsx vue svelte": _METHODS,
    "php": r"|[ \t]*function\s+&?(?P<method>\w+)",
    "objectivec": r"|[-+]\s*\([^()]*\)\s*(?P<selector>\w+)",
    "lisp clojure": r"|\(def[\w-]*\*?\s+\(?(?P<method>[^\s()]+)|\(define\s+\(?(?P<arrow>[^\s()]+)",
    "haskell": (
        r"|(?P<method>[a-z_][\w']*)\s*::"
        r"|instance\s+(?:[^=]*=>\s*)?(?P<instance>\w[\w. ]*?)\s*(?:\(|where\b|$)"
    ),
    "ocaml fsharp": r"|[ \t]*let\s+(?:rec\s+|inline\s+)*(?P<method>[a-z_][\w']*)\s+[^=\s]",
    "erlang": r"|(?P<method>[a-z]\w*)\([^)]*\)\s*(?:when\b.*)?->",
    "r": (
        r"|[ \t]*(?P<method>[\w.]+)\s*(?:<-|=)\s*(?:function|(?:R6::)?R6Class)\b"
        r"|set(?:Class|Generic|Method|RefClass|Validity)\(\s*[\"'](?P<generic>[^\"']+)"
    ),
    "lua": r"|[ \t]*(?:local\s+)?(?P<method>[\w.:]+)\s*=\s*function\b",
    "bash": r"|[ \t]*(?P<method>[\w:.-]+)\s*\(\)",
    "batch": r"|:(?P<method>\w+)\s*$",
    "asm": r"|(?P<method>[A-Za-z_.$][\w.$@]*):",
    "cobol": r"|[ \t]*(?:\d{6})?[ \t]*(?P<method>[\w-]+)\s+(?:SECTION|DIVISION)\s*\.",
    "zig": (
        r"|[ \t]*(?:pub\s+)?const\s+(?P<method>\w+)\s*=\s*(?:packed\s+|extern\s+)?"
        r"(?:struct|enum|union)\b"
    ),
    "rust": (
        r"|[ \t]*(?:unsafe\s+)?impl(?:<[^{]*?>)?\s+(?:[^{]{1,80}?\sfor\s+)?(?P<method>[\w:]+)"
    ),
    "powershell": r"|[ \t]*function\s+(?P<method>[\w:-]+)",
    "go": (
        r"|func\s+\(\s*(?:\w+\s+)?\*?(?P<receiver>\w+)[^()]*\)\s*(?P<method>\w+)"
        r"|var\s+(?P<function>\w+)\s*=\s*func\b|\t(?P<grouped>\w+)\s+(?:struct|interface)\s*\{\s*$"
    ),
    "csharp": (
        r"|[ \t]+(?:(?:public|private|protected|internal|static|virtual|override|abstract|sealed"
        r"|new|required|event)\s++)++[\w<>,?\[\].]++\s++(?P<property>[^\W\d]\w*)\s*(?:\{|=>|$)"
    ),
    "julia": r"|[ \t]*(?P<method>\w[\w!.]*)\([^()]*\)\s*=(?!=)",
    "swift": (
        r"|[ \t]*(?:(?:public|private|convenience|required|override)\s++)*+"
        r"(?P<method>init|deinit)\b"
    ),
    "kotlin": (
        r"|[ \t]*(?:(?!fun\b)\w+\s+){0,6}fun\s+(?:<[^()]*>\s+)?"
        r"(?:(?P<receiver>[\w.]+)(?:<[^()]*>)?\??\.)?(?:`(?P<quoted>[^`]+)`|(?P<method>\w+))"
        r"|[ \t]*(?:\w+\s+)?(?P<constructor>constructor|init)\b"
    ),
    "dart": r"|[ \t]*(?:(?!get\b)[\w<>?,]+\s+){0,4}get\s+(?P<getter>\w+)",
    "hcl": (
        r"|(?P<block>[a-z_]\w*)\s+\"(?P<kind>[^\"]+)\"(?:\s+\"(?P<method>[^\"]+)\")?\s*\{"
        r"|(?P<unnamed>locals|terraform)\s*\{"
    ),
    "yaml": (
        r"|[ \t]*(?:-[ \t]+)?(?P<key>[\w./$-]+|\"[^\"]+\"|'[^']+'):[ \t]*(?:[|>][-+]?|&\w+)?[ \t]*"
        r"(?:\#.*)?$"
    ),
    "toml ini": r"|\[\[?\s*+(?P<table>[^\[\]]*[^\[\]\s])\s*\]\]?\s*(?:[#;].*)?$",
    "makefile": r"|(?P<method>[\w./%-]+)\s*:(?!=)",
    "cpp": (
        r"|[ \t]*(?:[\w:<>,*&]++\s++)*+[*&]*(?P<operator>(?:\w+::)*operator\s*[^\s\w;]{1,3})"
        r"\s*\([^;\"]*$"
    ),
}  # fmt: skip
_FLAT: Final = frozenset(
    ["sql", "batch", "asm", "cobol", "makefile", "haskell", "erlang", "toml", "ini"]
)
"""Languages whose definitions end where the next one begins, whatever the indents are."""
_IGNORING_CASE: Final = frozenset(
    ["sql", "vb", "pascal", "fortran", "cobol", "powershell", "vhdl", "cmake"]
)
_COMMENT: Final = re.compile(r"//|/\*|\*|\#|--|@|;;|\[\[?\w|%|'|<!--|///")
_GOES_ON: Final = re.compile(
    r"[{}()\]:]|(?:end|else|elif|except|finally|catch|rescue|ensure|begin|where|then|do"
    r"|deriving|as|is|language|returns|throws)\b|(?:public|private|protected)$"
    r"|(?!(?:if|for|while|with|try|match|async)\b)[\w ]+:$",
    re.IGNORECASE,
)
_OF_FILE: Final = re.compile(r"(?:package|namespace)\b")
"""With a `;` behind its name, it holds what follows, whatever the indents are."""
_QUOTES: Final = re.compile(r'"""|' + r"'''")
_WITH_BLOCK_STRINGS: Final = frozenset(
    "python dart groovy toml elixir julia scala kotlin swift java csharp nim graphql".split()  # noqa: SIM905
)
"""Their triple quotes may hold what looks like definitions; elsewhere such quotes are escapes."""


def definitions_of(text: str, structure: Structure) -> list[Heading]:
    """The definitions of a text that is one block of code, perhaps below a title; else none."""
    if len(structure.blocks) != 1 or structure.blocks[0].kind != "verbatim":
        return []
    block = structure.blocks[0]
    fence = block.repeated_header
    above = structure.headings[-1] if structure.headings else None
    before = text[above.end : block.start] if above else text[: block.start]
    if fence is None or before.strip() or text[block.end :].strip():
        return []
    language = text[slice(*fence)].strip("`~ \n")
    level = above.level if above else 0
    return read_definitions(text, fence[1], block.end, language, level=level)


def read_definitions(
    text: str, start: Position, end: Position, language: str, *, level: int
) -> list[Heading]:
    """The definitions between two line starts as headings, below `level`.

    A heading without a title ends the one before: the code after it is in none. Comments and
    decorators above a definition belong to it. Empty for languages that are not known.
    """
    pattern = _patterns().get(language)
    if pattern is None:
        return []
    reader = _Reader(pattern, level=level, is_flat=language in _FLAT)
    has_strings, is_quoted = language in _WITH_BLOCK_STRINGS, False
    for position, line in _lines(text, start, end):
        was_quoted = is_quoted
        if has_strings and ('"""' in line or "'''" in line):
            is_quoted ^= len(_QUOTES.findall(line)) % 2 == 1
        if not was_quoted:
            reader.read(position, line)
    return reader.found


class _Reader:
    def __init__(self, pattern: re.Pattern[str], *, level: int, is_flat: bool) -> None:
        self.found: list[Heading] = []
        self._pattern = pattern
        self._level = level
        self._is_flat = is_flat
        self._indents: list[int] = []
        """Of the definitions around the line, from the outermost."""
        self._lead: tuple[int, Position] | None = None
        """Indent and start of the comments and decorators directly above the line."""

    def read(self, position: Position, line: str) -> None:
        words = line.lstrip()
        if not words:
            self._lead = None
            return
        indent = len(line) - len(words)
        if "\t" in line[:indent]:
            indent = len(line[:indent].expandtabs(4))
        lead = self._lead if self._lead and self._lead[0] == indent else None
        match = self._pattern.match(line)
        if match is None and _COMMENT.match(words):
            self._lead = lead or (indent, position)
            return
        self._lead = None
        is_outside = self._indents and indent <= self._indents[-1] and not self._is_flat
        if match or (is_outside and not _GOES_ON.match(words)):
            self._begin(match, line, indent, lead[1] if lead else position)

    def _begin(self, match: re.Match[str] | None, line: str, indent: int, start: Position) -> None:
        """Begin a definition, or code outside of the last one."""
        while self._indents and (self._is_flat or indent <= self._indents[-1]):
            self._indents.pop()
        if len(self._indents) == _DEEPEST:
            return
        title = ".".join(filter(None, match.groups())) if match else ""
        level = self._level + len(self._indents) + 1
        self.found.append(Heading(start=start, end=start, level=level, title=title))
        if match:
            is_of_file = _OF_FILE.match(match[0]) and not indent
            self._indents.append(-1 if is_of_file and line.endswith(";") else indent)


def _lines(text: str, start: Position, end: Position) -> Iterator[tuple[Position, str]]:
    """Each line's start, and what is read of it."""
    while start < end:
        line_end = text.find("\n", start, end)
        line_end = line_end if line_end >= 0 else end
        yield start, text[start : min(line_end, start + _LONGEST)].rstrip()
        start = line_end + 1


@cache
def _patterns() -> Mapping[str, re.Pattern[str]]:
    """What begins a definition, by language."""
    sources: dict[str, str] = {}
    for line in _KEYWORDS.strip().splitlines():
        words, _, languages = line.partition(": ")
        either = "|".join(map(re.escape, words.split()))
        generics = r"(?:<[^<>]*>\s*)?"
        for language in languages.split():
            sources[language] = rf"[ \t]*{_MODIFIERS}(?:{either})(?!\w)\s*{generics}{_NAME}"
    for language in _TYPED_LANGUAGES:
        sources[language] += _TYPED
    for languages, extra in _EXTRA.items():
        for language in languages.split():
            source = sources.get(language, "")
            sources[language] = source + extra if source else extra.removeprefix("|")
    return {
        language: re.compile(source, re.IGNORECASE if language in _IGNORING_CASE else 0)
        for language, source in sources.items()
    }
