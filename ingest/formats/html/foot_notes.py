"""Moves the notes of pages and books to the end of the section that refers to them.

A note is the target of a short link (`1`, `[2]`, `*`) that links back or is marked as a note. One
below a heading of its own ("References") stays where its author put it.
"""

import re
from bisect import bisect_right
from collections.abc import Collection, Iterable, Mapping

from lxml import etree, html

_LABEL = re.compile(r"\s*[\[(]?\s*(?:note\s)?(\d{1,4}|[a-z]|[*†‡§¶#]{1,3})\s*[\])]?\s*", re.I)
_LINKS = etree.XPath("//a[contains(@href, '#')]")
_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_BLOCKS = frozenset({"li", "p", "div", "aside", "dd", "dt", "section", "blockquote", "table", "td"})
_ROOTS = frozenset({"html", "body", "article", "main"})
_TYPES = frozenset({"footnote", "endnote", "rearnote", "doc-footnote", "doc-endnote"})
_LISTS = re.compile(r"doc-endnotes|\b(?:foot|end|rear)notes\b|footnote-list")
_TYPE = "{http://www.idpf.org/2007/ops}type"
_AROUND_HEADINGS = ("a", "header", "hgroup")
_LONGEST = 5000  # characters; more is a text of its own
_HOPS = 6


def end_sections(tree: html.HtmlElement) -> None:
    """Change the page in place: marks are `[^4]`, notes `[^4]: text` in front of a heading."""
    links = [link for link in _LINKS(tree) if _label(link)]
    if not links:
        return
    order = {element: at for at, element in enumerate(tree.iter(etree.Element))}
    marks = _notes([link for link in links if link in order], order)
    if not marks:
        return
    headings = [heading for heading in tree.iter(*_HEADINGS) if _is_place(heading)]
    starts = [order[heading] for heading in headings]
    own = _own_sections(tree, marks, set(headings))
    for note, referring in marks.items():
        if note in own or any(other in marks for other in note.iterancestors()):
            continue
        label = _label(referring[0])
        for link in referring:
            if _label(link) == label:
                _write_mark(link, label)
        written = _written(note, label)
        if _is_term(note.getprevious()):
            note.getprevious().drop_tree()
        at = bisect_right(starts, order[referring[0]])
        if at < bisect_right(starts, order[note]):
            _before(headings[at], written)
        else:
            note.addprevious(written)
        _remove(note)


def _notes(
    links: Iterable[html.HtmlElement], order: Mapping[html.HtmlElement, int]
) -> dict[html.HtmlElement, list[html.HtmlElement]]:
    """The links to each note."""
    targets: dict[str, html.HtmlElement] = {}
    for element in order:
        for name in (element.get("id"), element.get("name")):
            if name:
                targets.setdefault(name, element)
    marks: dict[html.HtmlElement, list[html.HtmlElement]] = {}
    for link in links:
        if (note := _note_of(link, targets, order)) is not None:
            marks.setdefault(note, []).append(link)
    return marks


def _label(link: html.HtmlElement) -> str:
    found = _LABEL.fullmatch("".join(link.itertext()))
    return found[1] if found else ""


def _is_place(heading: html.HtmlElement) -> bool:
    """Whether notes can stand in front of it: not in a table, nor the heading of notes."""
    if next(heading.iterancestors("table", "aside"), None) is not None:
        return False
    parent = heading.getparent()
    return parent is None or not _LISTS.search(_kinds(parent))


def _kinds(element: html.HtmlElement) -> str:
    names = (element.get(name) or "" for name in ("class", "role", "epub:type", _TYPE))
    return " ".join(names).lower()


def _note_of(
    link: html.HtmlElement,
    targets: Mapping[str, html.HtmlElement],
    order: Mapping[html.HtmlElement, int],
) -> html.HtmlElement | None:
    """The block that the link leads to, if that is a note behind it."""
    path, _, fragment = link.get("href").partition("#")
    note = targets.get(fragment)
    if note is not None and note in link.iterancestors():
        return None  # the link of a term or heading to itself
    for _ in range(_HOPS):
        if note is None or note.tag in _BLOCKS or note.tag in _ROOTS or note.tag in _HEADINGS:
            break
        note = note.getparent()
    if note is not None and _is_term(note):
        note = note.getnext()
    if note is None or note.tag not in _BLOCKS or order[note] <= order[link]:
        return None
    around = [note, *list(note.iterancestors())[:2]]
    is_marked = bool(_TYPES & set(_kinds(note).split())) or any(
        _LISTS.search(_kinds(element)) for element in around
    )
    if (path or not is_marked) and not _links_back(note, link):
        return None
    text = note.text_content()
    return note if text.strip() and len(text) <= _LONGEST else None


def _is_term(element: html.HtmlElement | None) -> bool:
    """Whether it is only the mark of the note behind it (Texinfo has headings)."""
    if element is None:
        return False
    is_mark = element.tag in _HEADINGS and _LABEL.fullmatch(element.text_content())
    return element.tag == "dt" or bool(is_mark)


def _links_back(note: html.HtmlElement, link: html.HtmlElement) -> bool:
    near = [link, *link.iterdescendants(), *list(link.iterancestors())[:2]]
    names = {item.get(name) for item in near for name in ("id", "name")}
    previous = link.getprevious()  # an anchor of its own in front of the link
    if previous is not None and not previous.tail:
        names |= {previous.get("id"), previous.get("name")}
    if _is_term(note.getprevious()):
        note = note.getprevious()
    return any(back.get("href", "").rpartition("#")[2] in names for back in note.iter("a"))


def _write_mark(link: html.HtmlElement, label: str) -> None:
    """Write the mark in place of the link, or of the raised text that is nothing else."""
    parent = link.getparent()
    mark = link
    while (
        parent is not None
        and parent.tag in ("sup", "span", "small")
        and _LABEL.fullmatch(parent.text_content())
    ):
        mark, parent = parent, parent.getparent()
    if mark.tag == "a" and next(mark.iterancestors("sup"), None) is not None:
        return  # one of several, which are written together
    tail = mark.tail
    names = {name: mark.get(name) for name in ("id",) if mark.get(name)}
    mark.clear()
    mark.tag, mark.text, mark.tail = "span", f"[^{label}]", tail
    mark.attrib.update(names)


def _own_sections(
    tree: html.HtmlElement, notes: Collection[html.HtmlElement], headings: Collection[object]
) -> set[html.HtmlElement]:
    """Notes in sections that have no text in front of them."""
    own: set[html.HtmlElement] = set()
    skipped: html.HtmlElement | None = None
    is_bare = False
    for event, element in etree.iterwalk(tree, events=("start", "end")):
        if event == "end":
            skipped = None if element is skipped else skipped
            text = element.tail
        elif skipped is None and (element in notes or element in headings):
            skipped, text = element, None
            if element in headings:
                is_bare = True
            elif is_bare:
                own.add(element)
        else:
            text = element.text
        if skipped is None and text and text.strip() and not _LABEL.fullmatch(text):
            is_bare = False
    return own


def _written(note: html.HtmlElement, label: str) -> html.HtmlElement:
    """A copy of the note's content behind its mark, without the links back."""
    made = note.makeelement("div")
    cells = list(note.iter("td"))[-1:] if note.tag == "table" else [note]
    for source in cells:
        made.text = source.text
        made.extend(list(source))
    for back in list(made.iter("a")):
        text = back.text_content().strip(" \xa0\ufe0e\ufe0f\n")
        if back.get("href", "").find("#") >= 0 and (len(text) < 3 or _LABEL.fullmatch(text)):
            back.drop_tree()
    if len(made) == 1 and made[0].tag == "p" and not (made.text or "").strip():
        made = made[0]
        made.tail = None
    mark = re.escape(label)
    bare = "" if note.tag == "li" else rf"|{mark}(?![\w.,]*\w)[.):]?"
    prefix = rf"\s*(?:\[\s*(?:{mark})?\s*\]|\(\s*(?:{mark})?\s*\)|[\^↑]{bare})?\s*"
    begin = re.match(prefix, made.text_content())
    _consume(made, len(begin[0]) if begin else 0)
    while len(made) and not made[0].text_content().strip() and not made[0].tail:
        made.remove(made[0])
    is_text = bool((made.text or "").strip())
    first = made[0] if len(made) and made[0].tag == "p" and not is_text else made
    first.text = f"[^{label}]: {first.text or ''}"
    return made


def _consume(element: html.HtmlElement, count: int) -> None:
    """Remove the first characters of the element's text."""
    for event, part in etree.iterwalk(element, events=("start", "end")):
        name = "text" if event == "start" else "tail"
        text = getattr(part, name) or ""
        setattr(part, name, text[count:])
        count -= min(count, len(text))
        if not count:
            return


def _remove(note: html.HtmlElement) -> None:
    """Remove the note, and what was only around notes: lists, rules, their heading."""
    parent = note.getparent()
    note.drop_tree()
    while parent is not None and parent.tag not in _ROOTS:
        heading = next(parent.iter(*_HEADINGS), None)
        rest = parent.text_content().strip()
        if rest and (heading is None or rest != heading.text_content().strip()):
            return
        if next(parent.iter("img", "table"), None) is not None:
            return
        parent, empty = parent.getparent(), parent
        empty.drop_tree()


def _before(heading: html.HtmlElement, written: html.HtmlElement) -> None:
    place = heading
    while (parent := place.getparent()) is not None and parent.tag in _AROUND_HEADINGS:
        place = parent
    place.addprevious(written)
