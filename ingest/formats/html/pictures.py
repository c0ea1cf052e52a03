"""What pictures show, by their alternative texts."""

import re

from lxml import etree, html

from ingest.formats.html.formulas.tex import without_style
from ingest.formats.html.text_stats import INLINE, word_set

_PICTURES = etree.XPath(
    "//img[@alt] | //amp-img[@alt] | //input[@type='image'][@alt] | //area[@alt][@href]"
)
_DRAWINGS = etree.XPath(
    "//svg | //*[@aria-label][self::i or self::span or self::div][@role='img' or self::i]"
    "[not(normalize-space())]"
)
_IN_CONTROL = etree.XPath("boolean(ancestor::a or ancestor::button or ancestor::nav)")
_HEADINGS = etree.XPath("//h1 | //h2 | //h3")
_DECORATION = etree.XPath(
    "boolean(ancestor-or-self::*[@aria-hidden='true' or @role='presentation' or @role='none'])"
)
_NEAR = ("a", "figure", "td", "th", "li", "p", "div", "h1", "h2", "h3", "h4", "h5", "h6")
_FILE_NAME = re.compile(
    r".*\.(?:jpe?g|png|gif|svg|webp|bmp|tiff?|avif)|(?:IMG|DSC|image|img|photo|"
    r"screenshot|bild|foto)[\W_]*[\d\W_]*",
    re.IGNORECASE | re.DOTALL,
)
_OF = re.compile(
    r"\A(?:(?:an? )?(?:image|photo(?:graph)?|picture|avatar|portrait|logo|thumbnail|icon|cover) "
    r"(?:of|for) |profile picture of )|'s (?:avatar|picture|photo)\Z| logo\Z",
    re.IGNORECASE,
)
_BADGE = re.compile(r"badge|shields\.io", re.IGNORECASE)
_GENERIC = word_set(
    "image photo picture icon logo img thumbnail thumb placeholder avatar banner spacer pixel"
    " bild foto symbol loading untitled"
)
_INLINE = frozenset(
    {"emoji", "wp-smiley", "emoticon", "latex", "tex", "mwe-math-fallback-image-inline"}
)
_HOLDS_BLOCKS = frozenset(
    {"body", "main", "article", "section", "div", "figure", "picture", "center", "blockquote"}
)
_LONGEST = 1000  # characters
_NEAR_TEXT = 5000  # characters of a block that may say the same
_SMALL = 32  # pixels; icons
_LABELS = etree.XPath(".//text[not(ancestor::text)] | .//foreignobject")
# An unclosed drawing contains the rest of the page.
_HOLDS_PAGE = etree.XPath(
    "boolean(.//*[self::p or self::div or self::li or self::h1][not(ancestor::foreignobject)])"
)
_NEW_LINE = frozenset({"x", "y", "dy"})  # attributes of a `tspan` that is not within a line


def name_drawings(tree: html.HtmlElement) -> None:
    """Make drawings and icons that have a name or labels pictures with that alternative text.

    Icons of links and buttons repeat them. A title alone, without a stated role, counts in table
    cells, where the drawing is a tick or a cross, and beside a description or labels.
    """
    for drawing in _DRAWINGS(tree):
        parent = drawing.getparent()
        if parent is None or _DECORATION(drawing) or _IN_CONTROL(drawing):
            continue
        if _HOLDS_PAGE(drawing):
            continue
        inner = [drawing.findtext(name) or "" for name in ("title", "desc")]
        labels = _labels(drawing)
        is_stated = drawing.get("aria-label") or drawing.get("role") == "img" or inner[1] or labels
        if not is_stated and parent.tag not in ("td", "th"):
            continue
        stated = drawing.get("aria-label")
        name = stated.strip() if stated else ": ".join(filter(None, map(str.strip, inner)))
        text = ": ".join(filter(None, (name, labels if labels != name else "")))
        if text:
            tail = drawing.tail
            drawing.clear()
            drawing.tag, drawing.tail = "img", tail
            drawing.set("alt", text)


def _labels(drawing: html.HtmlElement) -> str:
    """The texts in a drawing, in order; empty if they are numbers or single letters only."""
    found = list(filter(None, (" ".join(_words(label).split()) for label in _LABELS(drawing))))
    has_words = any(len(label) > 1 and not label.isnumeric() for label in found)
    return "; ".join(dict.fromkeys(found)) if has_words else ""


def _words(label: html.HtmlElement) -> str:
    pieces = []
    for event, element in etree.iterwalk(label, events=("start", "end")):
        if event == "start":
            is_apart = element.tag != "tspan" or not _NEW_LINE.isdisjoint(element.keys())
            pieces += [" " if is_apart else "", element.text or ""]
        elif element is not label:
            pieces.append(element.tail or "")
    return "".join(pieces)


def write_alternative_texts(tree: html.HtmlElement) -> None:
    """Put what pictures show in their place, unless the page says it anyway or it says nothing."""
    seen = {" ".join(heading.text_content().split()).casefold() for heading in _HEADINGS(tree)}
    around: dict[html.HtmlElement, str] = {}
    for picture in _PICTURES(tree):
        text = " ".join((picture.get("alt") or "")[:_LONGEST].split())
        kinds = set((picture.get("class") or "").split())
        if not text or picture.getparent() is None:
            continue
        if kinds & _INLINE and not _is_variable(picture, text):
            _replace(picture, without_style(text))
        elif text.casefold() not in seen and _says_something(picture, text, around):
            seen.add(text.casefold())
            _replace(picture, text)


def _is_variable(picture: html.HtmlElement, text: str) -> bool:
    """Whether it is a single letter beside hidden MathML, which a search cannot use."""
    return picture.get("aria-hidden") == "true" and len(without_style(text)) == 1


def _says_something(
    picture: html.HtmlElement, text: str, around: dict[html.HtmlElement, str]
) -> bool:
    """`around`: the text of the blocks that were looked at so far."""
    if _BADGE.search(picture.get("src") or ""):
        return False
    if _FILE_NAME.fullmatch(text) or text.casefold() in _GENERIC or _DECORATION(picture):
        return False
    near = next(picture.iterancestors(*_NEAR), None)
    if near is not None and near.tag == "a" and not near.text_content().strip():
        near = next(near.iterancestors(*_NEAR), near)  # the words may be beside the link
    if near is None:
        return not _is_icon(picture)
    if near not in around:
        said = " ".join(near.text_content().split()).casefold()
        around[near] = said[:_NEAR_TEXT]
    if _is_in_link_or_cell(picture) and "logo" in text.casefold():
        return False
    if near.tag in ("td", "th") and not around[near]:
        return True  # a tick or a cross
    if _is_icon(picture):
        return False
    said = _OF.sub("", text).casefold()
    return not said or said not in around[near]


def _is_in_link_or_cell(picture: html.HtmlElement) -> bool:
    return next(picture.iterancestors("a", "td"), None) is not None


def _is_icon(picture: html.HtmlElement) -> bool:
    sizes = [picture.get(name, "").removesuffix("px") for name in ("width", "height")]
    stated = [int(size) for size in sizes if size.isdecimal()]
    return bool(stated) and max(stated) <= _SMALL


def _replace(picture: html.HtmlElement, text: str) -> None:
    """The text in place of the picture: a paragraph, unless it stands between words."""
    previous, parent, following = picture.getprevious(), picture.getparent(), picture.getnext()
    before = (parent.text if previous is None else previous.tail) or ""
    tail = picture.tail or ""
    is_alone = not before.strip() and not tail.strip()
    is_between_blocks = all(
        other is None or other.tag == "img" or other.tag not in INLINE
        for other in (previous, following)
    )
    picture.clear()
    if is_alone and is_between_blocks and parent.tag in _HOLDS_BLOCKS:
        picture.tag, picture.text, picture.tail = "p", text, tail
        picture.set("data-picture", "")
        return
    picture.tag = "span"
    picture.text = f" {text}" if before[-1:].isalnum() or previous is not None else text
    picture.tail = tail if not tail[:1].isalnum() else f" {tail}"
