"""Boilerplate of a page by its markup and class names: navigation, banners, share bars, notices.

A name alone proves nothing: an element with running text is content, whatever its class is called.
Content elements (paragraphs, headings, list items, cells) are never boilerplate by themselves.
"""

import re
from collections.abc import Callable, Container, Iterator
from functools import lru_cache

from lxml import etree, html

from ingest.formats.html.inline_text import text_before
from ingest.formats.html.text_stats import INLINE, PageStats, TextStats, word_set

CONTENT = word_set(
    "html body main p h1 h2 h3 h4 h5 h6 ul ol li dl dt dd table thead tbody tfoot tr td th"
    " blockquote pre"
)
LISTS = frozenset({"ul", "ol", "dl"})
_NEVER = CONTENT - LISTS
_TAGS = word_set(
    "nav button select textarea datalist iframe dialog svg canvas audio video head title"
)
_ROLES = word_set(
    "navigation banner contentinfo search menu menubar toolbar dialog alertdialog tablist"
    " tooltip switch"
)
_NAMES = word_set(
    "nav navbar navigation navi navlinks subnav topnav sitenav menu menus submenu megamenu"
    " topbar breadcrumb breadcrumbs crumbs pagination pager paginator paging skip skiplink"
    " skiplinks sitemap toolbar offcanvas masthead colophon footer share sharing sharebar"
    " sharebuttons sharedaddy addtoany addthis social socials socialmedia newsletter subscribe"
    " signup login signin print printfriendly tags taglist tagcloud ad ads advert adverts"
    " advertisement advertising adsbygoogle sponsor sponsored popup modal overlay lightbox"
    " cookie cookies consent gdpr prevnext nextprev postnav postnavigation scrolltotop"
    " backtotop totop"
)
_FOOTERS = frozenset({"footer", "colophon", "copyright", "rodape"})
NOTES = word_set("footnote footnotes endnote endnotes")
_ADVERTS = word_set("ad ads advert adverts advertisement advertising sponsor sponsored")
_LONGEST_LABEL = 30  # bytes; more is not the word "Advertisement" above a frame
_PREVIOUS = frozenset({"prev", "previous"})
_OVERLAYS = frozenset({"modal", "popup", "lightbox", "offcanvas"})
_NOTICES = word_set("cookie cookies consent gdpr ccpa cli cmp onetrust didomi modal popup overlay")
_BANNERS = word_set("modal popup overlay banner bar consent gdpr ccpa cmp onetrust didomi")
_SIGN_UP = word_set("newsletter newsletters subscribe subscription signup optin respond")
_CALL_NAMES = _SIGN_UP | {"comment", "comments", "reply", "replies"}
_ALL_NAMES = _NAMES | _FOOTERS | _PREVIOUS | _OVERLAYS | _NOTICES | _SIGN_UP | {"sidebar"}
"""An inline element with none of these is no boilerplate."""
_CALL_TO_ACTION = re.compile(
    r"(?:sign(?:ing)? up|subscribe|get|join|enter your|stay|keep up|want|never miss|don.t miss)"
    r".{0,120}(?:newsletter|inbox|mailing list|e-?mail|alerts)|.{0,60}newsletter\b"
    r"|(?:leave|post|add|write) (?:a|your) (?:comment|reply)|join the (?:discussion|conversation)"
    r"|(?:lascia un|deixe um|deja un|laisser un|добавить|schreibe? einen)"
    r" (?:comm?ent|kommen|коммент)"
    r"|(?:abonnieren|abonnez|inscrivez|suscr[ií]b|assine|iscriviti|подпишитесь)",
    re.IGNORECASE | re.DOTALL,
)
_LONGEST_CALL = 600  # bytes
_LONGEST_NOTICE = 8000  # bytes
OPENS = "data-opens-text"
"""Attribute of buttons that stand above what they open, as its heading (disclosures.py)."""
_LONG_LABEL = 25  # characters; a longer button is a question that opens its answer, not a menu
_SENTENCES = word_set("p li td dd")
_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_HAS_FIELDS = etree.XPath(
    "boolean(.//textarea or .//input[not(@type) or @type='text' or @type='email'"
    " or @type='password' or @type='search'])"
)
_HAS_BUTTONS = etree.XPath(
    "boolean(.//button or .//input or .//a[contains(@class, 'btn') or contains(@class, 'button')])"
)
_HAS_FRAME = etree.XPath("boolean(.//iframe or .//ins or .//object or .//img)")
_IN_ARTICLE = etree.XPath("boolean(ancestor::main or ancestor::article)")
_HAS_UNLINKED_TITLE = etree.XPath("boolean((.//h1|.//h2)[not(.//a) and not(ancestor::a)])")
_HOLDS_TITLE = etree.XPath("boolean(.//main or .//h1 or count(.//article)=1)")
_HOLDS_PAGE = etree.XPath("boolean(.//main or .//article or .//h1)")
_PRINTING = re.compile(
    r"(?<!\S)(?:\S*[-_:])?(?:no|not|hidden|hide|visible|d)[-_]?print(?:[-_:]\S*)?"
    r"|(?<!\S)print(?:-(?:full|only|none|hide|hidden|show|visible|block|inline)|:)\S*"
)
"""Classes of layouts for printers; `print` alone is a button."""
_WORD_BORDER = re.compile(r"(?<=[a-z])(?=[A-Z])|[^a-zA-Z]+")
_NO_WORDS: frozenset[str] = frozenset()
_LONGEST_NAME = 500  # characters of an attribute; longer values are not names


def name_words(element: html.HtmlElement) -> frozenset[str]:
    """Words in class and id: `<div id="siteHeader" class="nav-bar">` has site, header, nav, bar."""
    name, identity = element.get("class"), element.get("id")
    if not identity:
        return _split(name) if name else _NO_WORDS
    return _split(name) | _split(identity) if name else _split(identity)


def _split(value: str) -> frozenset[str]:
    return _split_cached(value) if len(value) <= _LONGEST_NAME else _NO_WORDS


@lru_cache(4096)
def _split_cached(value: str) -> frozenset[str]:
    names = _PRINTING.sub("", value) if "print" in value else value
    return frozenset(word.lower() for word in _WORD_BORDER.split(names) if word)


def find_boilerplate(
    tree: html.HtmlElement, stats: PageStats, own: Container[html.HtmlElement] = ()
) -> list[html.HtmlElement]:
    """The outermost boilerplate elements, in order. `own`: what contains the page's own content."""
    page = stats[tree]

    def test(element: html.HtmlElement) -> bool:
        if element in own or not _may_be_boilerplate(element):
            return False
        found = _is_boilerplate(element, stats[element], page)
        return found and not _is_part_of_text(element)

    return list(outermost(tree, test))


def outermost(
    tree: html.HtmlElement, test: Callable[[html.HtmlElement], bool]
) -> Iterator[html.HtmlElement]:
    """The elements that pass the test, in order, without those inside another such element."""
    stack = [tree]
    while stack:
        element = stack.pop()
        if test(element):
            yield element
        elif len(element):
            stack.extend(element.iterchildren("*", reversed=True))


def is_site_footer(element: html.HtmlElement) -> bool:
    """Whether tag, role or name mark it as the footer of the whole page."""
    if element.tag in CONTENT:
        return False
    is_footer = element.tag == "footer" or element.get("role") == "contentinfo"
    return (is_footer or bool(name_words(element) & _FOOTERS)) and not _IN_ARTICLE(element)


def holds_title(element: html.HtmlElement) -> bool:
    """Whether it contains the page's title or the element marked as its content."""
    return bool(_HOLDS_TITLE(element))


def is_in_article(element: html.HtmlElement) -> bool:
    """Whether it is inside an element that the page marks as its content."""
    return bool(_IN_ARTICLE(element))


def _may_be_boilerplate(element: html.HtmlElement) -> bool:
    """Of inline elements, which many pages have most of, only those with a role or such a name."""
    if element.tag not in INLINE or element.get("role") is not None:
        return True
    if name_words(element).isdisjoint(_ALL_NAMES):
        return False
    return next(element.iterancestors("pre", "code"), None) is None


def _is_boilerplate(element: html.HtmlElement, stats: TextStats, page: TextStats) -> bool:
    tag = element.tag
    if tag in _NEVER:
        return False
    is_small = stats.prose < 0.3 * page.prose or not page.prose
    is_listing = stats.prose <= 0.5 * stats.text
    if tag in _TAGS:
        return _is_control(element, is_small=is_small, is_listing=is_listing)
    if tag == "footer" and is_listing and (is_small or not _HOLDS_PAGE(element)):
        return True
    words = name_words(element)
    if stats.prose < 0.7 * page.prose and _is_cookie_notice(element, words, stats):
        return True
    if not is_small or tag == "article":
        return False
    if element.get("role") in _ROLES or (is_listing and _has_name(element, words, stats)):
        return True
    is_header = tag == "header" and is_listing
    if is_header and not _IN_ARTICLE(element) and not _HAS_UNLINKED_TITLE(element):
        return True
    if (is_site_footer(element) or words & _OVERLAYS) and not _IN_ARTICLE(element):
        return True
    if "sidebar" in words and stats.links > 2 and stats.text < 0.5 * page.text:
        return True
    return _is_call_to_action(element, words, stats, page)


def _has_name(element: html.HtmlElement, words: frozenset[str], stats: TextStats) -> bool:
    """Whether its name says so: an advert leads away, and the title of a page leads nowhere."""
    if "next" in words and words & _PREVIOUS:
        return True
    named = words & _NAMES
    if not named or stats.links or stats.text <= _LONGEST_LABEL:
        return bool(named)
    return not (named <= _ADVERTS and not _HAS_FRAME(element)) and not _HAS_UNLINKED_TITLE(element)


def _is_part_of_text(element: html.HtmlElement) -> bool:
    """Whether it is a note, or a footer that names the author of a quotation."""
    if element.tag == "footer":
        return next(element.iterancestors("blockquote"), None) is not None
    return not name_words(element).isdisjoint(NOTES)


def _is_control(element: html.HtmlElement, *, is_small: bool, is_listing: bool) -> bool:
    if element.tag == "button":
        return not _is_heading(element) and not _is_in_sentence(element)
    # An unclosed tag contains the rest of the page, so a large one is not removed.
    return is_small or (element.tag == "nav" and is_listing and not _HOLDS_PAGE(element))


def _is_heading(button: html.HtmlElement) -> bool:
    """Whether the button labels a part of the page that it opens, as in lists of questions."""
    parent = button.getparent()
    if parent is not None and (parent.tag in _HEADINGS or parent.tag in ("dt", "summary")):
        return True
    if next(button.iterdescendants(*_HEADINGS), None) is not None:
        return True
    is_opener = button.get("aria-expanded") is not None
    return OPENS in button.attrib or (
        is_opener and len(button.text_content().strip()) >= _LONG_LABEL
    )


def _is_in_sentence(button: html.HtmlElement) -> bool:
    """Whether it is a word of a sentence, which it explains or shows something of."""
    inner = [button]
    while (parent := inner[-1].getparent()) is not None and parent.tag in INLINE:
        inner.append(parent)
    if parent is None or parent.tag not in _SENTENCES:
        return False
    before = text_before(button).rstrip()
    goes_on = any((one.tail or "").strip() or one.getnext() is not None for one in inner)
    return goes_on and (before[-1:].isalnum() or before.endswith((",", "(")))


def _is_call_to_action(
    element: html.HtmlElement, words: frozenset[str], stats: TextStats, page: TextStats
) -> bool:
    """Whether it is a comment form or a call to subscribe, on a page about something else."""
    if stats.text >= 0.1 * page.prose:
        return False
    if (element.tag == "form" or words & _SIGN_UP) and _HAS_FIELDS(element):
        return True
    if element.tag in INLINE or not 0 < stats.text <= _LONGEST_CALL:
        return False
    if not _CALL_TO_ACTION.match(" ".join(element.itertext()).strip()):
        return False
    # A manual may also explain how to subscribe or comment, but has no form or button.
    has_control = _HAS_FIELDS(element) or _HAS_BUTTONS(element)
    return has_control or bool(stats.links and words & _CALL_NAMES)


def _is_cookie_notice(element: html.HtmlElement, words: frozenset[str], stats: TextStats) -> bool:
    """Whether it is a notice: it has a button or a banner's name, unlike a chapter on cookies."""
    if not words & _NOTICES or stats.text > _LONGEST_NOTICE or holds_title(element):
        return False
    is_banner = words & _BANNERS or _HAS_BUTTONS(element)
    return bool(is_banner) and "cookie" in element.text_content().lower()
