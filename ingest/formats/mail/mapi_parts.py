"""What Outlook stores of a message (MAPI properties) as parts of an e-mail."""

from email.header import Header
from email.message import Message
from email.mime.application import MIMEApplication
from email.mime.multipart import MIMEMultipart
from email.mime.text import MIMEText
from typing import Protocol

import compressed_rtf

from ingest.formats.encoding.charset_labels import declarations
from ingest.formats.encoding.decode import decode

BODY = 0x1000
_HTML, _RTF, _INTERNET_CODE_PAGE = 0x1013, 0x1009, 0x3FDE
_LARGEST_RTF = 16 * 1024 * 1024  # bytes, compressed; decompression is slow
_CODE_PAGES = {
    20127: "ascii", 20866: "koi8-r", 21866: "koi8-u", 28591: "iso-8859-1", 28592: "iso-8859-2",
    28595: "iso-8859-5", 28597: "iso-8859-7", 28599: "iso-8859-9", 28605: "iso-8859-15",
    50220: "iso-2022-jp", 50221: "iso-2022-jp", 50222: "iso-2022-jp", 50225: "iso-2022-kr",
    51932: "euc-jp", 51949: "euc-kr", 52936: "hz", 54936: "gb18030", 65000: "utf-7",
    65001: "utf-8",
}  # fmt: skip


def charset_of(code_page: int) -> str:
    """The Content-Type of a text in a Windows code page."""
    return f"text/plain; charset={_CODE_PAGES.get(code_page, f'cp{code_page}')}"


class Properties(Protocol):
    """The properties of a message or an attachment, by their numbers; empty if missing."""

    @property
    def declared(self) -> str | None:
        """The encoding, as a Content-Type; None if unknown."""

    def text(self, number: int) -> str: ...

    def binary(self, number: int) -> bytes: ...

    def integer(self, number: int) -> int: ...


def bodies(item: Properties) -> list[Message]:
    """The versions of the body as alternatives; RTF only if there is no other."""
    plain = item.text(BODY)
    versions: list[Message] = [text_part(plain, "plain")] if plain.strip() else []
    page = item.text(_HTML) or _page(item)
    if page.strip():
        versions.append(text_part(page, "html"))
    if not versions and (rich := _from_rtf(item.binary(_RTF))):
        versions.append(text_part(rich, "markdown"))
    if not versions:
        return []
    alternatives = MIMEMultipart("alternative")
    for body in versions:
        alternatives.attach(body)
    return [alternatives]


def _page(item: Properties) -> str:
    """HTML in bytes: unlike other texts, it is not in the code page of the sender's Windows."""
    data, code_page = item.binary(_HTML), item.integer(_INTERNET_CODE_PAGE)
    if code_page:
        return decode(data, declared=charset_of(code_page))[0]
    return decode(data, declared=None if declarations(data, None) else item.declared)[0]


def _from_rtf(data: bytes) -> str:
    if not data or len(data) > _LARGEST_RTF:
        return ""
    try:
        rich = compressed_rtf.decompress(data)
    except Exception:  # the library raises many kinds of exceptions
        return ""
    # Imported here because the import takes half a second and few items need it (no text, no HTML).
    from ingest.formats.office import xberg_text

    return xberg_text.read(rich, "application/rtf").text if rich.strip(b"\0") else ""


def set_header(message: Message, name: str, value: str) -> None:
    """Add a header field; a value that is not ASCII is encoded."""
    flat = " ".join(value.split())
    message[name] = flat if flat.isascii() else Header(flat, "utf-8").encode()


def file_part(data: bytes, media_type: str) -> Message:
    """A file as part of a message."""
    part = MIMEApplication(data)
    main, _, sub = media_type.partition("/")
    if main and sub and main not in ("multipart", "message") and media_type.isascii():
        part.replace_header("Content-Type", " ".join(media_type.split()))
    return part


def text_part(text: str, kind: str) -> Message:
    """A text as part of a message; kind: `plain`, `html`, `markdown`."""
    return MIMEText(text.encode("utf-8", "replace").decode("utf-8"), kind, "utf-8")
