"""Parses style sheets as far as needed to detect hidden text: rules and simple selectors.

Attributes, pseudo-classes and siblings make a selector conditional: it may or may not match. Media
queries are evaluated for a wide screen. Not tinycss2 and cssselect2: they must parse every rule,
which takes 24 ms for the 14 kB of styles in a typical page and 280 ms for a sheet of 180 kB; here
skipping irrelevant rules takes 0.3 and 8 ms, and parsing all of them 3 and 66 ms.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

# Unclosed strings and URLs extend to the end, so each character is read once.
_STRING = re.compile(r"\"(?:[^\"\\\n]|\\[\s\S])*+\"?|'(?:[^'\\\n]|\\[\s\S])*+'?|url\([^)\n]*+\)?")
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_PIECE = re.compile(r"([^{}]*)([{}])")
_WIDTH = 1280  # pixels of the assumed screen
_BOUND = re.compile(r"(?:(min|max)-(?:device-)?width:|width([<>])=?)(\d+(?:\.\d+)?)(px|em|rem)")
_OTHER_MEDIA = re.compile(
    r"^(?:not|print|speech|aural|braille|tv|handheld)\b|print|prefers-|hover|forced-|portrait"
)
_MOST_COMPOUNDS = 8
_MOST_SELECTORS = 1000  # of one rule

_NAME = r"(?:[\w\-\u0080-\U0010ffff]|\\.)+"
_COMPOUND = re.compile(rf"({_NAME}|\*)?((?:[.#]{_NAME})*)(.*)", re.DOTALL)
_PART = re.compile(rf"([.#])({_NAME})")
_COMBINATOR = re.compile(r"\s*([>+~])\s*|\s+")
_ESCAPED = re.compile(r"\\(.)")
_GENERATED = re.compile(r"::|:(?:before|after|first-l)")
_BRACKETED = re.compile(r"\[[^\]]*+\]?|\([^()]*+\)?")


@dataclass(frozen=True, slots=True)
class CssRule:
    """One rule of a sheet, not yet parsed."""

    prelude: str
    body: str
    order: int


@dataclass(frozen=True, slots=True)
class Compound:
    """Requirements on one element: `p.note#first`."""

    tag: str
    names: frozenset[str]
    """Classes and ids with their `.` or `#`."""
    is_conditional: bool
    """Has further requirements that are not evaluated."""


@dataclass(frozen=True, slots=True)
class Selector:
    """Compounds from the outermost to the element itself."""

    compounds: tuple[Compound, ...]
    are_children: tuple[bool, ...]
    """For each compound but the first, whether it must be a child of the one before."""
    specificity: tuple[int, int, int]

    @property
    def key(self) -> Compound:
        """The requirements on the element itself."""
        return self.compounds[-1]

    @property
    def is_conditional(self) -> bool:
        """Whether it may or may not match."""
        return any(compound.is_conditional for compound in self.compounds)


def parse_rules(css: str) -> Iterator[CssRule]:
    """Parse the rules that apply to a wide screen, in order; linear time."""
    css = _without_comments(_STRING.sub('""', css))
    css = css[: css.rfind("}") + 1]
    blocks: list[tuple[str, list[str]]] = []  # of open blocks: prelude and declarations
    for order, piece in enumerate(_PIECE.finditer(css)):
        before, _, last = piece[1].rpartition(";")
        if piece[2] == "{":
            if blocks:
                blocks[-1][1].append(before)
            blocks.append((last.strip(), []))
        elif blocks:
            prelude, declarations = blocks.pop()
            if not prelude.startswith("@") and all(_applies(outer) for outer, _ in blocks):
                yield CssRule(prelude, ";".join([*declarations, piece[1]]), order)


def _without_comments(css: str) -> str:
    end = css.rfind("*/")
    return _COMMENT.sub(" ", css[: end + 2]) + css[end + 2 :] if end >= 0 else css


def _applies(prelude: str) -> bool:
    """Whether the rules in a block with this prelude apply; nested rules are ignored."""
    name, _, condition = prelude.partition(" ")
    if name.lower() == "@media":
        return is_for_screens(condition)
    return name.lower() in ("@layer", "@supports")


@lru_cache(256)
def is_for_screens(query: str) -> bool:
    """Whether a media query matches a wide screen."""
    return any(_matches(part.strip()) for part in query.lower().split(","))


def _matches(query: str) -> bool:
    if _OTHER_MEDIA.search(query):
        return False
    for kind, sign, number, unit in _BOUND.findall(query.replace(" ", "")):
        pixels = float(number) * (1 if unit == "px" else 16)
        is_least = kind == "min" or sign == ">"
        if pixels > _WIDTH if is_least else pixels < _WIDTH:
            return False
    return True


def parse_selectors(prelude: str) -> tuple[Selector, ...]:
    """Parse the selectors of a rule, without those of generated content and very long ones."""
    flat = _BRACKETED.sub(":x", prelude)
    parts = dict.fromkeys(part.strip() for part in flat.split(","))
    found = map(_parse_selector, islice(parts, _MOST_SELECTORS))
    return tuple(selector for selector in found if selector is not None)


def _parse_selector(text: str) -> Selector | None:
    if not text or _GENERATED.search(text):
        return None
    compounds, children = [], []
    conditional = False
    pieces = _COMBINATOR.split(text)
    if len(pieces) > 2 * _MOST_COMPOUNDS:
        return None
    for index, piece in enumerate(pieces):
        if index % 2:
            children.append(piece == ">")
            conditional = conditional or piece in ("+", "~")
            continue
        match = _COMPOUND.fullmatch(piece)
        if match is None:
            return None
        names = frozenset(
            mark + _ESCAPED.sub(r"\1", name) for mark, name in _PART.findall(match[2])
        )
        tag = (match[1] or "*").lower()
        compounds.append(Compound(tag, names, is_conditional=conditional or bool(match[3])))
    return Selector(tuple(compounds), tuple(children), _specificity(compounds))


def _specificity(compounds: list[Compound]) -> tuple[int, int, int]:
    names = [name for compound in compounds for name in compound.names]
    ids = sum(name.startswith("#") for name in names)
    return ids, len(names) - ids, sum(compound.tag != "*" for compound in compounds)


def parse_declarations(body: str) -> dict[str, tuple[str, bool]]:
    """Map each property name (lower case) to its value and whether it is `!important`.

    The last declaration wins, but a normal one never replaces an `!important` one.
    """
    found: dict[str, tuple[str, bool]] = {}
    for declaration in body.lower().split(";"):
        name, _, value = declaration.partition(":")
        bare = value.replace("!important", "").replace("! important", "")
        important = len(bare) < len(value)
        name = name.strip()
        if important or not found.get(name, ("", False))[1]:
            found[name] = (bare.strip(), important)
    return found
