"""Writes into elements what style sheets say about single words: raised, lowered, turned around.

Word processors export such words as spans with a class, while tidy.py reads elements alone.
"""

import re

from lxml import etree, html

from ingest.formats.html.style_sheets.styles import PageStyles

_SHEETS = etree.XPath("//style")
_SAYS = re.compile(r"vertical-align\s*:\s*su[pb]|unicode-bidi\s*:\s*bidi-override", re.IGNORECASE)
_RELEVANT = re.compile(r"vertical-align|unicode-bidi|direction", re.IGNORECASE)
_WORDS = frozenset({"span", "font", "a", "small", "b", "i", "em", "strong"})
_RAISED = {"super": "sup", "sub": "sub"}
# Labels such as "New" are also set higher; they are no powers or notes.
_SHORT = re.compile(r"\s*(?:\w{1,2}|[^A-Za-z]{1,12}|[+\-\u2212\u2013]?\w[+\-\u2212\u2013]?)\s*")


def write_styles(tree: html.HtmlElement) -> None:
    """Change the page in place. Call it before its `style` elements are removed."""
    if not any(_SAYS.search(sheet.text or "") for sheet in _SHEETS(tree)):
        return
    styles = PageStyles(tree, relevant=_RELEVANT)
    chosen = set(
        styles.elements_with(
            lambda body: _SAYS.search(body) is not None,
            among=lambda element: element.tag in _WORDS,
        )
    )
    for element in chosen:
        cascaded = styles.cascaded(element)
        own = element.get("style") or ""
        alignment = cascaded.get("vertical-align", ("", False))[0]
        if alignment in _RAISED and "vertical-align" not in own:
            _raise(element, _RAISED[alignment])
        if "bidi-override" in cascaded.get("unicode-bidi", ("", False))[0]:
            direction = cascaded.get("direction", ("", False))[0]
            element.set("style", f"{own};unicode-bidi:bidi-override;direction:{direction}")


def _raise(element: html.HtmlElement, tag: str) -> None:
    """Put the content in a `sup` or `sub`, unless it is a label or raised anyway."""
    if not _SHORT.fullmatch(element.text_content()[:40]):
        return
    raised = ("sup", "sub")
    if next(element.iter(*raised), None) is not None:
        return
    if next(element.iterancestors(*raised), None) is not None:
        return
    wrapper = element.makeelement(tag)
    wrapper.text, element.text = element.text, None
    wrapper.extend(list(element))
    element.append(wrapper)
