"""What to say of pages that were fetched but hold no content (web/placeholders.py)."""

from collections.abc import Mapping
from typing import Final

from ingest.model import Placeholder

MESSAGES: Final[Mapping[Placeholder, str]] = {
    "login_page": "the site shows a login instead of the page",
    "soft_404": 'the page says "not found", with HTTP status 200',
    "consent_wall": "the site asks for consent to cookies instead of showing the page",
    "needs_javascript": 'the page is empty without JavaScript: crawl it with provider "firecrawl",'
    " which runs scripts",
}
