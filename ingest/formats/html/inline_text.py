"""Text inside paragraphs: line breaks of the source, super- and subscripts, marks of notes."""

import re

from lxml import etree, html

from ingest.formats.common.raised_text import CONTEXT, subscript, superscript
from ingest.formats.html.by_name import ByName
from ingest.formats.html.text_stats import INLINE

_BLANKS = " \t\r\n\f"
_LINE_BREAK = re.compile(f"[{_BLANKS}]*[\r\n][{_BLANKS}]*")
_BLANK_LINE = re.compile(r"\n[ \t\r\f]*\n\s*")
_UNSPACED = "[\u2e80-\u303f\u3040-\u30ff\u3400-\u9fff\uff01-\uff60]"
UNSPACED_BREAK = re.compile(f"(?<={_UNSPACED}) (?={_UNSPACED})")
_KEPT = ("pre", "textarea", "listing", "xmp", "plaintext")
_KEEPS_LINES = re.compile(r"white-space\s*:\s*(?:pre|break-spaces)", re.IGNORECASE)
_STYLED = etree.XPath("//*/@style[contains(., 'white-space')]/parent::*")
_HOPS = 20  # elements that are looked at for the text around one
_WRAPPED_LINE = 40  # characters; lines of verses and addresses are shorter
_ENUMERATED = re.compile(r"\w{1,3} ?[.):]")
_SENTENCE_END = tuple(".!?:;…")
_NOTE_TYPES = frozenset({"doc-noteref", "footnote-ref", "footnote-reference", "fnref", "noteref"})
_BACK = frozenset({"", "↩", "↑", "↵", "⏎", "⤴", "^", "¶", "#", "§", "🔗", "\uf0c1"})
_NOTES = ByName(
    "//a[@role='doc-noteref' or contains(concat(' ', @class, ' '), ' footnote-ref ')"
    " or contains(concat(' ', @class, ' '), ' footnote-reference ')][not(.//sup) and"
    " not(ancestor::sup)]"
)
_INVISIBLE = " \t\r\n\f\xa0\u200b\u200c\u200d\u2060\ufeff\ufe0e\ufe0f"
_RAISED = ("sup", "sub")
_FRACTION_BARS = frozenset({"/", "\u2044"})
_ALIGNED = {"super": "sup", "sub": "sub"}
_STYLED_RAISED = etree.XPath(
    "//*/@style[contains(., 'vertical-align')]/parent::*[self::span or self::font]"
)
_ALIGNMENT = re.compile(r"vertical-align\s*:\s*(super|sub)\b", re.IGNORECASE)
_OWN_MARK = re.compile(r"\[?\d{1,3}\]?")


def tidy_text(tree: html.HtmlElement, used: str) -> None:
    """Change the page in place: each paragraph is one line, unless its author broke it.

    `used`: see by_name.used_names().
    """
    _join_lines(tree)
    for link in list(tree.iter("a")):
        _drop_if_self_link(link)
    for element in _STYLED_RAISED(tree):
        if aligned := _ALIGNMENT.search(element.get("style")):
            element.tag = _ALIGNED[aligned[1].lower()]
    for element in _NOTES(tree, used):
        element.tag = "sup"
        element.attrib["role"] = "doc-noteref"
    raised = list(tree.iter(*_RAISED))
    known = set(raised)
    inner = [element for element in raised if not known.isdisjoint(element.iterancestors(*_RAISED))]
    outer = known.difference(inner)
    for element in [*reversed(inner), *(element for element in raised if element in outer)]:
        _write_out(element)
    for element in list(tree.iter("br")):
        _join_if_wrapped(element)


def _join_lines(tree: html.HtmlElement) -> None:
    kept = {element for pre in tree.iter(*_KEPT) for element in pre.iter(etree.Element)}
    for element in _STYLED(tree):
        if element not in kept and _KEEPS_LINES.search(element.get("style")):
            _break_lines(element)
    for element in tree.iter(etree.Element):
        text, tail = element.text, element.tail
        if text is not None and "\n" in text and element not in kept:
            element.text = _one_line(text, element)
        if tail is not None and "\n" in tail and element.getparent() not in kept:
            element.tail = _one_line(tail, element.getparent())


def _one_line(text: str, parent: html.HtmlElement) -> str:
    if text.isspace():
        return " "
    if parent.tag == "body" and _BLANK_LINE.search(text):  # text without markup
        return "\n\n".join(_LINE_BREAK.sub(" ", part) for part in _BLANK_LINE.split(text))
    text = _LINE_BREAK.sub(" ", text)
    return text if text.isascii() else UNSPACED_BREAK.sub("", text)


def _break_lines(element: html.HtmlElement) -> None:
    """Make the line breaks that a style keeps elements."""
    lines = (element.text or "").strip("\r\n").split("\n")
    if len(lines) == 1:
        return
    element.text = lines[0]
    for line in reversed(lines[1:]):
        line_break = element.makeelement("br", {"data-kept": ""})
        line_break.tail = line
        element.insert(0, line_break)


def _drop_if_self_link(link: html.HtmlElement) -> None:
    """Remove links from a note back to the text, and from a heading to itself.

    The number of a note stays, without its address.
    """
    address = link.get("href")
    if address is None or "#" not in address:
        return
    if _OWN_MARK.fullmatch(link.text_content().strip()) and address.startswith("#"):
        if next(link.iterancestors("sup"), None) is None and next(link.iter("sup"), None) is None:
            del link.attrib["href"]
        return
    if len(link):
        return
    if (link.text or "").strip(_INVISIBLE) in _BACK and link.getparent() is not None:
        link.drop_tree()


def _write_out(element: html.HtmlElement) -> None:
    """Replace a sup or sub by its text."""
    if element.tag not in _RAISED:  # the denominator of a fraction
        return
    text = element.text_content()
    before, after = text_before(element), element.tail or ""
    parent = element.getparent()
    if element.tag == "sub":
        written = subscript(text, before)
    elif (fraction := _fraction(element, before)) is not None:
        written = fraction
    else:
        is_note = _is_note(element)
        written = superscript(text, before, after, is_note=is_note)
        if is_note and parent is not None and parent.tag == "a":
            parent.attrib.pop("href", None)
        elif not is_note and next(element.iter("a"), None) is not None:
            element.tag = "span"
            return
    tail = element.tail
    element.clear()
    element.tag, element.text = "span", written
    element.tail = f" {after}" if text[-1:].isspace() and not after[:1].isspace() else tail


def _is_note(element: html.HtmlElement) -> bool:
    """Whether a sup is, or is inside or around, a link to a place of the same page or book."""
    if element.get("role") in _NOTE_TYPES or _NOTE_TYPES & set(
        (element.get("class") or "").split()
    ):
        return True
    parent = element.getparent()
    links = [*element.iter("a")] + ([parent] if parent is not None and parent.tag == "a" else [])
    return any("#" in link.get("href", "") or link.get("role") in _NOTE_TYPES for link in links)


def _fraction(element: html.HtmlElement, before: str) -> str | None:
    """The numerator of `<sup>1</sup>/<sub>2</sub>`, apart from a number in front of it."""
    following = element.getnext()
    if following is None or following.tag != "sub":
        return None
    if (element.tail or "").strip() not in _FRACTION_BARS:
        return None
    top, bottom = element.text_content().strip(), following.text_content().strip()
    if not (top.isdecimal() and bottom.isdecimal()):
        return None
    element.tail, following.tag = "/", "span"
    following.text = bottom
    return f" {top}" if before[-1:].isdecimal() else top


def _join_if_wrapped(line_break: html.HtmlElement) -> None:
    """Make a break in the middle of a sentence a space: its author wrapped long lines by hand."""
    if "data-kept" in line_break.attrib:
        return
    after = (line_break.tail or "").lstrip(_BLANKS)
    if not after:
        following = line_break.getnext()
        if following is None or following.tag not in INLINE:
            return
        after = following.text_content().lstrip(_BLANKS)
    before = text_before(line_break).rstrip(_BLANKS)
    if len(before) < _WRAPPED_LINE or before.endswith(_SENTENCE_END):
        return
    if not after[:1].islower() or _ENUMERATED.match(after):
        return
    line_break.tag, line_break.text = "span", " "


def text_before(element: html.HtmlElement) -> str:
    """The last characters in front of an element, in its block and on its line."""
    pieces: list[str] = []
    length, at = 0, element
    for _ in range(_HOPS):
        if length >= CONTEXT:
            break
        previous = at.getprevious()
        if previous is None:
            parent = at.getparent()
            if parent is None:
                break
            pieces.append(parent.text or "")
            if parent.tag not in INLINE:
                break
            at = parent
        else:
            pieces.append(previous.tail or "")
            if previous.tag not in INLINE or previous.tag == "br":
                break
            pieces.append(_end_of(previous))
            at = previous
        length = sum(map(len, pieces))
    return "".join(reversed(pieces))[-CONTEXT:]


def _end_of(element: html.HtmlElement) -> str:
    """The last piece of text in an element."""
    for _ in range(_HOPS):
        if not len(element):
            return element.text or ""
        if element[-1].tail:
            return str(element[-1].tail)
        element = element[-1]
    return ""
