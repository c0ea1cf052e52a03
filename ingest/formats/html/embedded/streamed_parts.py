"""Parts of a page that React sends behind it, for a script to put in place."""

import re
from collections.abc import Collection, Iterator
from itertools import islice

from lxml import etree, html

_PARTS = etree.XPath("//*[@hidden][contains(@id, 'S:')]")
_MOVE = re.compile(r"""\$R[A-Z]\(["']([^"'<>]{1,60})["'],\s?["']([^"'<>]{1,60})["']""")
_PLACE_LETTERS = ("B:", "P:")
_MOST = 10_000  # moves


def place_streamed_parts(tree: html.HtmlElement) -> bool:
    """Change the page in place: `<div hidden id="S:1">` stands where `<template id="B:1">` was.

    Hidden elements without a place stay as they are. Returns whether a part was placed by its
    number only, because the page does not have the script that would show it.
    """
    places = {place.get("id"): place for place in tree.iter("template")}
    parts = {part.get("id"): part for part in _PARTS(tree)} if places else {}
    is_unsure = False
    for to, name, is_said in islice(_moves(tree, parts), _MOST):
        part, place = parts.get(name), places.get(to)
        if part is None or place is None or part in place.iterancestors():
            continue
        del parts[name], places[to]
        part.attrib.pop("hidden")
        _take_out(part)
        part.tail, place.tail = place.tail, None
        place.getparent().replace(place, part)
        is_unsure |= not is_said
    return is_unsure


def _moves(tree: html.HtmlElement, parts: Collection[str]) -> Iterator[tuple[str, str, bool]]:
    """Places and parts that the scripts of the page name (True); then those of one number."""
    for script in tree.iter("script"):
        if script.text and "$R" in script.text:
            for move in _MOVE.finditer(script.text):
                name, to = (move[1], move[2]) if move[1] in parts else (move[2], move[1])
                yield to, name, True
    for name in list(parts):
        for letter in _PLACE_LETTERS:
            yield name.replace("S:", letter), name, False


def _take_out(part: html.HtmlElement) -> None:
    """Remove the part, but not the text behind it."""
    parent, previous = part.getparent(), part.getprevious()
    if part.tail and previous is not None:
        previous.tail = (previous.tail or "") + part.tail
    elif part.tail:
        parent.text = (parent.text or "") + part.tail
    part.tail = None
    parent.remove(part)
