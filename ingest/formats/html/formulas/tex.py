"""Formulas of a page as text: TeX where the page has it."""

import re
from itertools import islice

from lxml import etree, html

from ingest.formats.html.formulas.mathml import math_text

_TEX = etree.XPath(".//*[local-name()='annotation'][contains(@encoding, 'tex')]/text()")
_IS_TEX = re.compile(r"[\\^_]")  # an alternative text in words says less than the formula
_SENTENCE = re.compile(r"(?<![\\\w])(?:[^\W\d_]{2,20}[,;:.]?\s{1,9}){4}[^\W\d_]{2}")
_MOST_SENTENCES = 10  # that are looked for in the drawing
_TEX_TYPE = "math/tex"
_RENDERED = "MathJax"  # in the classes of what MathJax drew in front of its script
_CDATA = ("% <![CDATA[", "%]]>")
_DISPLAY = "{\\displaystyle"


def formula(math: html.HtmlElement) -> str:
    """TeX if the page has it, else its letters, operators, fractions and roots on one line.

    Readers do not see the TeX, so it does not count if it has a sentence that is not drawn.
    """
    stated = _TEX(math)
    text = str(stated[0]) if stated else math.get("alttext") or ""
    if sentences := [one[0] for one in islice(_SENTENCE.finditer(text), _MOST_SENTENCES)]:
        drawn = math_text(math)
        seen = _letters(drawn)
        if len(sentences) == _MOST_SENTENCES or any(_letters(one) not in seen for one in sentences):
            return drawn
    if (stated and text.strip()) or _IS_TEX.search(text):
        return without_style(text)
    return math_text(math) or without_style(text)


def _letters(text: str) -> str:
    return "".join(filter(str.isalpha, text))


def has_sentence(tex: str) -> bool:
    """Whether several words follow each other, which are no commands."""
    return _SENTENCE.search(tex) is not None


def without_style(tex: str) -> str:
    """TeX on one line, without the style that MediaWiki puts around it."""
    tex = " ".join(tex.split())
    if tex.startswith(_DISPLAY) and tex.endswith("}"):
        tex = tex[len(_DISPLAY) : -1].strip()
    return tex


def is_tex_script(script: html.HtmlElement) -> bool:
    """Whether it is the source of a formula of kramdown or MathJax 2."""
    return script.tag == "script" and (script.get("type") or "").startswith(_TEX_TYPE)


def show_tex(script: html.HtmlElement) -> None:
    """Make the source of a formula text in place of what MathJax drew; leave other scripts."""
    if not is_tex_script(script):
        return
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
