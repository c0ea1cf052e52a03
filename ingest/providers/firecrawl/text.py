"""Values from Firecrawl's JSON as text that Postgres can store.

Page authors choose names and values of metadata: a title may be a list, and JavaScript writes NUL
and half surrogate pairs as escapes that every JSON parser or database treats differently.
"""

import re
from collections.abc import Mapping
from typing import Any

_SURROGATE = re.compile("[\ud800-\udfff]")
_LONGEST_ERROR = 500


def storable(text: str) -> str:
    """Without NUL and lone surrogates; the halves of a pair are joined."""
    if _SURROGATE.search(text):
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "ignore")
    return text.replace("\0", "")


def text_of(value: Any) -> str | None:
    """A storable string: itself, or the first of a list; None if there is none or it is blank."""
    strings = value if isinstance(value, list) else [value]
    texts = (storable(item) for item in strings if isinstance(item, str))
    return next((text for text in texts if text.strip()), None)


def address_of(value: Any) -> str | None:
    """An http(s) address; None for anything else."""
    text = (text_of(value) or "").strip()
    return text if re.match(r"https?://[^/?#\s]", text, re.IGNORECASE) else None


def error_of(value: Any, *, secret: str | None = None) -> str | None:
    """What an `error` says, on one line of 500 characters: a string, a list, or an object.

    `secret` is blotted out of it.
    """
    if isinstance(value, Mapping):
        value = next((value[key] for key in ("message", "error", "code") if key in value), None)
    text = " ".join((text_of(value) or "").split())
    if secret:
        text = text.replace(secret, "…")
    return text[:_LONGEST_ERROR] or None
