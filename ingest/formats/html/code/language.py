"""The programming language of a code block, which each generator of pages states elsewhere."""

import re

from lxml import html

from ingest.formats.html.text_stats import word_set

_ATTRIBUTES = ("data-lang", "data-language", "lang", "data-code-language")
_CLASSES = (
    re.compile(
        r"(?:^|\s)(?:language|lang|highlight-source|highlight-text|highlight|mw-highlight-lang)-"
        r"([A-Za-z][\w+#]*)"
    ),
    re.compile(r"(?:^|\s)(?:brush:\s*|(?:sourceCode|hljs|prettyprint)\s+)([A-Za-z][\w+#]*)"),
)
_FIGURE = re.compile(r"highlight\s+([A-Za-z][\w+#]*)\s*")  # Hexo
_LONGEST = 500  # characters of an attribute
_NAME = re.compile(r"[A-Za-z][\w+#.-]{0,19}")
_NOT_LANGUAGES = word_set(
    "none text plain plaintext txt default notranslate nohighlight prettyprinted linenums line"
    " wrapper block code copy content unknown auto source language en de fr es"
)
_AROUND = frozenset({"div", "figure", "td", "tr", "tbody", "table"})
_MOST = 8  # elements that may state it: the code, the block, and what is around them


def language_of_block(pre: html.HtmlElement) -> str | None:
    """The language that a `pre`, its `code` or what is directly around it states."""
    stating = [*[*pre.iter("code")][:1], pre]
    while len(stating) < _MOST and (parent := stating[-1].getparent()) is not None:
        # Only what is around this block alone, but for a caption or a button.
        if parent.tag not in _AROUND or len(parent) > 2:
            break
        stating.append(parent)
    return next(filter(None, map(_stated, stating)), None)


def _stated(element: html.HtmlElement) -> str | None:
    candidates: list[str | None] = [element.get(name) for name in _ATTRIBUTES]
    names = (element.get("class") or "")[:_LONGEST]
    parameters = (element.get("data-syntaxhighlighter-params") or "")[:_LONGEST]
    for form in _CLASSES:
        candidates += form.findall(f"{names} {parameters}")
    if element.tag == "figure" and (figure := _FIGURE.fullmatch(names)):
        candidates.append(figure[1])
    for name in candidates:
        if name and _NAME.fullmatch(name) and name.lower() not in _NOT_LANGUAGES:
            return name.lower()
    return None
