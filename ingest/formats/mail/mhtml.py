"""Saved web pages (MHTML, `.mht`): the page itself is read like any web page."""

from dataclasses import replace
from email.message import Message
from io import BytesIO

from ingest.formats import media_types as types
from ingest.formats.common.input_file import Extraction, InputFile
from ingest.formats.html import page as html
from ingest.formats.mail import headers, mime_parts
from ingest.optional_steps import improve

_PAGES = frozenset({"text/html", "application/xhtml+xml"})
_ADDRESS = ("Snapshot-Content-Location", "Content-Location")


def extract(source: InputFile) -> Extraction:
    """Extract the saved page without boilerplate; for a frameset, the text of all its frames.

    Left out: pictures, style sheets, and frames if the page itself has text.
    """
    archive = mime_parts.parse(source.stream)
    page, *frames = _pages(archive) or [archive]
    extraction = _read(page)
    if not _text(extraction):
        text = "\n\n".join(filter(None, (_text(_read(frame)) for frame in frames)))
        extraction = replace(extraction, parts=[text])
    stated = improve(
        "metadata",
        lambda: {"url": _address(archive, page), "date": _date(archive)},
        otherwise=dict[str, str],
    )
    metadata = {**{key: value for key, value in stated.items() if value}, **extraction.metadata}
    title = extraction.title or improve(
        "title", lambda: headers.header(archive, "Subject"), otherwise=str
    )
    return replace(extraction, title=title, metadata=metadata)


def _pages(archive: Message) -> list[Message]:
    """The HTML parts, the main page first."""
    found = [part for part in archive.walk() if part.get_content_type() in _PAGES]
    return improve("reading_order", lambda: _start_first(archive, found), otherwise=lambda: found)


def _start_first(archive: Message, found: list[Message]) -> list[Message]:
    start = headers.parameter(archive, "start").strip("<>")
    return sorted(found, key=lambda part: _content_id(part) != start)


def _content_id(part: Message) -> str:
    return headers.header(part, "Content-ID").strip("<>")


def _read(page: Message) -> Extraction:
    data = mime_parts.content(page)
    declared = str(page.get("Content-Type", ""))
    return html.extract(InputFile(stream=BytesIO(data), media_type=types.HTML, declared=declared))


def _text(extraction: Extraction) -> str:
    return "\n\n".join(part for part in extraction.parts if part).strip()


def _address(archive: Message, page: Message) -> str:
    stated = (headers.header(part, name) for part in (archive, page) for name in _ADDRESS)
    return next((address for address in stated if address.startswith("http")), "")


def _date(archive: Message) -> str:
    return headers.date(headers.header(archive, "Date"))
