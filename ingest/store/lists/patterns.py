"""Patterns of `ilike` from what users type."""

import re
from typing import Final

_SPECIAL: Final = re.compile(r"[\\%_]")


def containing(text: str) -> str:
    """Matches texts that contain this one, in any case; no character has a special meaning."""
    literal = _SPECIAL.sub(lambda found: "\\" + found[0], text)
    return f"%{literal}%"
