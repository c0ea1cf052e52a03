"""Shared by both PDF engines: the page limit and the document properties."""

import re
from collections.abc import Mapping
from datetime import datetime, timedelta, timezone
from typing import Any

from ingest.errors import Permanent
from ingest.formats.common.input_file import InputFile

_MEANINGLESS = re.compile(r"(untitled.*|document ?\d*|.*\.(indd|exe|dvi|tmp))", re.IGNORECASE)
_FIELDS = {"Author": "author", "Subject": "subject", "Keywords": "keywords"}
_DATES = {"CreationDate": "created", "ModDate": "modified"}
_DATE = re.compile(
    r"(?:D:)?(\d{4})(\d\d)?(\d\d)?(\d\d)?(\d\d)?(\d\d)?\s*(?:(Z)|([+-])(\d\d)'?(\d\d)?'?)?.*",
    re.DOTALL,
)


def check_pages(count: int, source: InputFile) -> None:
    """Raises Permanent `too_many_pages` above the limit."""
    if count > source.max_pages:
        raise Permanent(
            f"The PDF has {count} pages; at most {source.max_pages} are read.",
            code="too_many_pages",
        )


def title(stated: object) -> str | None:
    """The title in the document properties, unless a program generated it."""
    text = str(stated or "").strip().removeprefix("Microsoft Word - ")
    return None if _MEANINGLESS.fullmatch(text) else text or None


def metadata(info: Mapping[str, Any]) -> dict[str, str]:
    """Author, subject, keywords and dates (ISO 8601), if given."""
    found = {ours: str(info[theirs]) for theirs, ours in _FIELDS.items() if info.get(theirs)}
    for theirs, ours in _DATES.items():
        if info.get(theirs):
            found[ours] = _iso_date(str(info[theirs]))
    return found


def _iso_date(stated: str) -> str:
    """A PDF date in ISO 8601; other text is returned unchanged."""
    match = _DATE.fullmatch(stated.strip())
    if match is None:
        return stated
    year, month, day, hour, minute, second, utc, sign, hours, minutes = match.groups()
    try:
        moment = datetime(  # noqa: DTZ001  # many PDFs do not state their time zone
            int(year), int(month or 1), int(day or 1), int(hour or 0), int(minute or 0),
            int(second or 0),
        )  # fmt: skip
        if utc or sign:
            offset = timedelta(hours=int(hours or 0), minutes=int(minutes or 0))
            moment = moment.replace(tzinfo=timezone(-offset if sign == "-" else offset))
    except ValueError:
        return stated
    return moment.isoformat() if hour else moment.date().isoformat()
