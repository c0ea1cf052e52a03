"""Thumbs in the search playground: given, taken back, downloaded."""

import json
import re
from typing import Any, Final

import pytest
from playwright.sync_api import Page, expect

from harness.service import Service
from tests.browser.playground import FILES, QUESTION, ask, hits

SETTINGS: Final = {"INGEST_EMBEDDER": "static", "INGEST_OCR": "off"}


@pytest.fixture(scope="module", autouse=True)
def documents(service: Service) -> None:
    service.upload([(path, text.encode()) for path, text in FILES.items()])
    service.wait_until_terminal(service.get("/api/me")["application"]["id"])


@pytest.fixture(autouse=True)
def no_judgements(service: Service) -> None:
    for one in service.get("/api/judgement-sets")["items"]:
        service.http.delete(f"/api/judgement-sets/{one['name']}").raise_for_status()


def judged(service: Service) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = service.get("/api/judgements")["items"]
    return items


def test_thumbs_are_kept_and_taken_back(page: Page, service: Service) -> None:
    ask(page)
    first = hits(page).first
    first.get_by_role("button", name="Relevant", exact=True).click()
    up = first.get_by_role("button", name="Relevant: take it back", exact=True)
    expect(up).to_have_attribute("aria-pressed", "true")
    expect(page.get_by_text("questions: 1, judgements: 1, relevant: 1")).to_be_visible()
    [one] = judged(service)
    assert (one["query"], one["grade"]) == (QUESTION, 1)
    assert one["quote"].endswith("The oil is changed every 400 hours.")

    page.reload()
    expect(up).to_be_visible()
    first.get_by_role("button", name="Not relevant", exact=True).click()
    down = first.get_by_role("button", name="Not relevant: take it back")
    expect(down).to_have_attribute("aria-pressed", "true")
    assert [other["grade"] for other in judged(service)] == [0]

    down.click()
    expect(page.get_by_text("No judgements yet")).to_be_visible()
    assert judged(service) == []


def test_a_filter_is_a_part_of_what_is_judged(page: Page, service: Service) -> None:
    ask(page, where='{"uri": {"glob": "manuals/**"}}', set="filtered")
    first = hits(page).first
    first.get_by_role("button", name="Relevant", exact=True).click()
    expect(first.get_by_role("button", name="Relevant: take it back", exact=True)).to_be_visible()

    [one] = judged(service)
    assert (one["set"], one["filter"]) == ("filtered", {"where": {"uri": {"glob": "manuals/**"}}})
    page.get_by_role("button", name="Remove condition 1").click()
    page.get_by_role("button", name="Search", exact=True).click()
    expect(page).not_to_have_url(re.compile("where="))
    expect(first.get_by_role("button", name="Relevant", exact=True)).to_be_visible()


def test_judgements_are_downloaded(page: Page) -> None:
    ask(page)
    hits(page).first.get_by_role("button", name="Relevant", exact=True).click()

    with page.expect_download() as started:
        page.get_by_role("button", name="Judgements (JSON lines)").click()

    assert started.value.suggested_filename == "default.jsonl"
    line = json.loads(started.value.path().read_text())
    assert (line["query"], line["target"]["document"]) == (QUESTION, "manuals/heron.md")


def test_a_viewer_sees_judgements_and_judges_nothing(
    page: Page, viewer_page: Page, service: Service
) -> None:
    ask(page)
    hits(page).first.get_by_role("button", name="Relevant", exact=True).click()
    expect(page.get_by_text("questions: 1, judgements: 1, relevant: 1")).to_be_visible()

    ask(viewer_page)
    expect(hits(viewer_page).first.get_by_text("judged relevant")).to_be_visible()
    expect(viewer_page.locator(".thumbs")).to_have_count(0)
    refused = viewer_page.request.delete(
        f"api/judgements/{judged(service)[0]['id']}",
        headers={"Sec-Fetch-Site": "same-origin", "X-Ingest-Csrf": "1"},
    )
    assert refused.status == 403
