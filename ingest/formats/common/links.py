"""Links of documents as Markdown."""

import re

_LONGEST = 2000  # characters; what is longer is data rather than an address
_ADDRESS = re.compile(r"(?:https?|mailto):[^\s<>]+", re.IGNORECASE)
_SAYS_ONE = re.compile(r"https?://\w|\bwww\.\w", re.IGNORECASE)
_FORBIDDEN = re.compile(r"[\[\]\n]")
_ENCODED = str.maketrans({"(": "%28", ")": "%29", "|": "%7C"})  # they would end a link, or a cell


def web_address(stated: str) -> str | None:
    """The address of a page or a mail box; None for other schemes, such as `javascript:`."""
    if len(stated) > _LONGEST or _ADDRESS.fullmatch(stated) is None:
        return None
    return stated.translate(_ENCODED)


def can_be_linked(text: str) -> bool:
    """Whether the text can stand between the brackets of a link."""
    return any(map(str.isalnum, text)) and _FORBIDDEN.search(text) is None


def says_address(text: str, address: str) -> bool:
    """Whether the text is part of the address, or contains it or another one, as in print."""
    if _SAYS_ONE.search(text):
        return True
    shown = "".join(text.split()).strip("<>,.;").translate(_ENCODED)
    return shown in address


def link(text: str, address: str | None) -> str:
    """A Markdown link, or the text alone if that says the address, or there is none."""
    if not address or not can_be_linked(text) or says_address(text, address):
        return text
    return f"[{text}]({address})"
