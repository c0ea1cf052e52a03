"""The text of the web site of the acceptance tests: the same words every time, others per page."""

import hashlib
import random
from collections.abc import Iterable

_SYLLABLES = ("bra", "cel", "dor", "fim", "gul", "hes", "jat", "kov", "lim", "mur", "nop", "quel")
_WHO = ("keeper", "gardener", "captain", "clerk", "baker", "surveyor", "printer", "ferryman")
_DID = ("repaired", "measured", "painted", "counted", "described", "carried", "sold", "inspected")
_WHAT = ("the copper lantern", "an old map", "seven barrels", "the north wall", "a brass clock")
_WHEN = ("before dawn", "in the rain", "after the market", "on a Tuesday", "without any help")


def word(path: str) -> str:
    """A word that only this page has."""
    digest = hashlib.sha256(path.encode()).digest()
    return "".join(_SYLLABLES[byte % len(_SYLLABLES)] for byte in digest[:6])


def text(path: str, *, paragraphs: int = 3, version: int = 1) -> str:
    """Paragraphs of a page; in another version, the last one is another."""
    rng = random.Random(f"text of {path}")
    written = [_paragraph(rng) for _ in range(paragraphs)]
    if version > 1:
        written[-1] = _paragraph(random.Random(f"{version} of {path}"))
    written[0] = f"At the gate somebody had written {word(path)} in chalk. {written[0]}"
    return "".join(f"<p>{paragraph}</p>\n" for paragraph in written)


def _paragraph(rng: random.Random) -> str:
    return " ".join(
        f"The {rng.choice(_WHO)} {rng.choice(_DID)} {rng.choice(_WHAT)} {rng.choice(_WHEN)}"
        f" and wrote down {rng.randrange(100, 99_999)}."
        for _ in range(6)
    )


def html(
    title: str, body: str, *, links: Iterable[str] = (), head: str = "", lang: str = "en"
) -> bytes:
    """A page with what every page of the site has around its text."""
    listed = "".join(f'<li><a href="{link}">further</a></li>' for link in links)
    return (
        f'<!doctype html><html lang="{lang}"><head><meta charset="utf-8"><title>{title}</title>'
        f'<link rel="stylesheet" href="/style.css"><script src="/app.js"></script>{head}</head>'
        '<body><header><img src="/logo.png" alt=""><a href="/#top">Home</a></header>'
        f"<main><article><h1>{title}</h1>\n{body}</article></main>"
        f"<nav><ul>{listed}</ul></nav>"
        '<footer><a href="mailto:office@example.org">Write</a> <a href="javascript:void(0)">Up</a>'
        "</footer></body></html>"
    ).encode()
