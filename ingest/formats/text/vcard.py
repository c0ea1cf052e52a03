"""Contacts (vCard): the fields that people read, one per line."""

import quopri
import re

from ingest.formats.common.markdown import plain
from ingest.formats.text.reading import Reading

_START = re.compile(r"\A\ufeff?\s*BEGIN:VCARD\b", re.IGNORECASE)
_FOLD = re.compile(r"\n[ \t]")
_SOFT_BREAK = re.compile(r"=\n")
_LINE = re.compile(r"(?:[\w-]{1,40}\.)?([A-Za-z-]{1,40})((?:;[^:;\n]{0,200}){0,20}):(.*)")
_TYPE = re.compile(r";(?:TYPE=)?\"?(home|work|cell|fax|main)\b", re.IGNORECASE)
_CHARSET = re.compile(r";CHARSET=([\w-]{1,40})", re.IGNORECASE)
_ESCAPED = re.compile(r"\\(.)")
_GAP = re.compile(r"(?<!\\);")
_LABELS = {
    "FN": "Name",
    "NICKNAME": "Nickname",
    "ORG": "Organisation",
    "TITLE": "Title",
    "ROLE": "Role",
    "TEL": "Telephone",
    "EMAIL": "E-mail",
    "ADR": "Address",
    "URL": "Link",
    "BDAY": "Birthday",
    "NOTE": "Note",
    "CATEGORIES": "Categories",
}


def is_contacts(text: str) -> bool:
    """Whether the text begins as a vCard."""
    return _START.match(text[:200]) is not None


def read_contacts(text: str) -> Reading:
    """Each contact as a paragraph; `text` has LF line endings. Pictures and keys are left out."""
    people: list[list[str]] = []
    is_quoted = "QUOTED-PRINTABLE" in text.upper()
    unfolded = _FOLD.sub("", _SOFT_BREAK.sub("", text) if is_quoted else text)
    for line in unfolded.split("\n"):
        match = _LINE.fullmatch(line.rstrip("\r"))
        if match is None:
            continue
        name, parameters, value = match[1].upper(), match[2], match[3].strip()
        if name == "BEGIN":
            people.append([])
        elif people and name in _LABELS and value:
            kind = _TYPE.search(parameters)
            label = f"{_LABELS[name]} ({kind[1].lower()})" if kind else _LABELS[name]
            if shown := _readable(parameters, value):
                people[-1].append(f"{label}: {shown}")
    said = "\n\n".join("\n".join(lines) for lines in people if lines)
    return Reading(text=plain(said) if said else text)


def _readable(parameters: str, value: str) -> str:
    if "QUOTED-PRINTABLE" in parameters.upper():
        charset = _CHARSET.search(parameters)
        data = quopri.decodestring(value.encode("utf-8", "replace"))
        try:
            value = data.decode(charset[1] if charset else "utf-8", "replace")
        except LookupError:
            value = data.decode("utf-8", "replace")
    parts = (part.strip() for part in _GAP.split(value))
    shown = ", ".join(filter(None, parts))
    return _ESCAPED.sub(lambda mark: " " if mark[1] in "nN" else mark[1], shown)
