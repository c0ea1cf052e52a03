"""The strictness of `POST /v2/crawl`: an unknown key or a wrong type is HTTP 400."""

import re
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

Check = Callable[[Any], bool]


def complaint(body: Any) -> str | None:
    """Why the request would be refused; None if it would not."""
    if not isinstance(body, dict):
        return "Invalid input: expected object"
    if "url" not in body:
        return "url is required"
    return _first_fault(body, _CRAWL)


def _first_fault(value: Mapping[str, Any], checks: Mapping[str, Check]) -> str | None:
    for key, item in value.items():
        if key not in checks:
            return f'Unrecognized key in body: "{key}"'
        if not checks[key](item):
            return f"Invalid value: {key}"
    return None


def _is_bool(value: Any) -> bool:
    return isinstance(value, bool)


def _is_natural(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_positive(value: Any) -> bool:
    return _is_natural(value) and value > 0


def _is_target(value: Any) -> bool:
    """Firecrawl wants a top-level domain or an address; a port is ours for local sites."""
    host = (urlsplit(value).hostname or "") if isinstance(value, str) else ""
    return bool(re.search(r"\.[a-z0-9-]+$|:", host, re.IGNORECASE))


def _are_patterns(value: Any) -> bool:
    try:
        return isinstance(value, list) and all(re.compile(item) for item in value)
    except (re.error, TypeError):
        return False


def _is_map_of_strings(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(item, str) for item in value.values())


def _is_header_map(value: Any) -> bool:
    return _is_map_of_strings(value) and "x-firecrawl-signature" not in {
        name.lower() for name in value
    }


def _are_events(value: Any) -> bool:
    known = {"started", "page", "completed", "failed"}
    return isinstance(value, list) and all(item in known for item in value)


def _is_webhook(value: Any) -> bool:
    if isinstance(value, str):
        return bool(urlsplit(value).netloc)
    return isinstance(value, dict) and "url" in value and _first_fault(value, _WEBHOOK) is None


def _are_options(value: Any) -> bool:
    return isinstance(value, dict) and _first_fault(value, _OPTIONS) is None


def _are_formats(value: Any) -> bool:
    known = {"markdown", "html", "rawHtml", "links", "images", "summary", "screenshot"}
    return isinstance(value, list) and all(item in known for item in value)


_WEBHOOK: Mapping[str, Check] = {
    "url": lambda value: isinstance(value, str) and bool(urlsplit(value).netloc),
    "headers": _is_header_map,
    "metadata": _is_map_of_strings,
    "events": _are_events,
}
_OPTIONS: Mapping[str, Check] = {
    "formats": _are_formats,
    "onlyMainContent": _is_bool,
    "maxAge": _is_natural,
    "timeout": lambda value: _is_natural(value) and value >= 1000,
    "waitFor": lambda value: _is_natural(value) and value <= 60_000,
}
_CRAWL: Mapping[str, Check] = {
    "url": _is_target,
    "limit": _is_positive,
    "maxDiscoveryDepth": _is_natural,
    "includePaths": _are_patterns,
    "excludePaths": _are_patterns,
    "regexOnFullURL": _is_bool,
    "crawlEntireDomain": _is_bool,
    "allowExternalLinks": _is_bool,
    "allowSubdomains": _is_bool,
    "sitemap": lambda value: value in ("include", "skip", "only"),
    "ignoreRobotsTxt": _is_bool,
    "ignoreQueryParameters": _is_bool,
    "deduplicateSimilarURLs": _is_bool,
    "delay": lambda value: _is_positive(value) and value <= 60,
    "maxConcurrency": _is_positive,
    "webhook": _is_webhook,
    "scrapeOptions": _are_options,
    "zeroDataRetention": _is_bool,
}
