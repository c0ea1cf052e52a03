"""What main-content detection asks of every element, asked once for each kind of element.

Its XPath expressions test classes and ids by regular expressions, which libxml2 has to call Python
for: half of all the time that a page took. Whether they hold depends on an element's name and some
attributes, and the elements of a page are of few kinds: those are asked, not the elements.
"""

import re
from collections.abc import Callable, Sequence
from itertools import compress
from typing import cast

from lxml import etree
from trafilatura import xpaths

_Ask = Callable[[etree._Element], list[etree._Element]]
_Kind = tuple[str, *tuple[tuple[str, str], ...]]
"""An element's name, if the expression speaks of it, and the attributes that it speaks of."""

_STEP = re.compile(r"\s*\.//\*(?:\s*\[[^\[\]]*\])+\s*")
_BRACKETED = re.compile(r"\[([^\[\]]*)\]")
_LITERAL = re.compile(r"'[^']*'|\"[^\"]*\"")
_NAMES = re.compile(r"self::(\w+)")
_ATTRIBUTES = re.compile(r"@([\w-]+)")
# All that tells of the element itself, and of nothing around or inside of it.
_OWN = re.compile(
    r"(?:self::\w+|@[\w-]+|re:test|contains|starts-with|translate|not|\bor\b|\band\b|[\s'()|,=])*"
)
_OTHER_NAME = "other"
_MOST_KINDS = 4000
_LONGEST_KIND = 400  # characters; longer ones are not kept for the next page

_LISTS = (
    xpaths.BODY_XPATH,
    xpaths.RAW_TREE_PRUNE_XPATH,
    xpaths.REMOVE_COMMENTS_AND_LISTS_XPATH,
    xpaths.OVERALL_DISCARD_XPATH,
    xpaths.TEASER_DISCARD_XPATH,
    xpaths.DISCARD_IMAGE_ELEMENTS,
)


def ask_by_kind() -> None:
    """Let trafilatura's lists hold expressions that answer the same, faster; no more than once."""
    for expressions in _LISTS:
        expressions[:] = [by_kind(expression) for expression in expressions]


def by_kind(expression: etree.XPath) -> _Ask:
    """What finds the same elements; the expression itself where it cannot be taken apart."""
    path = expression.path.strip()
    is_first = path.startswith("(") and path.endswith(")[1]")
    conditions = _conditions(path[1:-4] if is_first else path)
    own = [condition for condition in conditions if _is_own(condition)]
    if not own:
        return cast(_Ask, expression)
    found = slice(1) if is_first else slice(None)
    return _ByKind(expression, own, found=found if len(own) == len(conditions) else None)


def _conditions(path: str) -> list[str]:
    """What stands in the brackets of a path of one step to any element; nothing for other paths."""
    blank = _LITERAL.sub(lambda literal: "_" * len(literal[0]), path)
    if _STEP.fullmatch(blank) is None:
        return []
    return [path[slice(*found.span(1))] for found in _BRACKETED.finditer(blank)]


def _is_own(condition: str) -> bool:
    return _OWN.fullmatch(_LITERAL.sub("''", condition)) is not None


class _ByKind:
    """One expression, and the kinds of which it is known whether they fulfil its conditions."""

    def __init__(self, whole: etree.XPath, own: Sequence[str], *, found: slice | None) -> None:
        """`found`: which of the elements that fulfil the conditions; None: there is more to it."""
        self._whole = whole
        self._found = found
        conditions = "".join(f"[{condition}]" for condition in own)
        self._of_kinds = etree.XPath(f"*{conditions}", namespaces={"re": xpaths.REGEXP_NS})
        bare = _LITERAL.sub("", conditions)
        self._names = frozenset(_NAMES.findall(bare))
        self._attributes = frozenset(_ATTRIBUTES.findall(bare))
        only_named = all(
            name.startswith("self::") for name in re.split(r"\s*\bor\b\s*", own[0].strip())
        )
        self._looked_at = tuple(sorted(self._names)) if only_named else (etree.Element,)
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
        try:
            chosen = self._ask(set(kinds))
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
        for kind in new[:_MOST_KINDS]:
            if len(str(kind)) <= _LONGEST_KIND:
                (self._holds if kind in chosen else self._fails).add(kind)
        return chosen
