"""Whatever a signed delivery holds, it is read, and its text can be stored."""

import json
from typing import Any

import pytest

from ingest.providers.firecrawl.events import (
    CrawledPage,
    parse_event,
)
from tests.servers.firecrawl_events import CANCELLED, RACED, document, event, stub
from tests.unit.firecrawl.deliveries import ID, only_page, page_of, read

RUN = {"crawl_id": "c1", "note": "naïve ✓"}


def test_a_page_event_has_the_page_its_crawl_and_our_ids() -> None:
    scraped = document(
        "https://shop.test/d/",
        "  # Doors\n",
        source_url="https://shop.test/d",
        scrape_id="s1",
        title="Doors | Shop",
        language="en",
        description="All doors",
        links=["https://shop.test/a"],
    )

    found = parse_event(event("crawl.page", id=ID, data=[scraped], run=RUN))

    assert (found.kind, found.provider_crawl_id, found.run) == ("page", ID, RUN)
    assert found.webhook_id is not None
    assert only_page(found) == CrawledPage(
        url="https://shop.test/d/",
        source_url="https://shop.test/d",
        scrape_id="s1",
        status_code=200,
        markdown="  # Doors\n",
        title="Doors | Shop",
        language="en",
        description="All doors",
        links=("https://shop.test/a",),
        outcome="page",
        error=None,
    )


@pytest.mark.parametrize(
    ("type", "kind"),
    [
        ("crawl.started", "started"),
        ("crawl.page", "page"),
        ("crawl.completed", "completed"),
        ("crawl.failed", "failed"),
        ("crawl.cancelled", "cancelled"),
        ("batch_scrape.page", "page"),
        ("crawl.other", "other"),
        ("crawl.paused", "other"),
        ("extract.completed", "other"),
        ("monitor.page", "other"),
        ("page", "other"),
        ("", "other"),
        (None, "other"),
        (7, "other"),
        ({}, "other"),
        (["crawl.page"], "page"),
    ],
)
def test_types_are_known_or_other(type: Any, kind: str) -> None:
    assert read(type=type).kind == kind


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        ("The scrape operation timed out before completing.", "failed"),
        (RACED, "raced"),
        ({"code": "SCRAPE_RACED_REDIRECT_ERROR"}, "raced"),
        (CANCELLED, "cancelled"),
        ({"message": "no route", "code": "X"}, "failed"),
        (["several", "words"], "failed"),
    ],
)
def test_failures_races_and_cancelled_stubs_are_distinguished(error: Any, outcome: str) -> None:
    raw = event("crawl.page", id=ID, data=[stub("https://shop.test/slow")], error=error)

    page = only_page(parse_event(raw))

    assert (page.outcome, page.url) == (outcome, "https://shop.test/slow")
    assert page.error
    assert (page.scrape_id, page.status_code, page.markdown) == (None, None, "")


def test_a_page_that_the_target_did_not_find_is_a_page_with_its_status() -> None:
    scraped = document("https://shop.test/gone", "# Not found", status=404)

    page = only_page(parse_event(event("crawl.page", id=ID, data=[scraped])))

    assert (page.outcome, page.status_code, page.error) == ("page", 404, "Not Found")


def test_a_failure_without_words_is_a_failure() -> None:
    found = read(success=False, type="crawl.page", data=[stub("https://shop.test/x")])

    assert (only_page(found).outcome, only_page(found).error) == ("failed", None)


def test_v0_events_with_old_field_names_are_read() -> None:
    flat = {
        "content": "# Old",
        "markdown": "# Old",
        "metadata": {"sourceURL": "https://shop.test/o", "pageStatusCode": 200},
    }
    nested = {
        "content": {"content": "# New", "markdown": "# New", "metadata": {"title": "New"}},
        "source": "https://shop.test/n",
    }

    found = read(success=True, type="crawl.completed", jobId=ID, data=[flat, nested], metadata={})

    assert (found.kind, found.provider_crawl_id) == ("completed", ID)
    assert [(page.url, page.markdown) for page in found.pages] == [
        ("https://shop.test/o", "# Old"),
        ("https://shop.test/n", "# New"),
    ]
    assert found.pages[0].status_code == 200
    assert found.pages[1].title == "New"


def test_an_event_of_an_old_sender_has_no_webhook_id() -> None:
    assert read(type="crawl.started", id=ID).webhook_id is None


def test_list_values_are_read_as_their_first_text() -> None:
    page = page_of(
        {
            "title": ["", " ", "Doors", "Gates"],
            "language": [["en"], "nl"],
            "description": [],
            "url": ["https://shop.test/e"],
            "statusCode": "200",
            "scrapeId": 5,
        }
    )

    assert (page.title, page.language, page.description) == ("Doors", "nl", None)
    assert (page.url, page.status_code, page.scrape_id) == ("https://shop.test/e", 200, None)


@pytest.mark.parametrize("status", [True, None, 0, -1, 99, 1000, 10**400, "1e3", "9" * 5000, []])
def test_invalid_status_is_unknown(status: Any) -> None:
    body = json.dumps({"data": [{"metadata": {"sourceURL": "http://a.test", "statusCode": 1}}]})
    raw = body.replace('"statusCode": 1', f'"statusCode": {_literal(status)}').encode()

    assert only_page(parse_event(raw)).status_code is None


def _literal(value: Any) -> str:
    """JSON of any number, even of one that Python does not print."""
    return "1" + "0" * 5000 if value == 10**400 else json.dumps(value)


def test_several_pages_of_one_event_are_all_read() -> None:
    pages = read(type="crawl.page", data=[stub(f"http://a.test/{n}") for n in range(3)]).pages

    assert [page.url for page in pages] == [f"http://a.test/{n}" for n in range(3)]


def test_a_single_document_needs_no_list() -> None:
    assert only_page(read(type="crawl.page", data=stub("http://a.test/"))).url == "http://a.test/"


def test_only_string_values_of_the_metadata_map_are_returned() -> None:
    found = read(type="crawl.page", metadata={"crawl": "c1", "n": 1, "deep": {"a": "b"}})

    assert found.run == {"crawl": "c1"}
    assert read(type="crawl.page", metadata=["crawl"]).run == {}
