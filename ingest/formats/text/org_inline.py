"""Running text of Org: links, code, raised and lowered letters, timestamps; emphasis stays."""

import re

from ingest.formats.common.raised_text import lowered, raised, written_out

_LINK = re.compile(r"(?<!\w)\[\[(?!\s)([^\]\n]{1,500})\](?:\[([^\]\n]{1,300})\])?\]")
_WEB = re.compile(r"https?:|mailto:")
_INNER = re.compile(r"(?:file|id|fuzzy|attachment):|[*#]")
_MARK = re.compile(r"\[fn:([\w-]{1,40})\]")
_CODE = re.compile(r"(?:(?<=[\s({'\"-])|^)([=~])(\S(?:[^\n]{0,500}?\S)?)\1(?=[\s.,;:!?'\")}\[-]|$)")
_MOVED = re.compile(r"(?<=\S)([\^_])\{([^{}\n]{1,60})\}")
_TIME = re.compile(
    r"[<\[](\d{4}-\d\d-\d\d(?: [^\W\d]{1,12}\.?)?(?: [\d:-]{4,11})?)"
    r"(?: [.+-]{1,2}\d{1,4}[hdwmy]){0,3}[>\]]"
)
_TARGET = re.compile(r"<<<?(?!\s)([^<>\n]{1,100})(?<!\s)>>>?")
_ANGLED = re.compile(r"<((?:https?|mailto):[^<>\s]{1,500})>")


def inline(text: str) -> str:
    """The text as Markdown."""
    if not any(mark in text for mark in "[=~{<"):
        return text
    pieces = []
    at = 0
    for code in _CODE.finditer(text):
        pieces += [_written(text[at : code.start()]), f"`{code[2]}`"]
        at = code.end()
    return written_out("".join([*pieces, _written(text[at:])]))


def _written(text: str) -> str:
    text = _MARK.sub(r"[^\1]", text)
    text = _LINK.sub(_linked, text)
    text = _TIME.sub(r"\1", text)
    text = _TARGET.sub(r"\1", _ANGLED.sub(r"\1", text))
    return _MOVED.sub(lambda one: (raised if one[1] == "^" else lowered)(one[2]), text)


def _linked(link: re.Match[str]) -> str:
    if not link[2]:
        return link[1] if _WEB.match(link[1]) else _INNER.sub("", link[1], count=1)
    return f"[{link[2]}]({link[1]})" if _WEB.match(link[1]) else link[2]
