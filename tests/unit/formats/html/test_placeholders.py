"""Placeholders are recognised, and pages with content never taken for one."""

import io

import pytest

from ingest.errors import Permanent
from ingest.formats.registry import extract
from ingest.model import WebPage
from ingest.web.placeholders import judge, markdown_signals
from tests.builders import web_pages

URL = "https://example.org/x"


def read(markup: str) -> WebPage:
    document = extract(io.BytesIO(markup.encode()), declared="text/html; charset=utf-8", url=URL)
    assert document.web is not None
    assert not document.skipped
    return document.web


@pytest.mark.parametrize("name", web_pages.CONTENT)
def test_a_page_with_content_is_no_placeholder(name: str) -> None:
    web = read(web_pages.CONTENT[name])

    assert (web.placeholder, web.refresh) == (None, None)


@pytest.mark.parametrize(
    ("kind", "pages"),
    [
        ("login_page", web_pages.LOGINS),
        ("soft_404", web_pages.NOT_FOUND),
        ("needs_javascript", web_pages.SHELLS),
        ("consent_wall", web_pages.CONSENT_WALLS),
    ],
)
def test_placeholders_are_recognised(kind: str, pages: dict[str, str]) -> None:
    found = {name: read(markup).placeholder for name, markup in pages.items()}

    assert found == dict.fromkeys(pages, kind)


@pytest.mark.parametrize("name", web_pages.REFRESHES)
def test_a_page_that_sends_its_readers_on_is_a_redirect(name: str) -> None:
    assert read(web_pages.REFRESHES[name]).refresh == "https://example.org/new"


def test_an_uploaded_file_is_not_judged() -> None:
    markup = web_pages.LOGINS["english"].encode()

    assert extract(io.BytesIO(markup), name="a.html").web is None


def test_an_empty_page_without_scripts_has_no_content() -> None:
    with pytest.raises(Permanent, match="no text"):
        read("<body></body>")


@pytest.mark.parametrize(
    ("kind", "markdown", "title"),
    [
        ("soft_404", "# Page not found\n\nSorry, the page you requested was not found.", "Example"),
        ("soft_404", "Die angeforderte Seite wurde nicht gefunden.", "404 | Beispiel"),
        ("login_page", "# Sign in\n\nEmail\n\nPassword\n\n[Forgot?](https://e.org/f)", "Example"),
        ("login_page", "## Anmelden\n\nBitte melden Sie sich an, um fortzufahren.", None),
        ("needs_javascript", "Please enable JavaScript to continue.", "Shop"),
        ("consent_wall", "# Before you continue\n\nWe use cookies.\n\nAccept all", "Example"),
        (None, "# 404\n\n" + "The area code of Atlanta since 1947. " * 5, "404"),
        (None, "# Sign in\n\n" + "How to design a form that people trust. " * 20, "Sign in"),
        (None, "# Password policy\n\nPasswords have 12 characters or more.", "Policy"),
        (None, "# Hours\n\nOpen from 9 to 17.\n\nAccept all", "Hours"),
    ],
)
def test_markdown_of_a_provider_is_judged_by_its_words(
    kind: str | None, markdown: str, title: str | None
) -> None:
    signals = markdown_signals(markdown, title)

    assert signals is not None
    assert judge(signals).placeholder == kind


def test_a_long_page_is_never_a_placeholder() -> None:
    assert markdown_signals("# Page not found\n" + "word " * 5000, None) is None
