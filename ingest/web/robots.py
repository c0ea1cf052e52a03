"""What a site allows robots: robots.txt, read by protego as search engines read it (RFC 9309)."""

import re
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from protego import Protego

from ingest.web.urls import fetchable

_MOST_BYTES = 500 * 1024  # what RFC 9309 asks for
_MOST_LINES = 10_000  # without empty ones; with _MOST_BYTES, allows() takes 50 ms at most
_MOST_SITEMAPS = 50
_LONGEST_DELAY = 30.0  # seconds; above, a site of 1,000 pages would take days
_USER_AGENT = re.compile(r"\s*user(?:-|\s*)agent(?:\s*:|\s)(?P<name>[^#]*)", re.IGNORECASE)
_SOMEBODY_ELSE = "-"


@dataclass(frozen=True, slots=True, kw_only=True)
class Robots:
    """The rules of one origin for one robot."""

    delay: float | None
    """Seconds to wait between two requests, if the site asks for it; at most 30."""
    sitemaps: tuple[str, ...]
    """Absolute addresses, at most 50."""
    _agent: str
    _rules: Protego

    def allows(self, url: str) -> bool:
        """Whether the robot may request an address of this origin; never what is no address."""
        try:
            return bool(self._rules.can_fetch(fetchable(url), self._agent))
        except ValueError:
            return False


def read(body: bytes, *, agent: str) -> Robots:
    """The rules for the robot `agent` (`name` or `name/version`) in the first 500 KiB of a file.

    Never fails; what is no rule is left out, so that an empty body allows everything.
    """
    name = agent.partition("/")[0].strip().lower()
    rules = Protego.parse("\n".join(islice(_lines(body[:_MOST_BYTES], name), _MOST_LINES)))
    delay = rules.crawl_delay(name)
    return Robots(
        delay=None if delay is None else min(delay, _LONGEST_DELAY),
        sitemaps=_sitemaps(rules),
        _agent=name,
        _rules=rules,
    )


def _lines(body: bytes, agent: str) -> Iterator[str]:
    """The lines with words; groups of all other robots are put into one.

    The library keeps every rule once for each robot of its group: thousands of both would take
    all memory.
    """
    for line in _decoded(body).splitlines():
        found = _USER_AGENT.match(line)
        if found is not None:
            token = _token(found["name"])
            yield f"User-agent: {token if token in ('*', agent) else _SOMEBODY_ELSE}"
        elif line.strip():
            yield line


def _token(name: str) -> str:
    """The name of a robot without version and wildcards; `*` is all of them."""
    name = name.partition("/")[0].strip().lower()
    return name.strip("*").strip() or name


def _decoded(body: bytes) -> str:
    if body.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        return body.decode("utf-16", "replace")
    return body.decode("utf-8-sig", "replace")


def _sitemaps(rules: Protego) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for reference in rules.sitemaps:
        try:
            found[fetchable(reference)] = None
        except ValueError:
            continue
        if len(found) == _MOST_SITEMAPS:
            break
    return tuple(found)
