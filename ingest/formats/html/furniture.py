"""Furniture of a page that its markup or its names show: navigation, banners, share bars, notices.

A name alone is no proof: what holds running text is text, however its author calls it. Elements of
content (paragraphs, headings, list items, cells) are never furniture by themselves.
"""

import re
from collections.abc import Callable, Iterator

from lxml import etree, html

from ingest.formats.html.furniture_names import names, words
from ingest.formats.html.text_weights import INLINE, Weight, Weights

CONTENT = words(
    "html body main p h1 h2 h3 h4 h5 h6 ul ol li dl dt dd table thead tbody tfoot tr td th"
    " blockquote pre"
)
LISTS = frozenset({"ul", "ol", "dl"})
_TAGS = words("nav button select textarea datalist iframe dialog svg canvas audio video head title")
_ROLES = words(
    "navigation banner contentinfo search menu menubar toolbar dialog alertdialog tablist tooltip"
    " switch"
)
_NAMES = words(
    "nav navbar navigation navi navlinks subnav topnav sitenav menu menus submenu megamenu topbar"
    " breadcrumb breadcrumbs crumbs pagination pager paginator paging skip skiplink skiplinks"
    " sitemap toolbar offcanvas masthead colophon footer"
    " share sharing sharebar sharebuttons sharedaddy addtoany addthis social socials socialmedia"
    " newsletter subscribe signup login signin print printfriendly tags taglist tagcloud"
    " ad ads advert adverts advertisement advertising adsbygoogle sponsor sponsored"
    " popup modal overlay lightbox cookie cookies consent gdpr"
    " prevnext nextprev postnav postnavigation scrolltotop backtotop totop"
)
_FOOTERS = words("footer colophon copyright rodape")
_PREVIOUS = frozenset({"prev", "previous"})
_OVERLAYS = frozenset({"modal", "popup", "lightbox", "offcanvas"})
_NOTICES = words("cookie cookies consent gdpr ccpa cli cmp onetrust didomi modal popup overlay")
_ANNOUNCED = words("modal popup overlay banner bar consent gdpr ccpa cmp onetrust didomi")
_SIGN_UP = words("newsletter newsletters subscribe subscription signup optin respond")
_CALLED_CALL = _SIGN_UP | words("comment comments reply replies")
_CALL = re.compile(
    r"(?:sign(?:ing)? up|subscribe|get|join|enter your|stay|keep up|want|never miss|don.t miss)"
    r".{0,120}(?:newsletter|inbox|mailing list|e-?mail|alerts)|.{0,60}newsletter\b"
    r"|(?:leave|post|add|write) (?:a|your) (?:comment|reply)|join the (?:discussion|conversation)"
    r"|(?:lascia un|deixe um|deja un|laisser un|добавить|schreibe? einen)"
    r" (?:comm?ent|kommen|коммент)"
    r"|(?:abonnieren|abonnez|inscrivez|suscr[ií]b|assine|iscriviti|подпишитесь)",
    re.IGNORECASE | re.DOTALL,
)
_LONGEST_CALL = 600
_LONGEST_NOTICE = 8000
_LONG_LABEL = 25  # a question that opens its answer, not the name of a menu
_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_FIELDS = etree.XPath(
    "boolean(.//textarea or .//input[not(@type) or @type='text' or @type='email'"
    " or @type='password' or @type='search'])"
)
_BUTTONS = etree.XPath(
    "boolean(.//button or .//input or .//a[contains(@class, 'btn') or contains(@class, 'button')])"
)
_INSIDE = etree.XPath("boolean(ancestor::main or ancestor::article)")
_HEADED = etree.XPath("boolean((.//h1|.//h2)[not(.//a) and not(ancestor::a)])")
_HOLDS_TITLE = etree.XPath("boolean(.//main or .//h1 or count(.//article)=1)")
_HOLDS_PAGE = etree.XPath("boolean(.//main or .//article or .//h1)")


def furniture(tree: html.HtmlElement, weights: Weights) -> list[html.HtmlElement]:
    """The outermost elements that are furniture, in order."""
    page = weights[tree]
    return list(outermost(tree, lambda element: _is_furniture(element, weights[element], page)))


def outermost(
    tree: html.HtmlElement, test: Callable[[html.HtmlElement], bool]
) -> Iterator[html.HtmlElement]:
    """The elements for which the test holds, in order, without those inside of another."""
    stack = [tree]
    while stack:
        element = stack.pop()
        if test(element):
            yield element
        else:
            stack.extend(reversed(element.findall("*")))


def is_site_footer(element: html.HtmlElement) -> bool:
    """Whether it says that it is the footer of the whole page."""
    if element.tag in CONTENT or _INSIDE(element):
        return False
    says_so = element.tag == "footer" or element.get("role") == "contentinfo"
    return says_so or bool(names(element) & _FOOTERS)


def holds_page(element: html.HtmlElement) -> bool:
    """Whether the title or the marked content of the page is in it."""
    return bool(_HOLDS_TITLE(element))


def is_inside_article(element: html.HtmlElement) -> bool:
    """Whether the page marks what is around it as its content."""
    return bool(_INSIDE(element))


def _is_furniture(element: html.HtmlElement, weight: Weight, page: Weight) -> bool:
    if element.tag in CONTENT and element.tag not in LISTS:
        return False
    is_small = weight.prose < 0.3 * page.prose or not page.prose
    is_listing = weight.prose <= 0.5 * weight.text
    if element.tag in _TAGS:
        return _is_control(element, is_small=is_small, is_listing=is_listing)
    if element.tag == "footer" and is_listing and (is_small or not _HOLDS_PAGE(element)):
        return True
    called = names(element)
    if weight.prose < 0.7 * page.prose and _is_notice(element, called, weight):
        return True
    if not is_small or element.tag == "article":
        return False
    is_called_so = called & _NAMES or ("next" in called and called & _PREVIOUS)
    if element.get("role") in _ROLES or (is_listing and is_called_so):
        return True
    if element.tag == "header" and is_listing and not _INSIDE(element) and not _HEADED(element):
        return True
    if (is_site_footer(element) or called & _OVERLAYS) and not _INSIDE(element):
        return True
    if "sidebar" in called and weight.links > 2 and weight.text < 0.5 * page.text:
        return True
    return _is_sign_up(element, called, weight, page)


def _is_control(element: html.HtmlElement, *, is_small: bool, is_listing: bool) -> bool:
    if element.tag == "button":
        return not _is_heading(element)
    # A tag that is never closed takes in the rest of the page.
    return is_small or (element.tag == "nav" and is_listing and not _HOLDS_PAGE(element))


def _is_heading(button: html.HtmlElement) -> bool:
    """Whether it opens a part of the page under its own words, as questions and answers do."""
    around = button.getparent()
    if around is not None and (around.tag in _HEADINGS or around.tag in ("dt", "summary")):
        return True
    if next(button.iterdescendants(*_HEADINGS), None) is not None:
        return True
    is_opener = button.get("aria-expanded") is not None
    return is_opener and len(button.text_content().strip()) >= _LONG_LABEL


def _is_sign_up(
    element: html.HtmlElement, called: frozenset[str], weight: Weight, page: Weight
) -> bool:
    """A form to write a comment, or a call to subscribe, on a page about something else."""
    if weight.text >= 0.1 * page.prose:
        return False
    if (element.tag == "form" or called & _SIGN_UP) and _FIELDS(element):
        return True
    if element.tag in INLINE or weight.text > _LONGEST_CALL:
        return False
    if not _CALL.match(" ".join(element.itertext()).strip()):
        return False
    # A manual tells how to subscribe or to comment, too, but has nothing to press.
    return _FIELDS(element) or _BUTTONS(element) or bool(weight.links and called & _CALLED_CALL)


def _is_notice(element: html.HtmlElement, called: frozenset[str], weight: Weight) -> bool:
    """About cookies, with something to press: a chapter about cookies has nothing like that."""
    if not called & _NOTICES or weight.text > _LONGEST_NOTICE or holds_page(element):
        return False
    is_announced = called & _ANNOUNCED or _BUTTONS(element)
    return bool(is_announced) and "cookie" in element.text_content().lower()
