"""What main-content detection asks of every element, asked once for each kind of element.

Its XPath expressions test classes and ids by regular expressions, which libxml2 has to call Python
for: a third of the time that a page took. Whether they hold depends on an element's name and some
attributes, and the elements of a page are of few kinds: those are asked, not the elements.
"""

import re
from collections.abc import Callable, Sequence
from importlib import import_module
from itertools import compress
from typing import Any, NamedTuple, cast

from lxml import etree
from trafilatura import xpaths

_Ask = Callable[[etree._Element], list[etree._Element]]
_Kind = tuple[str, *tuple[tuple[str, str], ...]]
"""An element's name, if the expression speaks of it, and the attributes that it speaks of."""

_STEP = re.compile(r"\s*\.//(\*|\w+)((?:\s*\[[^\[\]]*\])*)\s*")
_BRACKETED = re.compile(r"\[([^\[\]]*)\]")
_LITERAL = re.compile(r"'[^']*'|\"[^\"]*\"")
_NAMES = re.compile(r"self::(\w+)")
_ATTRIBUTES = re.compile(r"@([\w-]+)")
# All that tells of the element itself, and of nothing around or inside of it.
_OWN = re.compile(
    r"(?:self::\w+|@[\w-]+|re:test|contains|starts-with|translate|not|\bor\b|\band\b|[\s'()|,=])*"
)
_OTHER_NAME = "other"
_MOST_DIFFERENT = 2000  # in a page; where no element is like another, asking kinds takes longer
_MOST_KINDS = 4000
_LONGEST_KIND = 400  # characters; longer ones are not kept for the next page

_REGEXP = "http://exslt.org/regular-expressions"
# Lists of the package's `xpaths`; a release that has another name for one is only slower.
_LISTS = (
    "BODY_XPATH",
    "RAW_TREE_PRUNE_XPATH",
    "REMOVE_COMMENTS_AND_LISTS_XPATH",
    "OVERALL_DISCARD_XPATH",
    "TEASER_DISCARD_XPATH",
    "DISCARD_IMAGE_ELEMENTS",
)


def ask_by_kind() -> None:
    """Let trafilatura hold expressions that answer the same, faster; to be called once."""
    for name in _LISTS:
        expressions = getattr(xpaths, name, [])
        expressions[:] = [
            by_kind(expression) if isinstance(expression, etree.XPath) else expression
            for expression in expressions
        ]
    # The package has a function of this name, which hides the module.
    baseline: Any = import_module("trafilatura.baseline")
    if isinstance(getattr(baseline, "BASIC_CLEAN_XPATH", None), etree.XPath):
        baseline.BASIC_CLEAN_XPATH = by_kind(baseline.BASIC_CLEAN_XPATH)


def by_kind(expression: etree.XPath) -> _Ask:
    """What finds the same elements; the expression itself where it cannot be taken apart."""
    path = expression.path.strip()
    is_first = path.startswith("(") and path.endswith(")[1]")
    steps = _steps(path[1:-4] if is_first else path)
    own = [_Step(step.name, tuple(filter(_is_own, step.conditions))) for step in steps]
    if not any(step.conditions for step in own):
        return cast(_Ask, expression)
    found = slice(1) if is_first else slice(None)
    return _ByKind(expression, own, found=found if own == steps else None)


class _Step(NamedTuple):
    """One of the ways to fulfil an expression: `.//name[condition][condition]`."""

    name: str
    conditions: tuple[str, ...]

    @property
    def names(self) -> set[str]:
        """Names that an element must have one of; empty if it may have any."""
        if self.name != "*":
            return {self.name}
        first = re.split(r"\s*\bor\b\s*", self.conditions[0].strip()) if self.conditions else [""]
        named = all(part.startswith("self::") for part in first)
        return set(_NAMES.findall(self.conditions[0])) if named else set()


def _steps(path: str) -> list[_Step]:
    """The ways to fulfil an expression; none if it is of another form."""
    blank = _LITERAL.sub(lambda literal: "_" * len(literal[0]), path)
    steps, at = [], 0
    while (step := _STEP.match(blank, at)) is not None:
        brackets = _BRACKETED.finditer(blank, *step.span(2))
        steps.append(_Step(step[1], tuple(path[slice(*found.span(1))] for found in brackets)))
        at = step.end() + 1
        if blank[step.end() :][:1] != "|":
            return steps if step.end() == len(blank) else []
    return []


def _is_own(condition: str) -> bool:
    return _OWN.fullmatch(_LITERAL.sub("''", condition)) is not None


class _ByKind:
    """One expression, and the kinds of which it is known whether they fulfil its conditions."""

    def __init__(self, whole: etree.XPath, own: Sequence[_Step], *, found: slice | None) -> None:
        """`found`: which of the elements that fulfil the conditions; None: there is more to it."""
        self._whole = whole
        self._found = found
        path = "|".join(step.name + "".join(f"[{one}]" for one in step.conditions) for step in own)
        self._of_kinds = etree.XPath(path, namespaces={"re": _REGEXP})
        bare = _LITERAL.sub("", path)
        self._names = frozenset([*_NAMES.findall(bare), *(step.name for step in own)])
        self._attributes = frozenset(_ATTRIBUTES.findall(bare))
        names = [step.names for step in own]
        self._looked_at = tuple(sorted(set().union(*names))) if all(names) else (etree.Element,)
        self._holds: set[_Kind] = set()
        self._fails: set[_Kind] = set()

    def __str__(self) -> str:
        return str(self._whole)

    def __call__(self, tree: etree._Element) -> list[etree._Element]:
        elements = list(tree.iterdescendants(*self._looked_at))
        attributes = self._attributes
        names = self._names
        kinds: list[_Kind] = [
            (
                element.tag if element.tag in names else _OTHER_NAME,
                *[pair for pair in element.items() if pair[0] in attributes],
            )
            for element in elements
        ]
        different = set(kinds)
        if len(different) > _MOST_DIFFERENT:
            return cast(list[etree._Element], self._whole(tree))
        try:
            chosen = self._ask(different)
        except ValueError:  # a character that lxml reads, but does not write
            return cast(list[etree._Element], self._whole(tree))
        if not chosen:
            return []
        if self._found is None:
            return cast(list[etree._Element], self._whole(tree))
        return list(compress(elements, map(chosen.__contains__, kinds)))[self._found]

    def _ask(self, kinds: set[_Kind]) -> set[_Kind]:
        """Those for which the conditions hold."""
        new = list(kinds - self._holds - self._fails)
        if not new:
            return kinds & self._holds
        examples = etree.Element("examples")
        for name, *attributes in new:
            etree.SubElement(examples, name, dict(attributes))
        found = set(self._of_kinds(examples))
        chosen = {kind for kind, example in zip(new, examples, strict=True) if example in found}
        chosen |= kinds & self._holds
        if len(self._holds) + len(self._fails) + len(new) > _MOST_KINDS:
            self._holds, self._fails = set(), set()
        for kind in new:
            if len(str(kind)) <= _LONGEST_KIND:
                (self._holds if kind in chosen else self._fails).add(kind)
        return chosen
