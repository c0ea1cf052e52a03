"""The search playground: the files that it searches, and its questions and hits."""

import re
from typing import Any, Final
from urllib.parse import urlencode

from playwright.sync_api import Locator, Page, expect

FOOTER: Final = (
    "This message is confidential and meant for the person that it is addressed to. If you are "
    "not that person, please delete it, and do not change the oil of anything."
)
HOSTILE: Final = "<img src=x onerror=alert(1)> דוח.txt"
FILES: Final = {
    "manuals/heron.md": "# Heron pump\n\n## Maintenance\n\nThe oil is changed every 400 hours.\n",
    "manuals/osprey.md": "# Osprey pump\n\nThe oil of this pump is changed once a year.\n",
    "manuals/valve.md": "# Valve\n\nIt needs no grease. Its <b>seat</b> is made of brass.\n",
    "manuals/vertrag.txt": "Eine Sonderkündigung ist möglich, wenn der Preis steigt.\n",
    HOSTILE: "A text about seals & gaskets, and a <b>bold</b> word.\n",
    **{f"mails/{n}.txt": f"Dear colleague {n}.\n\n{FOOTER}\n" for n in range(3)},
}
QUESTION: Final = "When is the oil of the Heron pump changed?"


def ask(page: Page, query: str = QUESTION, **settings: Any) -> None:
    """Open the address of a search."""
    page.goto(f"#/search?{urlencode({'q': query, **settings})}")
    expect(page.get_by_text(re.compile(r"^\d+ hits?"))).not_to_have_count(0)


def hits(page: Page) -> Locator:
    return page.locator(".hit")


def hit(page: Page, title: str) -> Locator:
    return hits(page).filter(has=page.get_by_role("heading", name=title))
