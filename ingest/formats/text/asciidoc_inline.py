"""Running text of AsciiDoc: attributes, macros, links, references, notes; emphasis stays."""

import re
from collections.abc import Mapping

from ingest.formats.common.raised_text import lowered, raised, written_out

_IMAGE = re.compile(
    r"(?:image|video|audio)::?[^\[\s]{1,300}\[(?:\"([^\"\n]{0,300})\"|([^\],\"=\n]{0,300})(?=[,\]]))?"
    r"([^\]\n]{0,300})\]"
)
_ALT = re.compile(r"\balt=(?:\"([^\"]*)\"|([^,\]]*))")
_NOTE = re.compile(
    r"\s?footnote(?:ref)?:[\w-]{0,60}\[((?:[^\[\]\n]|\[[^\[\]\n]{0,300}\]){1,1000})\]"
)
_LINK = re.compile(
    r"(?:link:)?((?:https?|mailto):[^\s\[\]<>]{1,500})\[([^\]\n,^]{1,300})[^\]\n]{0,100}\]"
)
_BARE_LINK = re.compile(r"(?:link:)((?:https?|mailto):[^\s\[\]<>]{1,500})\[\]")
_INNER_LINK = re.compile(
    r"link:(?:\+\+)?([^\s\[\]<>+]{1,500})(?:\+\+)?\[([^\]\n,^]{0,300})[^\]\n]{0,100}\]"
)
_REFERENCE = re.compile(
    r"<<([^,<>\n]{1,200})(?:,\s*([^<>\n]{1,200}))?>>|xref:([^\[\s]{1,200})\[([^\]\n]{0,200})\]"
)
_RAISED = re.compile(r"(?<=\w)(\^|~)([^\s^~]{1,12})\1")
_NAMED = re.compile(r"\{([\w-]{1,60})\}")
_UNKNOWN_LINK = re.compile(r"\{[\w-]{1,60}\}[^\s\[\]]{0,200}\[([^\]\n,^]{1,300})[^\]\n]{0,100}\]")
"""Its address is stated in another file."""
_CHARACTERS = {
    "nbsp": " ", "zwsp": "", "empty": "", "blank": "", "sp": " ", "plus": "+", "amp": "&",
    "lt": "<", "gt": ">", "vbar": "|", "asterisk": "*", "startsb": "[", "endsb": "]", "caret": "^",
    "tilde": "~", "backslash": "\\", "backtick": "`", "apos": "'", "quot": '"', "deg": "°",
    "cpp": "C++", "two-colons": "::", "two-semicolons": ";;", "underscore": "_",
}  # fmt: skip
_MACRO = re.compile(r"\b(?:kbd|btn|pass|stem|latexmath|asciimath):[a-z,]{0,10}\[([^\]\n]{0,500})\]")
_MENU = re.compile(r"\bmenu:([^\[\]\n]{1,100})\[([^\]\n]{0,200})\]")
_INDEXED = re.compile(
    r"\(\(\([^()\n]{1,300}\)\)\)|(?<!\w)\(\(([^()\n]{1,300})\)\)|indexterm2?:\[[^\]\n]{0,200}\]"
)
_ROLE = re.compile(r"\[[.#][\w.#-]{1,60}\](?=[#*_`])|(?<!\w)#(\S[^#\n]{0,300}?)#(?!\w)")
_LITERAL = re.compile(r"`\+([^+`\n]{1,500})\+`|(?<!\w)\+([^\s+][^+\n]{0,300}?)\+(?!\w)")
_QUOTES = (
    (re.compile(r"\"`([^`\n]{1,500})`\""), r"“\1”"),
    (re.compile(r"'`([^`\n]{1,500})`'"), "\u2018\\1\u2019"),
)
_BREAK = re.compile(r"[ \t]\+[ \t]*$")
_ANCHORS = re.compile(
    r"\[\[[^\W\d][\w:.-]{0,99}(?:,[^\]\n]{0,100})?\]\]|anchor:[\w:.-]{1,100}\[[^\]\n]{0,100}\]"
)


class Inline:
    """Running text as Markdown; collects the notes, by number, in `notes`.

    `sections`: titles by the anchors that references name.
    """

    def __init__(self, sections: Mapping[str, str]) -> None:
        self._sections = sections
        self.attributes: dict[str, str] = {}
        self.notes: dict[int, str] = {}

    def write(self, text: str) -> str:
        if not any(mark in text for mark in "{[<^~+#`("):
            return text
        text = _UNKNOWN_LINK.sub(r"\1", _NAMED.sub(self._named, text))
        text = _ANCHORS.sub("", _INDEXED.sub(lambda found: found[1] or "", text))
        text = _IMAGE.sub(_alternative, text)
        text = _NOTE.sub(self._noted, text)
        text = _BARE_LINK.sub(r"\1", _LINK.sub(r"[\2](\1)", text))
        text = _INNER_LINK.sub(lambda found: found[2] or found[1], text)
        text = _REFERENCE.sub(self._referred, text)
        text = _MENU.sub(r"\1 > \2", _MACRO.sub(r"\1", text))
        for pattern, shown in _QUOTES:
            text = pattern.sub(shown, text)
        text = _LITERAL.sub(lambda found: f"`{found[1]}`" if found[1] else found[2], text)
        text = _ROLE.sub(lambda found: found[1] or "", text)
        return written_out(_RAISED.sub(_moved, _BREAK.sub("", text)))

    def _named(self, found: re.Match[str]) -> str:
        name = found[1]
        return self.attributes.get(name) or _CHARACTERS.get(name, found[0])

    def _noted(self, found: re.Match[str]) -> str:
        number = len(self.notes) + 1
        self.notes[number] = ""
        self.notes[number] = self.write(found[1])
        return f"[^{number}]"

    def _referred(self, found: re.Match[str]) -> str:
        target = (found[1] or found[3]).removeprefix("#")
        return found[2] or found[4] or self._sections.get(target, target)


def _alternative(found: re.Match[str]) -> str:
    named = _ALT.search(found[3])
    first = found[1] or found[2]
    return (named[1] or named[2]) if named and not first else first or ""


def _moved(found: re.Match[str]) -> str:
    return raised(found[2]) if found[1] == "^" else lowered(found[2])
