"""Decides which of a page's links belong to a crawl."""

import posixpath
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal
from urllib.parse import unquote

import re2

from ingest.web.calendars import years
from ingest.web.url_parsing import UrlParts, parse
from ingest.web.urls import fetchable, normalise

SkipReason = Literal["off_site", "excluded", "too_deep", "trap", "not_a_page", "robots_disallowed"]

# Documents (PDF, Word, CSV …) are pages. XML and JSON are not: linked ones are feeds, sitemaps and
# APIs, whose content the pages show anyway.
_NOT_A_PAGE = re.compile(
    r"\.(?:avif|bmp|cur|gif|heic|ico|jpe|jpeg|jpg|jxl|png|psd|svg|tif|tiff|webp"
    "|eot|otf|ttf|woff|woff2|css|less|scss|js|jsx|map|mjs|ts|wasm|webmanifest"
    "|3gp|aac|avi|flac|flv|m3u8|m4a|m4v|mid|mkv|mov|mp3|mp4|mpeg|mpg|oga|ogg|ogv|opus|wav|weba|webm"
    "|wma|wmv|7z|apk|bin|bz2|deb|dll|dmg|exe|gz|iso|jar|msi|pkg|rar|rpm|so|tar|tbz|tgz|xz|zip|zst"
    "|atom|json|jsonld|rdf|rss|xml|xsd|xsl)",
    re.IGNORECASE,
)
_REPEATS = 3  # of one path segment: a relative link that grows on each page
_DEEPEST = 20  # path segments
_MOST_PARAMETERS = 10
_MOST_OF_A_NAME = 3  # parameters of one name, except lists (`tag[]=a&tag[]=b`)
_YEARS_AHEAD = 2  # calendars have pages for all years to come
_LONGEST = 1000  # characters; handmade URLs stay below, generated ones grow
_MOST_PATTERNS = 50
_LONGEST_PATTERN = 1000  # characters
_PATTERN_MEMORY = 1 << 20  # bytes per pattern: with _LONGEST, a search takes at most 20 ms


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """The limits of a crawl. Built by build_scope()."""

    seed: UrlParts
    """Where the crawl starts; its host is the site."""
    place: str
    """Path and query of normalise(seed), to recognise the seed among the pages."""
    max_depth: int
    """Links to follow from the seed, which has depth 0."""
    last_year: int
    """Pages of later dates are endless."""
    include: tuple[Any, ...] = ()
    exclude: tuple[Any, ...] = ()

    def adopt(self, url: str) -> str:
        """The URL with the seed's origin: with or without `www.`, http or https.

        URLs of other sites and invalid URLs are returned unchanged.
        """
        try:
            parts = parse(url, spaces=True)
            if not self._has(parts):
                return url
            return self.seed.origin + fetchable(url).removeprefix(parts.origin)
        except ValueError:
            return url

    def refusal(self, url: str, *, depth: int) -> SkipReason | None:
        """Why a page does not belong to the crawl, or None. The seed always belongs.

        `url` is the URL to request (fetchable()): patterns see its final slash.
        """
        try:
            address = fetchable(url)
            parts = parse(address)
            if not self._has(parts):
                return "off_site"
            if normalise(address).removeprefix(parts.origin) == self.place:
                return None
        except ValueError:
            return "not_a_page"
        if _is_no_page(parts.path):
            return "not_a_page"
        if _is_trap(address, parts) or any(
            year > self.last_year for year in years(parts.path, parts.query)
        ):  # before the patterns: limits the text they search
            return "trap"
        if not self._is_wanted(parts):
            return "excluded"
        return "too_deep" if depth > self.max_depth else None

    def _has(self, parts: UrlParts) -> bool:
        return (_bare(parts.host), parts.port) == (_bare(self.seed.host), self.seed.port)

    def _is_wanted(self, parts: UrlParts) -> bool:
        text = parts.path + (f"?{parts.query}" if parts.query else "")
        spellings = {text, unquote(text)}  # people write `/größe`, URLs hold `/gr%C3%B6%C3%9Fe`
        if _finds(self.exclude, spellings):
            return False
        return not self.include or _finds(self.include, spellings)


def build_scope(
    *, seed: str, max_depth: int, include: Iterable[str] = (), exclude: Iterable[str] = ()
) -> Scope:
    """Build the scope of a crawl that starts at `seed`.

    A page must match one of `include`, if there are any, and none of `exclude`: regular
    expressions (RE2), searched in the path with its query, such as `/blog/2024?page=2`.
    ValueError names the invalid pattern, or says what is wrong with `seed`.
    """
    parts = parse(fetchable(seed))
    return Scope(
        seed=parts,
        place=normalise(fetchable(seed)).removeprefix(parts.origin),
        max_depth=max_depth,
        last_year=datetime.now(UTC).year + _YEARS_AHEAD,
        include=_compiled(include),
        exclude=_compiled(exclude),
    )


def _compiled(patterns: Iterable[str]) -> tuple[Any, ...]:
    options = re2.Options()
    options.log_errors = False
    options.max_mem = _PATTERN_MEMORY
    options.never_capture = True  # we need no groups: 1,000 times faster on hostile patterns
    found = []
    for pattern in patterns:
        if len(pattern) > _LONGEST_PATTERN:
            raise ValueError(f"A pattern is longer than {_LONGEST_PATTERN} characters.")
        try:
            found.append(re2.compile(pattern, options))
        except (re2.error, UnicodeEncodeError):
            raise ValueError(
                f"The pattern {pattern!r} is not valid; look-around and back-references are not"
                " supported (RE2 syntax)."
            ) from None
    if len(found) > _MOST_PATTERNS:
        raise ValueError(f"There are more than {_MOST_PATTERNS} patterns.")
    return tuple(found)


def _finds(patterns: tuple[Any, ...], texts: Iterable[str]) -> bool:
    return any(pattern.search(text) for pattern in patterns for text in texts)


def _bare(host: str) -> str:
    return host.removeprefix("www.")


def _is_no_page(path: str) -> bool:
    return _NOT_A_PAGE.fullmatch(posixpath.splitext(unquote(path))[1]) is not None


def _is_trap(url: str, parts: UrlParts) -> bool:
    segments = [segment for segment in parts.path.split("/") if segment]
    return (
        len(url) > _LONGEST
        or len(segments) > _DEEPEST
        or max(Counter(segments).values(), default=0) >= _REPEATS
        or _has_many_parameters(parts.query)
    )


def _has_many_parameters(query: str) -> bool:
    names = [item.partition("=")[0] for item in query.split("&")]
    single = Counter(name for name in names if not unquote(name).endswith("]"))
    return len(names) > _MOST_PARAMETERS or max(single.values(), default=0) > _MOST_OF_A_NAME
