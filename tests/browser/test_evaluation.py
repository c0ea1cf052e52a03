"""Evaluation: judged questions, two settings side by side, export."""

import re
from typing import Any, Final

import pytest
from playwright.sync_api import Page, expect

from harness.service import Service
from tests.browser.accessibility import check_accessibility

SETTINGS: Final = {"INGEST_EMBEDDER": "static", "INGEST_OCR": "off"}
PARTS: Final = ("seal", "valve", "motor", "shaft", "pipe", "filter")
FILTER: Final = {"where": {"uri": {"glob": "manuals/s*"}}}


@pytest.fixture(scope="module", autouse=True)
def judged(service: Service) -> None:
    """A question for each part, of which a word is in its manual only."""
    texts = [(f"manuals/{part}.md", f"# {part}\n\nThe {part} is checked in May.") for part in PARTS]
    service.upload([(path, text.encode()) for path, text in texts])
    service.wait_until_terminal(service.get("/api/me")["application"]["id"])
    for part in PARTS:
        judge(service, part, f"When is the {part} checked?", grade=2)
    judge(service, "seal", "When is the seal checked?", filter=FILTER)
    judge(service, "pipe", "When is the seal checked?", grade=0)


def judge(service: Service, part: str, query: str, *, grade: int = 1, **more: Any) -> None:
    [hit] = service.search(part, mode="keyword", limit=1)
    body = {"query": query, "chunkId": hit["chunkId"], "grade": grade, **more}
    service.http.put("/api/judgements", json=body).raise_for_status()


def test_two_settings_are_compared_by_what_was_judged(page: Page) -> None:
    page.goto("#/evaluation?compare=true")
    expect(page.get_by_text("questions: 7, judgements: 8, relevant: 7")).to_be_visible()
    run = page.get_by_role("button", name="Evaluate")
    expect(page.get_by_text("A and B are the same")).to_be_visible()
    expect(run).to_be_disabled()
    second = page.get_by_role("region", name="B", exact=True)
    second.get_by_label("Mode").select_option("keyword")
    second.get_by_label("Lowest score by words (BM25)").fill("1000")
    run.click()

    expect(page.locator(".verdict")).to_contain_text("B is worse: nDCG@10 differs by")
    main = page.get_by_role("row", name=re.compile(r"^nDCG@10"))
    expect(main.get_by_role("cell").nth(1)).to_contain_text("0.000")
    expect(main.get_by_role("cell").nth(2)).to_contain_text("worse")
    expect(page.get_by_text("7 questions were asked.")).to_be_visible()
    expect(page).to_have_url(re.compile(r"b\.mode=keyword&b\.minBm25=1000"))
    check_accessibility(page)

    second.get_by_label("Lowest score by words (BM25)").fill("")
    expect(page.get_by_text("results of the earlier settings")).to_be_visible()
    run.click()
    expect(main.get_by_role("cell").nth(1)).to_contain_text("1.000")


def test_a_question_of_the_result_opens_both_searches(page: Page) -> None:
    page.goto("#/evaluation?compare=true&b.mode=keyword")
    page.get_by_role("button", name="Evaluate").click()
    by_question = page.get_by_role("table", name="Question by question")
    by_question.get_by_role("link", name="When is the motor checked?").click()

    expect(page.get_by_role("heading", name="B", exact=True)).to_be_visible()
    expect(page.locator(".results").nth(1).locator(".hit").first).to_contain_text("motor")
    marked = page.get_by_role("button", name="Relevant: take it back", exact=True)
    expect(marked).to_have_count(2)  # in both columns


def test_what_the_service_refuses_is_told_at_its_setting(page: Page) -> None:
    page.goto("#/evaluation?compare=true&b.diversity=3")
    page.get_by_role("button", name="Evaluate").click()

    expect(page.get_by_role("alert")).to_contain_text("invalid_request")
    fields = page.locator(".field", has_text="Diversity").locator(".field-error")
    expect(fields).to_have_count(1)
    expect(page.get_by_role("region", name="B", exact=True).locator(".field-error")).to_be_visible()


def test_judgements_of_a_question_are_listed_and_taken_back(page: Page, service: Service) -> None:
    judge(service, "pipe", "Which is blue?", set="colours")
    page.goto("#/evaluation")
    page.get_by_label("Set").select_option("colours")
    questions = page.get_by_role("table", name="Judged questions")
    expect(questions.get_by_role("link", name="Which is blue?")).to_be_visible()
    page.get_by_role("button", name="Judgements of “Which is blue?”").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("listitem")).to_have_count(1)
    expect(dialog).to_contain_text("The pipe is checked in May.")
    expect(dialog).to_contain_text("by the operator")
    check_accessibility(page)
    dialog.get_by_role("button", name="Take back").click()

    # The set goes with its last judgement, and the dialog with the set.
    expect(page.get_by_text("No question was judged yet")).to_be_visible()
    assert service.get("/api/judgements", set="colours")["items"] == []


def test_a_question_with_a_filter_is_another(page: Page) -> None:
    page.goto("#/evaluation")
    same = page.get_by_role("row", name=re.compile("^When is the seal checked"))
    expect(same).to_have_count(2)
    same.filter(has_text="with a filter").get_by_role("link").click()

    expect(page.get_by_label("Field")).to_have_value("uri")
    expect(page.get_by_role("button", name="Relevant: take it back", exact=True)).to_be_visible()


def test_the_set_is_exported_as_qrels(page: Page) -> None:
    page.goto("#/evaluation")
    with page.expect_download() as started:
        page.get_by_role("button", name="Qrels (TREC)").click()

    assert started.value.suggested_filename == "default.qrels"
    lines = started.value.path().read_text().splitlines()
    assert [line.split()[3] for line in lines].count("2") == len(PARTS)


def test_a_set_is_deleted_after_a_question(page: Page, service: Service) -> None:
    judge(service, "pipe", "Which is red?", set="colours")
    page.goto("#/evaluation?set=colours")
    page.get_by_role("button", name="Delete the set").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete 1 judgement").click()

    expect(page.get_by_text("questions: 7")).to_be_visible()
    assert [one["name"] for one in service.get("/api/judgement-sets")["items"]] == ["default"]


def test_a_viewer_evaluates_and_deletes_nothing(viewer_page: Page) -> None:
    viewer_page.goto("#/evaluation")
    viewer_page.get_by_role("button", name="Evaluate").click()

    expect(viewer_page.get_by_text("7 questions were asked.")).to_be_visible()
    expect(viewer_page.get_by_role("button", name="Delete the set")).to_have_count(0)
    viewer_page.get_by_role("button", name="Judgements of “When is the pipe checked?”").click()
    expect(viewer_page.get_by_role("dialog").get_by_role("listitem")).to_have_count(1)
    expect(viewer_page.get_by_role("button", name="Take back")).to_have_count(0)
