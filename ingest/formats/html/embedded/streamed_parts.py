"""Parts of a page that React sends behind it, for a script to put in place."""

import re
from collections.abc import Collection, Iterator
from itertools import islice

from lxml import etree, html

_PARTS = etree.XPath("//*[@hidden][contains(@id, 'S:')]")
_PLACES = etree.XPath("//template[@id]")
_MOVE = re.compile(r"""\$R[A-Z]\(["']([^"'<>]{1,60})["'],\s?["']([^"'<>]{1,60})["']""")
_PLACE_LETTERS = ("B:", "P:")
_MOST = 10_000  # moves


def place_streamed_parts(tree: html.HtmlElement) -> None:
    """Change the page in place: `<div hidden id="S:1">` stands where `<template id="B:1">` was.

    Hidden elements that no script would show stay as they are.
    """
    parts = {part.get("id"): part for part in _PARTS(tree)}
    if not parts:
        return
    places = {place.get("id"): place for place in _PLACES(tree)}
    for to, name in islice(_moves(tree, parts), _MOST):
        part, place = parts.get(name), places.get(to)
        if part is None or place is None or part in place.iterancestors():
            continue
        del parts[name], places[to]
        part.attrib.pop("hidden")
        _take_out(part)
        part.tail, place.tail = place.tail, None
        place.getparent().replace(place, part)


def _moves(tree: html.HtmlElement, parts: Collection[str]) -> Iterator[tuple[str, str]]:
    """Places and parts that the scripts of the page name; then those with the same number."""
    for script in tree.iter("script"):
        if script.text and "$R" in script.text:
            for move in _MOVE.finditer(script.text):
                yield (move[2], move[1]) if move[1] in parts else (move[1], move[2])
    for name in list(parts):
        for letter in _PLACE_LETTERS:
            yield name.replace("S:", letter), name


def _take_out(part: html.HtmlElement) -> None:
    """Remove the part, but not the text behind it."""
    parent, previous = part.getparent(), part.getprevious()
    if part.tail and previous is not None:
        previous.tail = (previous.tail or "") + part.tail
    elif part.tail:
        parent.text = (parent.text or "") + part.tail
    part.tail = None
    parent.remove(part)
