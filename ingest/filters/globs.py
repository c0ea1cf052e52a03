"""Patterns of paths and URLs."""

import re
from typing import Final

_MAX_WILDCARDS: Final = 10
# `**/` also matches no folder at all.
_PART: Final = re.compile(r"\*\*/|\*\*|\*|\?|[^*?]+", re.DOTALL)
_PUNCTUATION: Final = re.compile(r"[!-/:-@\[-^`{-~]")
_REGEX: Final = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}


def to_regex(glob: str) -> str:
    """An anchored regular expression for Python and Postgres.

    `*` and `?` match anything but a slash, `**` anything. Raises ValueError for too many of them.
    """
    parts = _PART.findall(glob)
    if sum(part in _REGEX for part in parts) > _MAX_WILDCARDS:
        raise ValueError(f"more than {_MAX_WILDCARDS} wildcards")
    return "^" + "".join(_REGEX.get(part) or _literal(part) for part in parts) + "$"


def _literal(text: str) -> str:
    # Unlike re.escape, which puts a backslash before white space: an error in Postgres.
    return _PUNCTUATION.sub(r"\\\g<0>", text)
