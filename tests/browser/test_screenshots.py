"""The main screens with example files. With `INGEST_SCREENSHOTS=folder`, they become pictures.

The pictures in docs/dashboard are made by it.
"""

import io
import os
import re
from datetime import UTC, datetime, timedelta
from math import sin
from pathlib import Path
from typing import Any, Final
from uuid import UUID

import psycopg
import pytest
from PIL import Image
from playwright.sync_api import Page, expect

from harness.service import KEY, Service
from tests.browser.conftest import OpenBrowser, sign_in
from tests.builders.make_files import docx
from tests.builders.make_mail import eml
from tests.builders.make_pdf import at, document, lines
from tests.builders.make_sheets import xlsx

SETTINGS: Final = {"INGEST_CHUNK_TOKENS": "64", "INGEST_OCR": "off"}
SIZE: Final = {"width": 1280, "height": 800}
COLOURS: Final = 128

MAINTENANCE: Final = (
    ("Maintenance", "The oil of the Heron pump is changed every 400 hours of work, and",
     "at least once a year. Use oil of viscosity class 46 only. Run the",
     "pump for ten minutes first: warm oil takes the dirt with it."),
    ("Seals", "Replace the shaft seal when more than five drops an hour leak. Never",
     "reuse a seal that was taken out. Grease the new one with silicone,",
     "and press it in evenly, with the lip towards the housing."),
    ("Storage", "Before the pump is stored for more than three months, drain it, dry it,",
     "and spray the impeller with oil. Turn the shaft by hand once a month."),
)  # fmt: skip
INSTALLATION: Final = (
    ("Installation", "Put the pump on level ground, in a place that is dry and free of frost.",
     "Leave half a metre of room on all sides, so that the motor gets air.",
     "The suction pipe must not be longer than seven metres."),
    ("Electrical connection",
     "The motor needs 400 volts and a fuse of 16 amperes. Have it connected",
     "by an electrician. Check the direction of rotation before the first",
     "start: the arrow on the housing shows it."),
)  # fmt: skip


def sheet(title: str, *sections: tuple[str, ...]) -> bytes:
    """A page of a manual."""
    content, y = at(60, 720, title, size=22, font="B"), 670.0
    for heading, *text in sections:
        content += at(60, y, heading, size=15, font="B") + lines(60, y - 24, *text, size=13)
        y -= 50 + 16 * len(text)
    return content


HERON: Final = document(
    sheet("Heron pump: manual", *INSTALLATION), sheet("Care of the Heron pump", *MAINTENANCE)
)
FILES: Final[dict[str, bytes]] = {
    "Contracts/Service agreement.docx": docx(
        ("Repairs begin within two working days.", "The agreement ends with three months' notice."),
        heading="Service agreement",
    ),
    "Contracts/Old agreement.pdf": b"%PDF-1.4 cut off in the middle",
    "Correspondence/Delivery of the Osprey pump.eml": eml(
        "Dear colleague,\r\n\r\nthe Osprey pump arrives on Thursday. Its oil is already filled in.",
        subject="Delivery of the Osprey pump",
    ),
    "Correspondence/Inspection.pdf": document(
        lines(60, 720, "Inspection of the pumping station in May"), b"", b""
    ),
    "Handbook/Leave.md": b"# Leave\n\nEverybody has 30 days of leave a year.\n",
    "Handbook/Travel expenses.md": b"# Travel expenses\n\nHand in receipts within a month.\n",
    "Manuals/Heron pump.pdf": HERON,
    "Manuals/Osprey pump.md": b"# Osprey pump\n\nIts oil is changed every two years.\n",
    "Prices/Spare parts 2026.xlsx": xlsx(
        {"Parts": [["Part", "Price"], ["Shaft seal", 18.5], ["Impeller", 240], ["Oil, 5 l", 39]]}
    ),
}
BROCHURES: Final[dict[str, bytes]] = {
    "Heron in brief.md": b"# The Heron in brief\n\nMoves 400 litres a minute.\n",
    "Manual of the Heron.pdf": HERON,
    "Notes.txt": b"",
    "Osprey in brief.md": b"# The Osprey in brief\n\nQuiet, small, and made for cellars.\n",
    "Trade fair.txt": "Halle 4, Stand B12. Bitte 200 Broschüren mitbringen.".encode(),
}
QUESTION: Final = "How often is the oil of the Heron pump changed?"


@pytest.fixture(scope="module", autouse=True)
def filled(service: Service, server: str) -> None:
    """The files are read, and the last day has seen work."""
    application = service.get("/api/me")["application"]["id"]
    settings = {"reviews": ["low_coverage"]}
    service.http.patch(
        f"/api/applications/{application}", json={"settings": settings}
    ).raise_for_status()
    service.upload(FILES.items())
    service.wait_until_terminal(application)
    hour = datetime.now(UTC).replace(minute=0, second=0, microsecond=0)
    with psycopg.connect(server, autocommit=True) as conn:
        for back in range(1, 24):
            count = round(3 + 2 * sin(back / 3.5)) + back * 7 % 3
            conn.execute(
                "insert into rag.activity "
                "(application_id, minute, worker_id, type, outcome, n, tokens, bytes) "
                "values (%s, %s, %s, 'file', 'completed', %s, %s, %s)",
                [
                    application,
                    hour - timedelta(hours=back),
                    UUID(int=1),
                    count,
                    count * 180,
                    count * 2_300,
                ],
            )


@pytest.fixture
def page(open_browser: OpenBrowser) -> Page:
    return sign_in(open_browser(viewport=SIZE, color_scheme="light", reduced_motion="reduce"), KEY)


def picture(page: Page, name: str) -> None:
    """Keep what the page shows, if somebody wants it."""
    expect(page.get_by_text("Live", exact=True)).to_be_visible()
    if folder := os.environ.get("INGEST_SCREENSHOTS"):
        shown = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
        few = shown.quantize(COLOURS, dither=Image.Dither.NONE)
        few.save(Path(folder) / f"{name}.png", optimize=True)


def source(service: Service, uri: str) -> Any:
    [found] = service.get("/api/knowledge-sources", uri=uri)["items"]
    return found


def test_overview(page: Page) -> None:
    page.goto("#/overview")
    expect(page.locator(".tile", has_text="Failed in 24 hours")).to_contain_text("1")
    expect(page.locator(".tile", has_text="Reviews")).to_contain_text("1")
    chart = page.get_by_role("img", name=re.compile("^Throughput of the last 24 hours in jobs"))
    expect(chart.locator("g rect")).not_to_have_count(0)
    picture(page, "overview")


def test_sources(page: Page) -> None:
    page.goto("#/sources")
    expect(page.locator("tbody tr")).to_have_count(len(FILES))
    expect(page.get_by_role("cell", name="completed")).to_have_count(len(FILES) - 2)
    picture(page, "sources")


def test_source_that_failed(page: Page, service: Service) -> None:
    page.goto(f"#/sources/{source(service, 'Contracts/Old agreement.pdf')['id']}")
    expect(page.get_by_role("alert")).to_contain_text("The file is damaged.")
    expect(page.get_by_role("button", name="Retry")).to_be_visible()
    expect(page.get_by_role("listitem").filter(has_text="extract")).to_contain_text("failed here")
    picture(page, "source")


def test_document(page: Page, service: Service) -> None:
    id = source(service, "Manuals/Heron pump.pdf")["id"]
    [read] = service.get(f"/api/knowledge-sources/{id}/documents")["items"]
    chunks = service.get(f"/api/documents/{read['id']}/chunks")["items"]
    [chunk] = [chunk for chunk in chunks if "every 400 hours" in chunk["content"]]
    page.goto(f"#/documents/{read['id']}?chunk={chunk['id']}")
    expect(page.locator("rect.is-marked").first).to_be_visible()
    expect(page.locator("mark").first).to_be_visible()
    picture(page, "document")


def test_search(page: Page) -> None:
    page.goto(f"#/search?q={QUESTION.replace(' ', '+')}")
    first = page.locator(".hit").first
    expect(first.get_by_role("heading")).to_contain_text("Heron")
    expect(first).to_contain_text("every 400 hours")
    picture(page, "search")


def test_reviews(page: Page) -> None:
    page.goto("#/reviews")
    expect(page.get_by_text("1 of 3 pages have text")).to_be_visible()
    expect(page.get_by_role("button", name="Approve")).to_be_visible()
    picture(page, "reviews")


def test_upload(page: Page, tmp_path: Path) -> None:
    folder = tmp_path / "Brochures"
    folder.mkdir()
    for name, content in BROCHURES.items():
        (folder / name).write_bytes(content)
    page.goto("#/upload")
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Choose a folder").click()
    chooser.value.set_files(folder)
    page.get_by_role("button", name="Upload 5 files").click()
    expect(page.get_by_text("Everything is processed.")).to_be_visible()
    expect(page.get_by_role("row", name="Notes.txt")).to_contain_text("rejected")
    picture(page, "upload")
