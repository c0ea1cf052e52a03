"""Inline elements that readers see otherwise than their text alone reads."""

import re

from lxml import etree, html

from ingest.formats.html.by_name import ByName
from ingest.formats.html.inline_text import UNSPACED_BREAK, text_before

_READINGS = ("rt", "rtc")
_DATE = re.compile(r"\s*(\d{4}-\d\d-\d\d)(?:[T\s].{0,40})?\s*")
_HAS_DATE = re.compile(r"\d{4}|\d{1,2}[./-]\d{1,2}[./-]\d{2}")
_LONGEST_DATE = 60  # characters; longer contents are more than a date
_NOTES = ByName(
    "//body//*[self::span or self::small]"
    "[@role='doc-footnote' or @role='note'"
    " or contains(concat(' ', @class, ' '), ' footnote ')"
    " or contains(concat(' ', @class, ' '), ' sidenote ')"
    " or contains(concat(' ', @class, ' '), ' marginnote ')]"
    "[not(.//p or .//div or .//li)]"
)
# What unfolds a note in the margin on small screens (Tufte CSS).
_TOGGLES = ByName("//body//*[contains(@class, 'margin-toggle')]")
_SPOKEN = ByName(
    "//body//*[contains(concat(' ', @class, ' '), ' sr-only ')"
    " or contains(@class, 'visually-hidden') or contains(@class, 'visuallyhidden')"
    " or contains(@class, 'screen-reader-text') or contains(@class, 'offscreen')]"
)
_SHORTEST_NOTE = 4  # characters; shorter ones are marks of notes
_LONGEST_TITLE = 100  # characters of an expanded abbreviation
_TITLED = etree.XPath("//body//abbr[@title] | //body//acronym[@title]")


def write_inline(tree: html.HtmlElement, used: str) -> None:
    """Change the page in place: readings, dates, notes and what only screen readers say.

    `used`: see by_name.used_names().
    """
    for ruby in list(tree.iter("ruby")):
        _write_readings(ruby)
    for time in list(tree.iter("time")):
        _write_date(time)
    for toggle in _TOGGLES(tree, used):
        toggle.drop_tree()
    for note in _NOTES(tree, used):
        _set_apart(note)
    for spoken in _SPOKEN(tree, used):
        _resolve_spoken(spoken)
    _expand_abbreviations(tree)


def _write_readings(ruby: html.HtmlElement) -> None:
    """`漢(kan)字(ji)` as `漢字(kanji)`: a reading between two characters hides the word."""
    readings = "".join(
        "".join(element.itertext())
        for element in ruby.iter("rt")
        if element.getparent() is not None
    )
    for element in list(ruby.iter("rp", *_READINGS)):
        if element.getparent() is not None:
            element.drop_tree()
    if next(ruby.iter("a"), None) is None:
        base, tail = " ".join(ruby.text_content().split()), ruby.tail
        ruby.clear()
        ruby.text, ruby.tail = UNSPACED_BREAK.sub("", base), tail
    ruby.tag = "span"
    readings = " ".join(readings.split())
    if readings:
        last = etree.SubElement(ruby, "span")
        last.text = f"({readings})"


def _write_date(time: html.HtmlElement) -> None:
    """Write the date behind times such as "2 hours ago", which are true for one day only."""
    stated = _DATE.fullmatch(time.get("datetime") or "")
    shown = time.text_content().strip()
    if stated and shown and len(shown) <= _LONGEST_DATE and not _HAS_DATE.search(shown):
        last = etree.SubElement(time, "span")
        last.text = f" ({stated[1]})"


def _set_apart(note: html.HtmlElement) -> None:
    """Put a note inside a sentence in parentheses: sheets show it in the margin."""
    text, before = note.text_content().strip(), text_before(note)
    is_mark = len(text) < _SHORTEST_NOTE or text.startswith(("(", "["))
    if is_mark or not before.strip() or next(note.iter("sup"), None) is not None:
        return
    note.tag = "span"
    note.text = f"{'' if before[-1:].isspace() else ' '}({(note.text or '').lstrip()}"
    last = etree.SubElement(note, "span")
    last.text = ")"


def _resolve_spoken(spoken: html.HtmlElement) -> None:
    """Drop what is hidden from screen readers if the words for them say the same.

    `<span aria-hidden=true>4.5</span><span class=sr-only>4.5 of 5 stars</span>` is no 4.54.5.
    """
    if spoken.getparent() is None or next(spoken.iterancestors("pre"), None) is not None:
        return
    said = _letters(spoken.text_content())
    for other in (spoken.getprevious(), spoken.getnext()):
        if other is None or other.get("aria-hidden") != "true" or other.getparent() is None:
            continue
        shown = _letters(other.text_content())
        if shown and shown in said:
            other.drop_tree()
    before = text_before(spoken)
    if before[-1:].isalnum() and said:
        spoken.text = f" {spoken.text or ''}"
    if said and (spoken.tail or "")[:1].isalnum():
        spoken.tail = f" {spoken.tail}"


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text)).casefold()


def _expand_abbreviations(tree: html.HtmlElement) -> None:
    """Keep the full form where the page has it first; the converter writes it in parentheses."""
    seen: set[str] = set()
    for element in _TITLED(tree):
        title = " ".join(element.get("title").split())
        key = title.casefold()
        near = text_before(element).casefold()
        text = element.text_content()
        element.tag = "abbr"
        if (
            key in seen
            or key in near
            or key == text.casefold().strip()
            or len(title) > _LONGEST_TITLE
            or _DATE.fullmatch(title)
        ):
            del element.attrib["title"]
        seen.add(key)
