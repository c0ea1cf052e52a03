"""The search playground: why each hit is there, two settings side by side, thumbs, filters."""

import re
from typing import Final

import pytest
from playwright.sync_api import Page, expect

from harness.service import KEY, Service
from tests.browser.accessibility import check_accessibility
from tests.browser.playground import FILES, HOSTILE, QUESTION, ask, hit, hits

SETTINGS: Final = {"INGEST_EMBEDDER": "static", "INGEST_OCR": "off"}


@pytest.fixture(scope="module", autouse=True)
def documents(service: Service) -> None:
    service.upload([(path, text.encode()) for path, text in FILES.items()])
    service.wait_until_terminal(service.get("/api/me")["application"]["id"])


@pytest.fixture(autouse=True)
def no_judgements(service: Service) -> None:
    for one in service.get("/api/judgement-sets")["items"]:
        service.http.delete(f"/api/judgement-sets/{one['name']}").raise_for_status()


def test_a_question_is_asked_by_keyboard_and_shows_why(page: Page) -> None:
    page.goto("#/search")
    expect(page.get_by_role("heading", name="What would your users ask?")).to_be_visible()
    page.keyboard.press("/")
    page.keyboard.type(QUESTION)
    page.keyboard.press("Enter")

    first = hits(page).first
    expect(first.get_by_role("heading")).to_have_text("Heron pump")
    expect(first).to_contain_text("Maintenance")
    expect(first.locator("mark", has_text="changed")).to_be_visible()
    expect(first.locator(".scores")).to_contain_text(re.compile(r"Meaning.*rank \d.*Words.*rank 1"))
    expect(page).to_have_url(re.compile(r"q=When\+is\+the\+oil"))

    first.get_by_text("Why this hit").click()
    heron = first.get_by_role("row", name=re.compile("^heron"))
    title_of_heron = heron.get_by_role("cell").nth(2)
    expect(title_of_heron).to_have_text("2")
    bm25 = first.locator(".scores div", has_text="Words").locator("dd").inner_text().split()[0]
    expect(first.get_by_role("row", name=re.compile("^BM25"))).to_contain_text(bm25)
    parts = re.compile(r"Score 0\.\d+ = 0\.\d+ by meaning \+ 0\.\d+ by words")
    expect(first).to_contain_text(parts)


def test_compounds_are_marked_by_what_found_them(page: Page) -> None:
    ask(page, "Kündigungen", mode="keyword")

    expect(hits(page).first.locator("mark")).to_have_text("Sonderkündigung")


def test_the_words_of_the_search_are_marked_in_the_document_until_they_are_put_away(
    page: Page,
) -> None:
    ask(page)
    hit(page, "Heron pump").get_by_role("link", name="Open in document").click()

    expect(page.get_by_text("Found words:")).to_be_visible()
    for pane in (page.get_by_role("region", name="Text"), page.locator(".chunk-list .is-chosen")):
        expect(pane.locator("mark.word", has_text="oil")).to_have_count(1)
        expect(pane.locator("mark.word", has_text="is")).to_have_count(0)  # says little
    check_accessibility(page)
    page.get_by_role("button", name="Mark them no more").click()
    expect(page.locator("mark.word")).to_have_count(0)
    expect(page.locator(".chunk-list .is-chosen")).to_be_visible()


def test_how_it_was_searched_is_told(page: Page) -> None:
    ask(page)

    page.get_by_text("How it was searched").click()
    summary = page.locator(".summary")
    expect(summary).to_contain_text("rank by meaning")
    expect(summary).to_contain_text("when · is · the · oil · of · heron · pump · changed")
    expect(summary).to_contain_text("meaning 40%, words 60%")
    expect(summary).to_contain_text("2 say the same as a better one")


def test_texts_that_say_the_same_are_one_hit(page: Page) -> None:
    ask(page)

    mail = hits(page).filter(has_text="Dear colleague")
    expect(mail).to_have_count(1)
    mail.get_by_text("2 texts say the same").click()
    expect(mail.locator(".duplicates a")).to_have_count(2)

    page.get_by_text("Ranking", exact=True).click()
    page.get_by_label("Collapse texts that say the same").uncheck()
    expect(mail).to_have_count(3)
    expect(page).to_have_url(re.compile("collapse=off"))


def test_two_settings_are_compared_and_the_address_shows_the_same(page: Page) -> None:
    ask(page, "oil", mode="keyword")
    page.get_by_role("button", name="Compare two settings").click()
    page.locator("details", has_text="Ranking B").get_by_label("Mode").select_option("vector")

    second = page.locator(".results").nth(1)
    expect(second.locator(".scores").first).not_to_contain_text("Words")
    badges = second.locator(".hit .badge")
    expect(badges.first).to_be_visible()
    told = badges.all_inner_texts()
    assert any("not in A" in text for text in told)

    page.reload()
    expect(badges.first).to_be_visible()
    assert badges.all_inner_texts() == told


def test_a_hit_opens_its_document_at_its_chunk(page: Page) -> None:
    ask(page)

    link = hits(page).first.get_by_role("link", name="Open in document")
    address = re.compile(r"^#/documents/[0-9a-f-]+\?chunk=[0-9a-f-]+&words=heron")
    expect(link).to_have_attribute("href", address)


def test_what_the_service_refuses_is_told_at_its_field(page: Page) -> None:
    ask(page)
    page.get_by_text("Filter", exact=True).click()
    page.get_by_label("Field").fill("year")
    page.get_by_label("Operator").select_option("gte")
    page.get_by_label("Value").fill("2025")
    page.keyboard.press("Enter")

    error = page.locator(".condition .field-error")
    expect(error).to_contain_text("year")
    expect(page.get_by_label("Field")).to_have_attribute("aria-invalid", "true")

    page.get_by_label("Field").fill("metadata.year")
    page.keyboard.press("Enter")
    expect(page.get_by_text("No document passes the filter.")).to_be_visible()
    page.get_by_role("button", name="Search without the filter").click()
    expect(hits(page).first.get_by_role("heading")).to_have_text("Heron pump")
    expect(page.get_by_label("Field")).to_have_value("")


def test_conditions_that_rows_cannot_say_are_json(page: Page) -> None:
    where = '{"or": [{"uri": "manuals/valve.md"}, {"title": {"prefix": "Osprey"}}]}'
    ask(page, "oil", where=where)

    expect(page.get_by_label("Conditions as JSON")).to_have_value(where)
    expect(hits(page)).to_have_count(2)
    page.get_by_label("Conditions as JSON").fill('{"or": 5')
    page.get_by_role("button", name="Search", exact=True).click()
    expect(page.locator(".conditions .field-error")).to_be_visible()


def test_wrong_numbers_are_told_at_their_field(page: Page) -> None:
    ask(page)
    page.get_by_text("Ranking", exact=True).click()
    page.get_by_label("Diversity").fill("3")
    page.keyboard.press("Enter")

    expect(page.get_by_role("alert")).to_contain_text("invalid_request")
    expect(page.locator(".field", has_text="Diversity").locator(".field-error")).to_be_visible()


def test_no_hits_say_what_excluded_them(page: Page) -> None:
    page.goto("#/search?q=oil+-changed+%22no+such+phrase%22&mode=keyword")

    nothing = page.locator(".empty")
    expect(nothing).to_contain_text("Texts with “changed” are excluded")
    expect(nothing).to_contain_text("Every hit must have “no such phrase”")
    nothing.get_by_role("button", name="Search by meaning too").click()
    expect(page).not_to_have_url(re.compile("mode="))


def test_the_search_is_copied_as_code_without_a_key(page: Page) -> None:
    ask(page, "it's oil", mode="keyword")
    page.get_by_role("button", name="Copy as code").click()
    code = page.get_by_role("dialog").locator("code")

    expect(code).to_contain_text("""'{"query":"it'\\''s oil","mode":"keyword"}'""")
    for language, start in (("python", "httpx.post("), ("typescript", "new Client(")):
        page.get_by_label("Language").select_option(language)
        expect(code).to_contain_text(start)
        expect(code).to_contain_text("INGEST_API_KEY")
        expect(code).not_to_contain_text(KEY)


def test_names_and_texts_are_never_markup(page: Page) -> None:
    ask(page, "seals & gaskets")

    first = hits(page).first
    expect(first.get_by_role("heading")).to_have_text(HOSTILE)
    expect(first.locator(".hit-text")).to_have_text(FILES[HOSTILE].strip())
    expect(page.locator("main img, main b")).to_have_count(0)


def test_the_page_is_accessible(page: Page) -> None:
    ask(page, compare="true", **{"b.mode": "keyword"}, where='{"uri": {"glob": "**"}}')
    page.locator(".summary summary").first.click()
    page.locator(".why summary").first.click()

    check_accessibility(page)
