"""Calendars and invitations (iCalendar): the fields that people read, one per line."""

import re

_START = re.compile(r"\A\ufeff?\s*BEGIN:VCALENDAR\b", re.IGNORECASE)
_FOLD = re.compile(r"\n[ \t]")
_LINE = re.compile(r"([A-Za-z-]+)((?:;[^:\";]*(?:\"[^\"]*\"[^:\";]*)?)*):(.*)")
_COMMON_NAME = re.compile(r";CN=\"?([^\";]+)", re.IGNORECASE)
_STAMP = re.compile(r"(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)(\d\d)(Z?))?")
_ESCAPED = re.compile(r"\\(.)")
_LABELS = {
    "SUMMARY": "Summary",
    "DTSTART": "Start",
    "DTEND": "End",
    "DUE": "Due",
    "LOCATION": "Location",
    "ORGANIZER": "Organizer",
    "ATTENDEE": "Attendee",
    "DESCRIPTION": "Description",
    "CATEGORIES": "Categories",
    "RRULE": "Repeats",
}
_SHOWN_OF = frozenset({"VEVENT", "VTODO", "VJOURNAL"})


def is_calendar(text: str) -> bool:
    """Whether the text begins as an iCalendar file."""
    return _START.match(text[:200]) is not None


def calendar_text(text: str) -> str:
    """Events and tasks with their times and people; `text` has LF line endings."""
    lines: list[str] = []
    inside: list[str] = []
    for line in _FOLD.sub("", text).split("\n"):
        match = _LINE.match(line)
        if match is None:
            continue
        name, parameters, value = match.group(1).upper(), match.group(2), match.group(3).strip()
        if name == "BEGIN":
            inside.append(value.upper())
            if value.upper() in _SHOWN_OF and lines:
                lines.append("")
        elif name == "END":
            del inside[-1:]
        elif inside[-1:] and inside[-1] in _SHOWN_OF and name in _LABELS and value:
            lines.append(f"{_LABELS[name]}: {_readable(name, parameters, value)}")
    return "\n".join(lines)


def _readable(name: str, parameters: str, value: str) -> str:
    if name.startswith("D") and (stamp := _STAMP.match(value)):
        year, month, day, hour, minute, second, utc = stamp.groups()
        clock = f"T{hour}:{minute}:{second}{utc}" if hour else ""
        return f"{year}-{month}-{day}{clock}"
    if name in ("ORGANIZER", "ATTENDEE"):
        address = re.sub(r"^mailto:", "", value, flags=re.IGNORECASE)
        known_as = _COMMON_NAME.search(parameters)
        return f"{known_as.group(1)} <{address}>" if known_as else address
    return _ESCAPED.sub(lambda mark: " " if mark.group(1) in "nN" else mark.group(1), value)
