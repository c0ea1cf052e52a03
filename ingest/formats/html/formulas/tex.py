"""Formulas of a page as text."""

from lxml import etree, html

_TEX = etree.XPath(".//*[local-name()='annotation'][contains(@encoding, 'tex')]/text()")
_ANNOTATIONS = etree.XPath(".//*[starts-with(local-name(), 'annotation')] | .//rp")
_OPERATORS = {"msup": "^", "msub": "_", "mfrac": "/"}
_TEX_TYPE = "math/tex"
_RENDERED = "MathJax"  # in the classes of what MathJax drew in front of its script
_CDATA = ("% <![CDATA[", "%]]>")
_DISPLAY = "{\\displaystyle"


def formula(math: html.HtmlElement) -> str:
    """TeX if the page has it, else the letters and operators in order."""
    stated = _TEX(math)
    text = str(stated[0]) if stated else math.get("alttext") or ""
    if not text.strip():
        for element in _ANNOTATIONS(math):
            element.drop_tree()
        for element in math.iter(*_OPERATORS):
            if len(element) > 1:
                element[0].tail = _OPERATORS[element.tag]
        text = "".join(part.strip() for part in math.itertext())
    return without_style(text)


def without_style(tex: str) -> str:
    """TeX on one line, without the style that MediaWiki puts around it."""
    tex = " ".join(tex.split())
    if tex.startswith(_DISPLAY) and tex.endswith("}"):
        tex = tex[len(_DISPLAY) : -1].strip()
    return tex


def show_tex(script: html.HtmlElement) -> bool:
    """Make a script of kramdown or MathJax 2 a formula in place of what MathJax drew."""
    if not (script.get("type") or "").startswith(_TEX_TYPE):
        return False
    while (drawn := script.getprevious()) is not None and not (drawn.tail or "").strip():
        if _RENDERED not in (drawn.get("class") or ""):
            break
        drawn.drop_tree()
    tex = script.text or ""
    for mark in _CDATA:
        tex = tex.replace(mark, "")
    tail = script.tail
    script.clear()
    script.tag, script.text, script.tail = "span", without_style(tex), tail
    return True
