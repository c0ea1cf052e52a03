"""robots.txt: what a site allows crawlers. Parsed by protego, like search engines (RFC 9309)."""

import re
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from protego import Protego

from ingest.web.urls import fetchable

_MOST_BYTES = 500 * 1024  # the minimum of RFC 9309
_MOST_LINES = 10_000  # non-empty; with _MOST_BYTES, allows() takes at most 50 ms
_MOST_SITEMAPS = 50
_LONGEST_DELAY = 30.0  # seconds; with more, a site of 1,000 pages would take days
_USER_AGENT = re.compile(r"\s*user(?:-|\s*)agent(?:\s*:|\s)(?P<name>[^#]*)", re.IGNORECASE)
_SOMEBODY_ELSE = "-"
_OUR_AGENT = "rag-ingest"


@dataclass(frozen=True, slots=True, kw_only=True)
class Robots:
    """The rules of one origin for one crawler."""

    delay: float | None
    """Seconds to wait between two requests, if the site asks for that; at most 30."""
    sitemaps: tuple[str, ...]
    """Absolute URLs, at most 50."""
    _agent: str
    _rules: Protego

    def allows(self, url: str) -> bool:
        """Whether the crawler may request a URL of this origin; False for an invalid URL."""
        try:
            return bool(self._rules.can_fetch(fetchable(url), self._agent))
        except ValueError:
            return False


def read(body: bytes, *, agent: str) -> Robots:
    """Read the rules for crawler `agent` (`name` or `name/version`) in the file's first 500 KiB.

    Never fails: invalid lines are ignored, and an empty body allows everything.
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
    """The non-empty lines, with one shared name in place of every crawler except ours and `*`.

    protego copies each rule for every crawler of its group; thousands of crawlers times thousands
    of rules would exhaust memory.
    """
    for line in _decoded(body).splitlines():
        found = _USER_AGENT.match(line)
        if found is not None:
            token = _token(found["name"])
            yield f"User-agent: {token if token in ('*', agent) else _SOMEBODY_ELSE}"
        elif line.strip():
            yield line


def _token(name: str) -> str:
    """The name of a crawler without version and wildcards; `*` means all crawlers."""
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


@dataclass(frozen=True, slots=True, kw_only=True)
class RobotsTag:
    index: bool = True
    """Whether the response may be indexed."""
    follow: bool = True
    """Whether its links may be followed."""


def read_tag(value: str) -> RobotsTag:
    """Read the rules for all crawlers and this one; several headers, joined by commas, all apply.

    A rule may name one crawler (`otherbot: noindex, nofollow`). The name applies to all rules after
    it, up to the next name.
    """
    rules, is_ours = set(), True
    for part in value.lower().split(","):
        name, colon, rest = part.partition(":")
        if colon and " " not in name.strip() and name.strip() != "unavailable_after":
            is_ours = name.strip() == _OUR_AGENT
            part = rest
        if is_ours:
            rules.add(part.strip())
    return RobotsTag(index=not rules & {"noindex", "none"}, follow=not rules & {"nofollow", "none"})
