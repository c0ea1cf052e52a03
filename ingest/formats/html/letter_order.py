"""Logical order for pages whose letters are stored in the order of display, and for `bdo`."""

import re
from collections.abc import Iterable
from typing import TypeAlias

from lxml import etree, html

from ingest.formats.common.letter_order import (
    RIGHT_TO_LEFT,
    logical_order,
    logical_text,
    mirrored,
    order_evidence,
    runs_right_to_left,
)
from ingest.formats.html.text_stats import INLINE

_TEXTS = ("alt", "title", "summary", "placeholder")
_OVERRIDES = etree.XPath(
    "//body//bdo[@dir] | //body//*/@style[contains(., 'bidi-override')]/parent::*"
)
_DIRECTION = re.compile(r"direction\s*:\s*(ltr|rtl)", re.IGNORECASE)
_ADDRESS = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_CUTS = INLINE - {"br"}
_PRE = ("pre", "textarea", "listing", "xmp", "plaintext")

_Atom: TypeAlias = str | html.HtmlElement
"""A character, or an inline element as a whole."""


def reorder_page(tree: html.HtmlElement) -> None:
    """Change a page in visual order in place: its text, title and alternative texts."""
    is_right_to_left = runs_right_to_left(tree.text_content())
    for body in tree.iter("body"):
        for override in body.iter("bdo"):
            override.attrib.pop("dir", None)  # it states what the whole page is
        _reorder(body, is_right_to_left=is_right_to_left)
        for element in body.iter(etree.Element):
            for name in _TEXTS:
                if text := element.get(name):
                    element.set(name, logical_text(text))
    for title in tree.iter("title"):
        # Browsers left titles to the system, so many are logical.
        if title.text and order_evidence(title.text) < 0:
            title.text = logical_text(title.text)


def resolve_overrides(tree: html.HtmlElement) -> None:
    """Put text whose display order is overridden (`bdo`, `bidi-override`) in logical order."""
    done: set[html.HtmlElement] = set()
    for element in _OVERRIDES(tree):
        direction = _DIRECTION.search(element.get("style") or "")
        stated = direction[1] if direction else element.get("dir") or ""
        if element in done or stated.lower() not in ("ltr", "rtl"):
            continue
        done.update(element.iter(etree.Element))
        text = element.text_content()
        if stated.lower() == "rtl":
            _reverse_disguised(element, text)
        elif RIGHT_TO_LEFT.search(text) and order_evidence(text) <= 0:
            _reorder(element, is_right_to_left=runs_right_to_left(text))


def _reverse_disguised(element: html.HtmlElement, text: str) -> None:
    """Reverse an address that is stored backwards, so that only readers can use it.

    Other words from left to right are examples of the override: as stored, they make sense.
    """
    shown = text[::-1]
    is_address = _ADDRESS.search(shown) and not len(element)
    if is_address and not RIGHT_TO_LEFT.search(text):
        element.text = shown


def _reorder(root: html.HtmlElement, *, is_right_to_left: bool) -> None:
    kinds: dict[html.HtmlElement, str] = {}
    kept = {element for pre in root.iter(*_PRE) for element in pre.iter(etree.Element)}
    for element in reversed(list(root.iter(etree.Element))):  # the inner ones first
        if element.tag in ("script", "style"):
            continue
        line: list[_Atom] = []
        content: list[_Atom] = []
        for atom in _atoms(element):
            if _is_boundary(atom, kinds, keeps_lines=element in kept):
                content += [*_in_order(line, kinds, is_right_to_left=is_right_to_left), atom]
                line = []
            else:
                line.append(atom)
        content += _in_order(line, kinds, is_right_to_left=is_right_to_left)
        kinds[element] = _kind(content, kinds)
        _refill(element, content)


def _atoms(element: html.HtmlElement) -> list[_Atom]:
    atoms: list[_Atom] = list(element.text or "")
    for child in element:
        atoms.append(child)
        atoms += child.tail or ""
    return atoms


def _is_boundary(atom: _Atom, kinds: dict[html.HtmlElement, str], *, keeps_lines: bool) -> bool:
    """Whether it ends a line: a block, a line break, an element with one in it."""
    if isinstance(atom, str):
        return keeps_lines and atom in "\r\n"
    return atom.tag not in _CUTS or kinds.get(atom) == "\n"


def _kind(content: Iterable[_Atom], kinds: dict[html.HtmlElement, str]) -> str:
    """The character that stands for an element in its line: `\\n` if lines end in it."""
    found = " "
    for atom in content:
        if not isinstance(atom, str) and (atom.tag not in _CUTS or kinds.get(atom) == "\n"):
            return "\n"
        shown = atom if isinstance(atom, str) else kinds.get(atom, " ")
        if RIGHT_TO_LEFT.match(shown) or (found == " " and shown.isalnum()):
            found = shown
    return found


def _in_order(
    line: list[_Atom], kinds: dict[html.HtmlElement, str], *, is_right_to_left: bool
) -> list[_Atom]:
    shown = "".join(atom if isinstance(atom, str) else kinds.get(atom, " ") for atom in line)
    if not RIGHT_TO_LEFT.search(shown):
        return line
    ordered: list[_Atom] = []
    for place, is_turned in logical_order(shown, is_right_to_left=is_right_to_left):
        atom = line[place]
        ordered.append(mirrored(atom) if is_turned and isinstance(atom, str) else atom)
    return ordered


def _refill(element: html.HtmlElement, content: list[_Atom]) -> None:
    """Give an element this content."""
    children = [atom for atom in content if not isinstance(atom, str)]
    texts: list[list[str]] = [[]]
    for atom in content:
        if isinstance(atom, str):
            texts[-1].append(atom)
        else:
            texts.append([])
    element[:] = children
    element.text = "".join(texts[0]) or None
    for child, tail in zip(children, texts[1:], strict=True):
        child.tail = "".join(tail) or None
