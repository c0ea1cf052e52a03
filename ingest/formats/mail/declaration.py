"""How mail formats and MHTML are recognised: suffixes, media types and OLE streams."""

import re

from ingest.formats import media_types as types
from ingest.formats.declaration import Format

FORMATS: tuple[Format, ...] = (
    Format(
        media_type=types.EMAIL,
        label="an e-mail",
        suffixes=".eml",
        reader="ingest.formats.mail.message_file",
        holds_files=True,
        # What programs that sign write has no other fields that only mail has.
        signatures=(
            re.compile(
                rb"\s*(?:[A-Za-z-]{1,40}:[^\n]{0,998}\n(?:[ \t][^\n]{0,998}\n){0,20}){0,40}?"
                rb"Content-Type:\s*(?:application/(?:x-)?pkcs7-mime|multipart/signed)",
                re.IGNORECASE,
            ),
        ),
        related=frozenset({types.MBOX, types.MHTML, types.SIGNED}),
    ),
    Format(
        media_type=types.MBOX,
        label="a mailbox",
        suffixes=".mbox",
        reader="ingest.formats.mail.mbox",
        holds_files=True,
        related=frozenset({types.EMAIL, types.MHTML}),
    ),
    Format(
        media_type=types.MHTML,
        label="a web archive",
        suffixes=".mhtml .mht",
        reader="ingest.formats.mail.mhtml",
        aliases=("application/x-mimearchive",),
        related=frozenset({types.MBOX, types.EMAIL}),
    ),
    Format(
        media_type=types.MSG,
        label="an Outlook message",
        suffixes=".msg",
        reader="ingest.formats.mail.msg",
        holds_files=True,
        ole_streams=("__properties_version1.0",),
    ),
    Format(
        media_type=types.TNEF,
        label="an Outlook attachment container (winmail.dat)",
        reader="ingest.formats.mail.winmail",
        holds_files=True,
        aliases=("application/ms-tnef",),
        signatures=(b"\x78\x9f\x3e\x22",),
    ),
)
