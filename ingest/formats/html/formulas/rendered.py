"""Formulas that scripts have drawn: the TeX or MathML behind them in place of the drawing.

A drawing is for eyes only. Its letters are in class names or out of order, and what says the same
to screen readers is hidden by a style sheet; so this runs before hidden text is removed.
"""

import re
from itertools import islice
from urllib.parse import unquote_plus

from lxml import etree, html

from ingest.formats.html.formulas.mathjax import to_mathml
from ingest.formats.html.formulas.tex import (
    has_sentence,
    is_tex_script,
    show_tex,
    without_style,
)

_TEX = ("data-latex", "data-tex", "data-math", "data-katex", "data-expr")
_LONGEST = 5000  # characters
_MOST_PARTS = 500  # elements of a drawing
_FLAGS = frozenset({"", "true", "false", "inline", "display", "block", "0", "1"})
_STATED = etree.XPath(
    f"//*[{' or '.join(f'@{name}' for name in _TEX)} or contains(@class, 'ql-formula')]"
    "[not(self::mjx-container) and not(ancestor::mjx-container) and not(.//p or .//li or .//h2)]"
)
_DRAWN = etree.XPath(
    "//*[self::mjx-container or contains(concat(' ', @class, ' '), ' katex ') or @data-mathml]"
)
_PICTURES = etree.XPath("//img[@src][not(normalize-space(@alt))]")
_SERVICE = re.compile(
    r"[/.](?:codecogs\.com/[^?]{0,40}\?|upmath\.me/(?:svg|png)/|zhihu\.com/equation\?tex=)"
    r"|[?&]cht=tx&(?:.{0,80}&)?chl=|/(?:formula|latex|tex|math)/(?=%5C|\\)"
    r"|/(?:mathtex|mimetex)\.cgi\?",
    re.IGNORECASE,
)
_LAYOUT = re.compile(
    r"\\(?:dpi\{\d+\}|bg_\w+|fn_\w+|inline|large|small|displaystyle)\s*|&(?:space;)"
)
_CLASSES = etree.XPath("//@class", smart_strings=False)
_HINTS = ("math", "Math", "katex", "latex", "formula", "equation")
"""In classes of pages whose scripts draw formulas."""
_IS_FORMULA = re.compile(r"math|katex|(?<!\w)(?:la)?tex|formula|equation", re.IGNORECASE)
_MATH_TAG = re.compile(r"<(?:\w+:)?math[\s>]", re.IGNORECASE)


def show_formulas(tree: html.HtmlElement) -> None:
    """Change the page in place: `math` elements, and TeX as text."""
    for script in list(tree.iter("script")):
        show_tex(script)
    for picture in _PICTURES(tree):
        if tex := _of_service(picture.get("src")):
            picture.set("alt", tex)
            picture.set("class", "tex")
    if _may_have_drawn(tree):
        for element in _STATED(tree):
            if (tex := _stated(element)) and _is_drawn(element):
                _replace(element, tex)
        for element in _DRAWN(tree):
            if element.getparent() is not None and not _has_source(element):
                _show(element)


def _may_have_drawn(tree: html.HtmlElement) -> bool:
    if next(tree.iter("mjx-container"), None) is not None:
        return True
    classes = "\n".join(dict.fromkeys(_CLASSES(tree)))
    return any(hint in classes for hint in _HINTS)


def _show(drawn: html.HtmlElement) -> None:
    formula = _source(drawn)
    if formula is not None:
        _replace(drawn, formula)
    else:  # what is drawn is all that there is
        for part in islice(drawn.iter(etree.Element), _MOST_PARTS):
            part.attrib.pop("aria-hidden", None)


def _of_service(address: str) -> str:
    """The TeX in the address of a picture that a service makes of it."""
    service = _SERVICE.search(address) if len(address) <= _LONGEST else None
    if service is None:
        return ""
    tex = unquote_plus(address[service.end() :].partition("&chs=")[0])
    return " ".join(_LAYOUT.sub(" ", tex).removesuffix(".svg").split())


def _stated(element: html.HtmlElement) -> str:
    names = (*_TEX, "data-value") if "ql-formula" in (element.get("class") or "") else _TEX
    values = (element.get(name, "")[:_LONGEST].strip() for name in names)
    stated = next((value for value in values if value.lower() not in _FLAGS), "")
    return "" if has_sentence(stated) else stated


def _is_drawn(element: html.HtmlElement) -> bool:
    """Whether scripts have drawn it, or will do so: the attribute may also serve other things."""
    inside = element if not len(element) else element[0]
    names = [element.get("class"), inside.get("class"), inside.tag]
    return any(name and _IS_FORMULA.search(name) for name in names)


def _has_source(element: html.HtmlElement) -> bool:
    """Whether the script with its TeX follows."""
    around = [element, element.getparent()]
    return any((script := one.getnext()) is not None and is_tex_script(script) for one in around)


def _source(element: html.HtmlElement) -> html.HtmlElement | str | None:
    if (math := next(element.iter("math"), None)) is not None:
        return math
    stated = element.get("data-mathml") or ""
    if _MATH_TAG.match(stated):
        math = next(html.fromstring(f"<div>{stated}</div>").iter("math"), None)
        if math is not None:
            return math
    drawn = next(element.iter("mjx-math"), None)
    if drawn is None:
        return None
    return _stated(drawn) or to_mathml(drawn)


def _replace(element: html.HtmlElement, formula: html.HtmlElement | str) -> None:
    tail = element.tail
    before, after = _space(element.text), _space(element[-1].tail) if len(element) else ""
    element.clear()
    element.tag, element.text, element.tail = "span", before, tail
    if isinstance(formula, str):
        element.text += without_style(formula) + after
    else:
        element.append(formula)
        formula.tail = after


def _space(text: str | None) -> str:
    return " " if text and text.isspace() else ""
