"""Requests to fetch a page or a site: validated, and turned into a run."""

from collections.abc import Callable
from dataclasses import replace
from typing import Annotated, Any, Final, TypeVar
from uuid import UUID

from pydantic import Field

from api.problems import FieldRejected
from api.schema.json_model import Body, Text
from ingest.errors import Permanent
from ingest.providers.fetch.user_urls import WebAddress, check_patterns, read_address
from ingest.settings.settings import Settings
from ingest.store.crawl.runs import CrawlProvider, CrawlSettings, NewRun

T = TypeVar("T")

DEFAULT_LIMIT: Final = 1000

Pattern = Annotated[Text, Field(min_length=1, max_length=500)]
Patterns = Annotated[list[Pattern], Field(max_length=50)]

# Settings that a request for a known site may omit; the stored values are then kept.
_SETTINGS: Final = frozenset({"limit", "max_depth", "include_paths", "exclude_paths", "provider"})


class CrawlRequest(Body):
    """The fields after `crawlLinks` configure the crawl of a site; a single page takes none."""

    url: Annotated[Text, Field(min_length=1, max_length=4096)]
    crawl_links: bool = False
    limit: Annotated[int, Field(ge=1, le=100_000)] | None = None
    """Maximum number of pages; 1,000 by default."""
    max_depth: Annotated[int, Field(ge=0, le=100)] | None = None
    """Maximum number of links from the start; unlimited by default."""
    include_paths: Patterns = Field(default_factory=list)
    """RE2 expressions; at least one must be found in the path of a page (with its query)."""
    exclude_paths: Patterns = Field(default_factory=list)
    provider: CrawlProvider | None = None


def new_run(
    request: CrawlRequest,
    *,
    application_id: UUID,
    settings: Settings,
    metadata: dict[str, Any] | None,
    place: str,
) -> NewRun:
    """Build the run for a request. Raises FieldRejected with the path of the invalid field."""
    address = _address(request.url, settings, place)
    reach = _crawl(request, settings, place) if request.crawl_links else _page(request, place)
    return NewRun(
        application_id=application_id,
        type="site" if request.crawl_links else "url",
        uri=address.uri,
        name=address.name,
        settings=replace(reach, start=address.start),
        stated=frozenset(request.model_fields_set & _SETTINGS) | {"start", "variants"},
        metadata=metadata,
        quotas=settings.quotas,
    )


def _address(url: str, settings: Settings, place: str) -> WebAddress:
    try:
        return _named((place, "url"), lambda: read_address(url, allow=settings.fetch_allow))
    except Permanent as error:
        raise FieldRejected(str(error), loc=(place, "url"), code=error.code) from None


def _page(request: CrawlRequest, place: str) -> CrawlSettings:
    for name, value in (
        ("limit", request.limit),
        ("maxDepth", request.max_depth),
        ("includePaths", request.include_paths or None),
        ("excludePaths", request.exclude_paths or None),
        ("provider", request.provider),
    ):
        if value is not None:
            raise FieldRejected("applies to sites only: set crawlLinks as well", loc=(place, name))
    return CrawlSettings()


def _crawl(request: CrawlRequest, settings: Settings, place: str) -> CrawlSettings:
    provider = request.provider or settings.crawl_provider
    if provider == "firecrawl" and not (settings.firecrawl_api_key or settings.firecrawl_api_url):
        raise FieldRejected(
            "Firecrawl is not configured",
            loc=(place, "provider"),
            code="provider_not_configured",
        )
    _named((place, "includePaths"), lambda: check_patterns(request.include_paths))
    _named((place, "excludePaths"), lambda: check_patterns(request.exclude_paths))
    return CrawlSettings(
        limit=request.limit or DEFAULT_LIMIT,
        max_depth=request.max_depth,
        include_paths=tuple(request.include_paths),
        exclude_paths=tuple(request.exclude_paths),
        variants=settings.crawl_variants,
        provider=provider,
    )


def _named(loc: tuple[str, ...], check: Callable[[], T]) -> T:
    """Return the result of `check`; turn ValueError into FieldRejected for the field at `loc`."""
    try:
        return check()
    except ValueError as error:
        raise FieldRejected(str(error), loc=loc) from None
