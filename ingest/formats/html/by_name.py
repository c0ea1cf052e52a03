"""Finds elements by class or role. Most pages have none of those that a step looks for."""

import re

from lxml import etree, html

_CLASSES = etree.XPath("//*/@class", smart_strings=False)
_ROLES = etree.XPath("//*/@role", smart_strings=False)
_NAME = re.compile(r"(?:contains\((?:@class|concat\(' ', @class, ' '\)), |@role=)' ?([\w-]+) ?'")


def used_names(tree: html.HtmlElement) -> str:
    """The `class` and `role` attributes of the page, each once."""
    return "\n".join(dict.fromkeys([*_CLASSES(tree), *_ROLES(tree)]))


class ByName:
    """An XPath that runs only if the page uses one of the classes and roles in it.

    So it must find nothing without them. It names them as `contains(@class, 'part')`,
    `contains(concat(' ', @class, ' '), ' whole ')` or `@role='role'`.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self.names = frozenset(_NAME.findall(path))
        self._find = etree.XPath(path)

    def __call__(self, tree: html.HtmlElement, used: str) -> list[html.HtmlElement]:
        """The elements, in order; `used`: see used_names()."""
        return self._find(tree) if any(name in used for name in self.names) else []
