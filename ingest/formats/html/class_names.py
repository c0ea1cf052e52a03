"""Finds elements by class. Most pages have none of the classes that a step looks for."""

import re

from lxml import etree, html

_CLASSES = etree.XPath("//*/@class", smart_strings=False)
_NAME = re.compile(r"contains\((?:@class|concat\(' ', @class, ' '\)), ' ?([\w-]+) ?'\)")


def used_classes(tree: html.HtmlElement) -> str:
    """The `class` attributes of the page, each once."""
    return "\n".join(dict.fromkeys(_CLASSES(tree)))


class ByClass:
    """An XPath that runs only if the page uses one of the classes in it.

    So it must find nothing without them: `contains(@class, 'part')`, `contains(concat(' ', @class,
    ' '), ' whole ')`, or conditions beside these.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self.names = frozenset(_NAME.findall(path))
        self._find = etree.XPath(path)

    def __call__(self, tree: html.HtmlElement, used: str) -> list[html.HtmlElement]:
        """The elements, in order; `used`: see used_classes()."""
        return self._find(tree) if any(name in used for name in self.names) else []
