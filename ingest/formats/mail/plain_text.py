"""Plain text of messages as Markdown: what could be misread as structure is escaped."""

import re

from ingest.formats.common.markdown import plain

# Would turn the line above into a heading; the most common one starts a signature.
_UNDERLINE = re.compile(r"(?<=[^\n]\n)(?= {0,3}(?:=+|-{2,})[ \t]*$)", re.MULTILINE)
_SIGNED = re.compile(r"^-----BEGIN PGP SIGNED MESSAGE-----\n(?:Hash:[^\n]*\n)*", re.MULTILINE)
_ARMOUR, _ARMOUR_END = "-----BEGIN PGP SIGNATURE-----\n", "-----END PGP SIGNATURE-----"
_QUOTE = re.compile(r"(?:> ?)*")
_FLOWED = re.compile(r"format\s*=\s*\"?flowed", re.IGNORECASE)
_DELSP = re.compile(r"delsp\s*=\s*\"?yes", re.IGNORECASE)


def is_pgp_encrypted(text: str) -> bool:
    """Whether the text is an encrypted message in ASCII armour."""
    return text.lstrip().startswith("-----BEGIN PGP MESSAGE-----")


def plain_markdown(text: str, *, declared: str = "") -> str:
    """Text with LF line endings as Markdown; `declared`: its Content-Type, for flowed lines."""
    if _FLOWED.search(declared):
        text = _unflowed(text, joint="" if _DELSP.search(declared) else " ")
    text = _without_signatures(_SIGNED.sub("", text))
    return _UNDERLINE.sub(r"\\", plain(text)).strip("\n")


def _without_signatures(text: str) -> str:
    """The text without PGP signature blocks."""
    before, begin, rest = text.partition(_ARMOUR)
    kept = [before]
    while begin:
        _, end, after = rest.partition(_ARMOUR_END)
        if not end:
            return "".join([*kept, begin, rest])
        before, begin, rest = after.partition(_ARMOUR)
        kept.append(before)
    return "".join(kept)


def _unflowed(text: str, *, joint: str) -> str:
    """Join each line that ends in a space to the next of the same quote depth (RFC 3676)."""
    done: list[str] = []
    parts: list[str] = []
    depth = -1
    for line in text.split("\n"):
        mark = _QUOTE.match(line)
        quoted = mark.group().count(">") if mark and line.startswith(">") else 0
        body = line[mark.end() if mark and quoted else 0 :]
        body = body.removeprefix(" ") if not quoted else body
        if quoted != depth and parts:
            done.append(_joined(parts, depth, joint))
            parts = []
        depth = quoted
        parts.append(body)
        if not body.endswith(" ") or body == "-- ":
            done.append(_joined(parts, depth, joint))
            parts = []
    if parts:
        done.append(_joined(parts, depth, joint))
    return "\n".join(done)


def _joined(parts: list[str], depth: int, joint: str) -> str:
    *flowing, last = parts
    text = "".join(part.removesuffix(" ") + joint for part in flowing) + last
    return "> " * depth + text if depth else text
