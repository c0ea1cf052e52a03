"""Detects mail among texts: a message (RFC 822), a mailbox (mbox) or a web archive (MHTML)."""

import re

from ingest.formats import media_types as types

_ENVELOPE = re.compile(
    r"^From \S[^\n]{0,300}?\d\d:\d\d[^\n]{0,60}?\b\d{4}\b[^\n]{0,60}$", re.MULTILINE
)
_HEADER = re.compile(
    r"^(From|To|Cc|Subject|Date|Received|Return-Path|Message-ID|MIME-Version|Delivered-To|Reply-To"
    r"|Content-Type|DKIM-Signature):",
    re.IGNORECASE | re.MULTILINE,
)
_TRAVELLED = frozenset({"received", "return-path", "message-id", "mime-version", "delivered-to"})
_RELATED = re.compile(r"^Content-Type:\s*multipart/related", re.IGNORECASE | re.MULTILINE)
_SAVED = re.compile(
    r"^(?:From:\s*.?<?Saved by|Snapshot-Content-Location:|X-MAF-)", re.IGNORECASE | re.MULTILINE
)
_BLANK_LINE = re.compile(r"\r?\n\r?\n")
_LONGEST_BLOCK = 16_384  # characters of headers
_MAIL = (types.EMAIL, types.MBOX, types.MHTML)


def mail_family(text: str, implied: str | None) -> str | None:
    """EMAIL, MBOX or MHTML by the start of a text; None if it is not mail.

    A note that starts like a letter (From, To, Subject) is mail only if its file name does not
    imply another type, or if it has headers that only mail software writes. One header is enough
    under the name of an Outlook message, which has no text of its own.
    """
    text = text.lstrip("\ufeff \t\r\n")
    envelope = _ENVELOPE.match(text)
    if envelope is not None:
        is_single = implied in (types.EMAIL, types.MSG) and not _ENVELOPE.search(
            text, envelope.end()
        )
        return types.EMAIL if is_single else types.MBOX
    block = _BLANK_LINE.split(text[:_LONGEST_BLOCK], maxsplit=1)[0]
    if not re.match(r"[A-Za-z0-9-]+:", block):
        return None
    headers = {header.lower() for header in _HEADER.findall(block)}
    if _RELATED.search(block) and (_SAVED.search(block) or not headers & {"to", "received"}):
        return types.MHTML
    is_mail = len(headers) >= 3 and (
        implied is None or implied in _MAIL or bool(headers & _TRAVELLED)
    )
    is_mail |= implied == types.MSG and bool(headers)
    if not is_mail:
        return None
    return implied if implied in _MAIL else types.EMAIL
