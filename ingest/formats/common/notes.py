"""Foot- and endnotes of text documents, at the end of the section that refers to them."""

import re
from collections.abc import Iterable, Mapping

_MARK = re.compile(r"\[\^(\d{1,7})\]")
_HEADING = re.compile(r"#{1,6} ")


def end_sections(blocks: Iterable[str], notes: Mapping[int, str]) -> list[str]:
    """The Markdown blocks with each note (`[^4]: text`) in front of the heading that follows.

    A chunk with the mark then mostly has the note. Each is written once, at its first mark; notes
    without a mark follow at the end.
    """
    found: list[str] = []
    left = {number: f"[^{number}]: {text}" for number, text in notes.items() if text}
    waiting: list[str] = []
    for block in blocks:
        if waiting and _HEADING.match(block):
            found += waiting
            waiting = []
        found.append(block)
        if left:
            marks = (int(mark[1]) for mark in _MARK.finditer(block))
            waiting += [left.pop(number) for number in marks if number in left]
    return [*found, *waiting, *left.values()]
