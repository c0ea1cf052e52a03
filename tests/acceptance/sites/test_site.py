"""A web site with every trap, crawled by two workers and fetched again on the next two nights.

The site is crawled once for all tests of this file; each night is what was seen after it.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import pytest

from harness.database import Database
from harness.patience import LONG_PATIENCE
from harness.service import Service, check_adds_up, services, until
from tests.acceptance.openai_server import EmbeddingServer, embedding_server
from tests.acceptance.sites import site_pages
from tests.acceptance.sites.site_text import word
from tests.acceptance.sites.web_site import Visit, WebSite, web_site

_AT_ONCE: Final = 3
_WORKERS: Final = ("rag-ingest/1", "rag-ingest/2")
_SETTINGS: Final = {
    "INGEST_FETCH_ALLOW": "127.0.0.0/8,localhost",
    "INGEST_FETCH_MAX_BYTES": str(1024 * 1024),
    "INGEST_CRAWL_CONCURRENCY": str(_AT_ONCE),
    "INGEST_CRAWL_DELAY": "0.005",
    "INGEST_CRAWL_VARIANTS": "15",
    "INGEST_RESCRAPE": "off",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Night:
    """What there was after a run, and what it took."""

    source: Any
    crawl: Any
    pages: dict[str, Any]
    """What became of each address."""
    documents: dict[str, Any]
    """Those that are searchable, by address."""
    hits: dict[str, list[str]]
    """Addresses that are found by the word of an address."""
    visits: list[Visit]
    trespasses: list[str]
    most_at_once: int
    embedded: list[str]

    def having(self, *statuses: str) -> set[str]:
        return {uri for uri, page in self.pages.items() if page["status"] in statuses}


@dataclass(frozen=True, slots=True, kw_only=True)
class Nights:
    site: WebSite
    first: Night
    second: Night
    """The site has changed since."""
    third: Night
    """The site has not."""


class _Watch:
    """Runs the crawls and looks at what comes of them."""

    def __init__(self, site: WebSite, openai: EmbeddingServer, api: Service) -> None:
        self._site, self._openai, self._api = site, openai, api
        answer = api.http.patch(
            "/api/job-types/crawl_page", json={"maxAttempts": 2, "backoffBaseSeconds": 0.1}
        )
        assert answer.status_code == 200, answer.text

    def crawl(self) -> Night:
        body = {"url": self._site.origin, "crawlLinks": True, "excludePaths": ["^/diary/"]}
        return self._after("/upload/url", body)

    def again(self, source_id: str) -> Night:
        return self._after(f"/api/knowledge-sources/{source_id}/rescrape", None)

    def _after(self, path: str, body: Any) -> Night:
        self._site.forget_visits()
        self._openai.texts.clear()
        answer = self._api.http.post(path, json=body)
        assert answer.status_code == 202, answer.text
        source_id = answer.json()["knowledgeSourceId"]
        until(lambda: self._is_over(source_id), within=LONG_PATIENCE, every=0.5)
        visits, embedded = list(self._site.visits), list(self._openai.texts)
        place = f"/api/knowledge-sources/{source_id}"
        documents = {
            document["uri"]: document
            for document in self._api.pages(f"{place}/documents")
            if document["deletedAt"] is None
        }
        return Night(
            source=self._api.source(source_id),
            crawl=next(self._api.pages(f"{place}/crawls")),
            pages={page["uri"]: page for page in self._api.pages(f"{place}/pages")},
            documents=documents,
            hits={uri: self._found(uri) for uri in self._site.expected_pages(1) | set(documents)},
            visits=visits,
            trespasses=self._site.trespasses(),
            most_at_once=self._site.most_at_once,
            embedded=embedded,
        )

    def _is_over(self, source_id: str) -> bool:
        progress = self._api.progress(source_id)
        check_adds_up(progress)
        # Not by the counts, which are of pages: after the last one the run has still to end.
        return progress["status"] not in ("pending", "processing")

    def _found(self, uri: str) -> list[str]:
        path = uri.removeprefix(self._site.origin)
        return [hit["uri"] for hit in self._api.search(word(path), mode="keyword")]


@pytest.fixture(scope="module")
def nights(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nights]:
    folder = tmp_path_factory.mktemp("site")
    database = Database(folder / "server")
    (folder / "data").mkdir()
    with web_site() as site, embedding_server() as openai:
        env = {"DATABASE_URL": database.service_dsn, **openai.env(), **_SETTINGS}
        with services(data=folder / "data", env=env) as start:
            api = start("api").wait_until_ready()
            for name in _WORKERS:
                start("worker", INGEST_USER_AGENT=name)
            until(lambda: database.count("select count(*) from rag.workers") == len(_WORKERS))
            watch = _Watch(site, openai, api)
            first = watch.crawl()
            site.version = 2
            second = watch.again(first.source["id"])
            third = watch.again(first.source["id"])
            yield Nights(site=site, first=first, second=second, third=third)
    database.close()


def _proper(night: Night, nights: Nights) -> set[str]:
    """Documents, but for those of traps."""
    return {uri for uri in night.documents if not nights.site.is_endless(uri)}


# ---------------------------------------------------------------- the first night


def test_exactly_the_pages_of_the_site_become_documents(nights: Nights) -> None:
    assert _proper(nights.first, nights) == nights.site.expected_pages(1)
    assert len(nights.site.expected_pages(1)) >= 60


def test_every_page_is_requested_once(nights: Nights) -> None:
    asked = Counter(
        nights.site.url(visit.path)
        for visit in nights.first.visits
        if not visit.path.startswith(site_pages.ENDLESS)
    )
    del asked[nights.site.url("/guide/3")]  # another address redirects to it
    again = {uri: times for uri, times in asked.items() if times > 1}

    assert again == {nights.site.url("/broken"): 2}


def test_every_page_is_found_by_its_unique_words(nights: Nights) -> None:
    expected = nights.site.expected_pages(1)

    assert {uri: nights.first.hits[uri] for uri in expected} == {uri: [uri] for uri in expected}


def test_failed_pages_report_errors_and_make_the_source_partial(nights: Nights) -> None:
    failed = {uri: nights.first.pages[uri]["errorCode"] for uri in nights.first.having("failed")}

    assert failed == nights.site.failing_pages()
    assert nights.first.source["status"] == "partial"


def test_pages_with_two_addresses_are_kept_once(nights: Nights) -> None:
    names = {
        uri.removeprefix(nights.site.origin): page["duplicateOf"]
        for uri, page in nights.first.pages.items()
        if page["status"] == "duplicate" and not nights.site.is_endless(uri)
    }

    url = nights.site.url
    assert names.pop("/about-us") == url("/about")
    assert names.pop("/guide/1/print") == url("/guide/1")
    assert names.pop("/old-guide") == url("/guide/3")
    assert names == {
        f"/products/{n}?color={color}": url(f"/products/{n}")
        for n in range(1, site_pages.PRODUCTS + 1)
        for color in ("red", "blue")
    }


def test_crawler_requests_no_forbidden_or_foreign_url(nights: Nights) -> None:
    trespasses = [night.trespasses for night in (nights.first, nights.second, nights.third)]

    assert trespasses == [[], [], []]


def test_crawler_traps_are_bounded(nights: Nights) -> None:
    trapped = [uri for uri in nights.first.documents if nights.site.is_endless(uri)]

    assert 0 < len(trapped) <= 110


def test_two_workers_share_one_host_politely(nights: Nights) -> None:
    askers = {visit.headers["user-agent"] for visit in nights.first.visits}

    assert askers == set(_WORKERS)
    assert nights.first.most_at_once <= _AT_ONCE


def test_hidden_text_and_wrong_charsets_are_handled(nights: Nights) -> None:
    document = nights.first.documents[nights.site.url("/promo")]
    latin = nights.first.documents[nights.site.url("/latin")]

    assert "hidden_text" in document["warnings"]
    assert latin["title"] == "Straße"


# ---------------------------------------------------------------- the second night


def test_digest_counts_new_changed_and_removed_pages(nights: Nights) -> None:
    site, digest = nights.site, nights.second.crawl["digest"]
    unchanged = set(nights.first.documents) & set(nights.second.documents) - {
        site.url(path) for path in site_pages.changed()
    }

    assert nights.second.having("changed") == {site.url(path) for path in site_pages.changed()}
    assert nights.second.having("new") == {site.url(path) for path in site_pages.added()}
    assert nights.second.having("unchanged") == unchanged
    assert (digest["new"], digest["changed"], digest["removed"]) == (1, 3, 2)
    assert digest["unchanged"] == len(unchanged)
    assert nights.second.crawl["isComplete"] is True
    assert digest["failed"] == len(site.failing_pages())


def test_only_removed_pages_stop_being_found(nights: Nights) -> None:
    expected = nights.site.expected_pages(2)

    assert _proper(nights.second, nights) == expected
    assert all(nights.second.hits[uri] == [uri] for uri in expected)
    assert [nights.second.hits[nights.site.url(path)] for path in site_pages.removed()] == [[], []]


def test_only_changed_chunks_are_embedded_again(nights: Nights) -> None:
    before = set(nights.first.embedded)

    # The guide has several chunks, of which the last is another; the other pages have one.
    assert len(nights.second.embedded) == 4
    assert not before & set(nights.second.embedded)
    assert nights.second.documents[nights.site.url("/guide/2")]["chunkCount"] > 1


def test_pages_with_validators_are_not_sent_again(nights: Nights) -> None:
    spared = {visit.path for visit in nights.third.visits if visit.status == 304}
    validated = {
        path
        for path in site_pages.expected(2)
        if site_pages.build(2, nights.site.origin)[path].is_validated
    }

    assert len(validated) > 40
    assert validated - spared <= {"/guide/3"}  # may be found by a redirect, which is asked plainly


# ---------------------------------------------------------------- the third night


def test_rescrape_without_changes_embeds_nothing(nights: Nights) -> None:
    digest = nights.third.crawl["digest"]

    assert nights.third.embedded == []
    assert (digest["new"], digest["changed"], digest["removed"]) == (0, 0, 0)
    assert digest["tokensSpent"] == 0
    assert set(nights.third.documents) == set(nights.second.documents)
