"""Shows dates, times and durations by the parts of a number format (number_format.py)."""

import datetime as dt
from collections.abc import Sequence
from typing import Final

from ingest.formats.common import date_names

EPOCH: Final = dt.datetime.fromisoformat("1899-12-30")  # sheets know no time zones
Value = float | int | dt.datetime | dt.date | dt.time | dt.timedelta
Token = tuple[str, str]
"""A part of a format: its kind (a group of number_format's pattern, or `elapsed`) and text."""

_TIMES: Final = ("date", "elapsed")
_MICROSECOND: Final = dt.timedelta(microseconds=1)
_EXACT: Final = 3  # digits of seconds to which serial numbers are times
_DAY: Final = dt.timedelta(days=1)
_LAST: Final = dt.datetime.fromisoformat("9999-12-31 23:59:59.999999") - EPOCH
_UNITS: Final = {
    "h": dt.timedelta(hours=1), "m": dt.timedelta(minutes=1), "s": dt.timedelta(seconds=1)
}  # fmt: skip


def date_text(value: Value, tokens: Sequence[Token], locale: int) -> str:
    """The text that a format shows for a date; locale: a Windows language code, for names."""
    moment, elapsed = _moment(value, tokens)
    has_noon = any(kind == "noon" for kind, _ in tokens)
    out: list[str] = []
    for index, (kind, text) in enumerate(tokens):
        unit = text.lower()
        if kind == "elapsed":
            out.append(_elapsed(elapsed, unit))
        elif kind == "noon":
            is_usual = unit == "am/pm"
            halves = date_names.halves_of_day(locale) if is_usual else text.split("/")
            out.append(halves[moment.hour >= 12])
        elif kind == "date":
            is_minute = unit[0] == "m" and len(unit) < 3 and _is_minute(tokens, index)
            out.append(_part(moment, unit, locale, is_minute=is_minute, noon=has_noon))
        elif kind == "other" and text == "@":
            continue
        else:
            out.append(text)
    return "".join(out)


def _moment(value: Value, tokens: Sequence[Token]) -> tuple[dt.datetime, dt.timedelta]:
    """A date and time of day, and the time since the epoch; as exact as the format shows them.

    Seconds are rounded, as programs do; minutes and hours are not.
    """
    if isinstance(value, dt.timedelta):
        elapsed = value
    elif isinstance(value, dt.time):
        elapsed = dt.datetime.combine(EPOCH, value) - EPOCH
    elif isinstance(value, dt.datetime):
        elapsed = value - EPOCH
    elif isinstance(value, dt.date):
        elapsed = dt.datetime.combine(value, dt.time()) - EPOCH
    else:
        raise TypeError(f"not a date: {type(value).__name__}")
    if elapsed.microseconds:
        seconds = [text for kind, text in tokens if kind in _TIMES and text[0].lower() == "s"]
        digits = max((len(text.partition(".")[2]) for text in seconds), default=_EXACT)
        step = _MICROSECOND * 10 ** max(0, 6 - digits)
        elapsed = (elapsed + step // 2) // step * step
    size = abs(elapsed) % _DAY if isinstance(value, dt.timedelta) else min(elapsed, _LAST)
    return EPOCH + size, elapsed


def _elapsed(elapsed: dt.timedelta, unit: str) -> str:
    """Hours, minutes or seconds; they may exceed a day, an hour or a minute."""
    letters, _, digits = unit.partition(".")
    whole, rest = divmod(abs(elapsed), _UNITS[unit[0]])
    sign = "-" if elapsed < dt.timedelta() else ""
    fraction = f".{rest // _MICROSECOND:06d}"[: 1 + len(digits)] if digits else ""
    return f"{sign}{whole:0{len(letters)}d}{fraction}"


def _is_minute(tokens: Sequence[Token], index: int) -> bool:
    """Whether `m` means minutes: it stands after hours or before seconds."""
    units = [
        (i, text[0].lower()) for i, (kind, text) in enumerate(tokens) if kind in ("date", "elapsed")
    ]
    at = [i for i, _ in units].index(index)
    return (at > 0 and units[at - 1][1] == "h") or (at + 1 < len(units) and units[at + 1][1] == "s")


def _part(moment: dt.datetime, unit: str, locale: int, *, is_minute: bool, noon: bool) -> str:
    kind, length = unit[0], len(unit)
    if kind == "g":
        return date_names.era(moment.date(), locale, letters=length)
    if kind == "e":
        return f"{date_names.year_of_era(moment.date(), locale):0{min(2, length)}d}"
    if kind in "yb":
        year = moment.year + (543 if kind == "b" else 0)
        return f"{year % 100:02d}" if length < 3 else str(year)
    if kind == "a":
        return date_names.weekday(moment.weekday(), locale, short=length < 4)
    if kind == "s":
        seconds, _, digits = unit.partition(".")
        fraction = f".{moment.microsecond:06d}"[: 1 + len(digits)] if digits else ""
        return f"{moment.second:0{min(2, len(seconds))}d}{fraction}"
    if kind == "m" and length >= 3 and not is_minute:
        name = date_names.month(moment.month, locale, short=length == 3)
        return name[:1] if length == 5 else name
    if kind == "d" and length >= 3:
        return date_names.weekday(moment.weekday(), locale, short=length == 3)
    hour = moment.hour if not noon else (moment.hour + 11) % 12 + 1
    number = {"h": hour, "m": moment.minute if is_minute else moment.month, "d": moment.day}
    return f"{number.get(kind, 0):0{min(2, length)}d}" if kind in number else ""
