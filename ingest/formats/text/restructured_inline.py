"""Running text of reStructuredText: roles, links, notes, substitutions, escapes."""

import re

from ingest.formats.common.raised_text import lowered, raised, written_out

_ROLE = re.compile(r"(?<![\w:]):([a-zA-Z][\w:+.-]{0,40}):`([^`]{1,300})`")
_LABELLED = re.compile(r"!?~?(.*?)\s*<[^<>]{1,300}>", re.DOTALL)
_LINK = re.compile(r"`([^`<]{1,300}?)\s*<(https?://[^`>\s]{1,500}|mailto:[^`>\s]{1,200})>`__?")
_INNER_LINK = re.compile(
    r"(?<![\w`])`([^`<]{1,200}?)(?:\s<[^`>\n]{1,200}>)?`__?(?!\w)"
    r"|(?<![\w`.\]:])([A-Za-z0-9][\w.-]{0,80}?)_(?![\w`])"
)
_INNER_TARGET = re.compile(r"(?<![\w`])_`([^`\n]{1,200})`")
_TARGETS = re.compile(r"^[ ]*\.\. _`?([^:`\n]{1,200})`?: *(https?://\S+|mailto:\S+)", re.MULTILINE)
_SUBSTITUTES = re.compile(
    r"^[ ]*\.\. \|([^|\n]{1,80})\| replace:: *(.*(?:\n[ ]+\S.*){0,20})"
    r"|^[ ]*\.\. \|([^|\n]{1,80})\| (?:image|figure)::.*\n(?:[ ]+:(?!alt)[\w-]+:.*\n){0,20}"
    r"[ ]+:alt: *(.*)"
    r"|^[ ]*\.\. \|([^|\n]{1,80})\| unicode:: *(?:U\+|0x)([0-9A-Fa-f]{2,6})",
    re.MULTILINE,
)
_IMAGES = re.compile(r"^[ ]*\.\. \|([^|\n]{1,80})\| (?:image|figure)::", re.MULTILINE)
_SUBSTITUTE = re.compile(r"\|([^|\s](?:[^|\n]{0,78}[^|\s])?)\|_{0,2}")
_MARK = re.compile(r"\[#?([\w.-]{1,40})\]_(?!\w)")
_NUMBERED = re.compile(r"\[([#*])\]_(?!\w)")
_LITERAL = re.compile(r"(``[^`].{0,1000}?``)", re.DOTALL)
_NULL_SPACE = re.compile(r"\\ |(?<=\S)\\\n")  # ` \` at the end of a line is of commands
_ESCAPED = re.compile(r"\\([^\s\w])")
_MOST_SUBSTITUTES = 1000


class Inline:
    """Running text as Markdown; knows the targets and substitutes of the whole text."""

    def __init__(self, text: str) -> None:
        self._urls = {" ".join(name.lower().split()): url for name, url in _TARGETS.findall(text)}
        self._substitutes = dict.fromkeys(_IMAGES.findall(text)[:_MOST_SUBSTITUTES], "")
        for found in list(_SUBSTITUTES.finditer(text))[:_MOST_SUBSTITUTES]:
            if found[1]:
                self._substitutes[found[1]] = " ".join(found[2].split())
            elif found[3]:
                self._substitutes[found[3]] = found[4].strip()
            elif int(found[6], 16) < 0x110000:
                self._substitutes[found[5]] = chr(int(found[6], 16))
        self._marks = {"#": 0, "*": 0}

    def write(self, text: str) -> str:
        if not any(mark in text for mark in "`_\\|"):
            return text
        pieces = _LITERAL.split(text)
        pieces[1::2] = [f"`{piece[2:-2]}`" for piece in pieces[1::2]]
        pieces[::2] = map(self._written, pieces[::2])
        return written_out("".join(pieces))

    def number(self, mark: str) -> str:
        """The name of the next note that is marked `#` or `*`."""
        self._marks[mark] += 1
        return f"{'auto' if mark == '#' else 'sign'}{self._marks[mark]}"

    def _written(self, text: str) -> str:
        if self._substitutes and "|" in text:
            text = _SUBSTITUTE.sub(lambda found: self._substitutes.get(found[1], found[0]), text)
        text = _ROLE.sub(_role, text)
        text = _LINK.sub(r"[\1](\2)", text)
        text = _INNER_TARGET.sub(r"\1", text)
        text = _INNER_LINK.sub(self._linked, text)
        text = _NUMBERED.sub(lambda found: f"[^{self.number(found[1])}]", text)
        text = _MARK.sub(r"[^\1]", text)
        return _ESCAPED.sub(r"\1", _NULL_SPACE.sub("", text))

    def _linked(self, found: re.Match[str]) -> str:
        """A link by its name: with its address, if that is stated elsewhere."""
        name = found[1] or found[2]
        url = self._urls.get(" ".join(name.lower().split()))
        return f"[{name}]({url})" if url else name if found[1] else found[0]


def _role(found: re.Match[str]) -> str:
    name, text = found[1].rpartition(":")[2], found[2]
    if name in ("sub", "subscript"):
        return lowered(text)
    if name in ("sup", "superscript"):
        return raised(text)
    labelled = _LABELLED.fullmatch(text)
    shown = labelled[1] if labelled and labelled[1] else text.lstrip("!")
    return shown.rpartition(".")[2] if shown.startswith("~") else shown
