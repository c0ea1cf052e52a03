"""Values from Firecrawl's JSON as text that Postgres can store.

Page authors choose names and values of metadata: a title may be a list. JavaScript escapes NUL and
lone surrogates in JSON, and parsers and databases treat these escapes differently.
"""

import re
from collections.abc import Mapping
from typing import Any

_SURROGATE = re.compile("[\ud800-\udfff]")
_LONGEST_ERROR = 500


def storable(text: str) -> str:
    """The text without NUL and lone surrogates; surrogate pairs are joined."""
    if _SURROGATE.search(text):
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "ignore")
    return text.replace("\0", "")


def text_of(value: Any) -> str | None:
    """The first non-blank string of a string or list, made storable; None if there is none."""
    strings = value if isinstance(value, list) else [value]
    texts = (storable(item) for item in strings if isinstance(item, str))
    return next((text for text in texts if text.strip()), None)


def address_of(value: Any) -> str | None:
    """The value if it is an http(s) URL; None for anything else."""
    text = (text_of(value) or "").strip()
    return text if re.match(r"https?://[^/?#\s]", text, re.IGNORECASE) else None


def error_of(value: Any, *, secret: str | None = None) -> str | None:
    """The message of an `error` (string, list or object), on one line of up to 500 characters.

    `secret` is replaced by `…`.
    """
    if isinstance(value, Mapping):
        value = next((value[key] for key in ("message", "error", "code") if key in value), None)
    text = " ".join((text_of(value) or "").split())
    if secret:
        text = text.replace(secret, "…")
    return text[:_LONGEST_ERROR] or None
