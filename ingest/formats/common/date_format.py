"""Shows dates, times and durations by the parts of a number format (number_format.py).

Months and weekdays have their names in the languages that formats name most often, else in English.
"""

import datetime as dt
from collections.abc import Sequence
from typing import Final

EPOCH: Final = dt.datetime.fromisoformat("1899-12-30")  # sheets know no time zones
Value = float | int | dt.datetime | dt.date | dt.time | dt.timedelta
Token = tuple[str, str]
"""A part of a format: its kind (a group of number_format's pattern, or `elapsed`) and text."""

_PRIMARY: Final = 0x3FF  # bits of a Windows language code without the country
# Each line: the primary language code, then January to December and Monday to Sunday.
_NAMES: Final = """
09 January February March April May June July August September October November December
   Monday Tuesday Wednesday Thursday Friday Saturday Sunday
07 Januar Februar März April Mai Juni Juli August September Oktober November Dezember
   Montag Dienstag Mittwoch Donnerstag Freitag Samstag Sonntag
0C janvier février mars avril mai juin juillet août septembre octobre novembre décembre
   lundi mardi mercredi jeudi vendredi samedi dimanche
0A enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre
   lunes martes miércoles jueves viernes sábado domingo
10 gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre
   lunedì martedì mercoledì giovedì venerdì sabato domenica
16 janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro
   segunda-feira terça-feira quarta-feira quinta-feira sexta-feira sábado domingo
13 januari februari maart april mei juni juli augustus september oktober november december
   maandag dinsdag woensdag donderdag vrijdag zaterdag zondag
15 styczeń luty marzec kwiecień maj czerwiec lipiec sierpień wrzesień październik listopad grudzień
   poniedziałek wtorek środa czwartek piątek sobota niedziela
19 январь февраль март апрель май июнь июль август сентябрь октябрь ноябрь декабрь
   понедельник вторник среда четверг пятница суббота воскресенье
1D januari februari mars april maj juni juli augusti september oktober november december
   måndag tisdag onsdag torsdag fredag lördag söndag
"""
_ENGLISH: Final = 0x09


def date_text(value: Value, tokens: Sequence[Token], locale: int) -> str:
    """The text that a format shows for a date; locale: a Windows language code, for names."""
    moment, seconds = _moment(value)
    has_noon = any(kind == "noon" for kind, _ in tokens)
    out: list[str] = []
    for index, (kind, text) in enumerate(tokens):
        unit = text.lower()
        if kind == "elapsed":
            size = {"h": 3600, "m": 60, "s": 1}[unit[0]]
            sign = "-" if seconds < 0 else ""
            out.append(f"{sign}{int(abs(seconds)) // size:0{len(unit)}d}")
        elif kind == "noon":
            out.append(("AM", "PM")[moment.hour >= 12][: len(text) // 2 or 1])
        elif kind == "date":
            is_minute = unit[0] == "m" and len(unit) < 3 and _is_minute(tokens, index)
            out.append(_part(moment, unit, locale, is_minute=is_minute, noon=has_noon))
        elif kind == "other" and text == "@":
            continue
        else:
            out.append(text)
    return "".join(out)


def _moment(value: Value) -> tuple[dt.datetime, float]:
    """A date and time of day, and the seconds since the epoch, for elapsed time."""
    if isinstance(value, dt.timedelta):
        seconds = round(value.total_seconds(), 3)
        moment = EPOCH + dt.timedelta(seconds=max(0, seconds))
    elif isinstance(value, dt.time):
        moment = dt.datetime.combine(EPOCH, value)
        seconds = (moment - EPOCH).total_seconds()
    elif isinstance(value, dt.datetime):
        moment, seconds = value, (value - EPOCH).total_seconds()
    elif isinstance(value, dt.date):
        moment = dt.datetime.combine(value, dt.time())
        seconds = (moment - EPOCH).total_seconds()
    else:
        raise TypeError(f"not a date: {type(value).__name__}")
    return moment, seconds


def _is_minute(tokens: Sequence[Token], index: int) -> bool:
    """Whether `m` means minutes: it stands after hours or before seconds."""
    units = [
        (i, text[0].lower()) for i, (kind, text) in enumerate(tokens) if kind in ("date", "elapsed")
    ]
    at = [i for i, _ in units].index(index)
    return (at > 0 and units[at - 1][1] == "h") or (at + 1 < len(units) and units[at + 1][1] == "s")


def _part(moment: dt.datetime, unit: str, locale: int, *, is_minute: bool, noon: bool) -> str:
    kind, length = unit[0], len(unit)
    if kind in "yeb":
        year = moment.year + (543 if kind == "b" else 0)
        return f"{year % 100:02d}" if kind != "e" and length < 3 else str(year)
    if kind == "s":
        seconds, _, digits = unit.partition(".")
        fraction = f".{moment.microsecond:06d}"[: 1 + len(digits)] if digits else ""
        return f"{moment.second:0{min(2, len(seconds))}d}{fraction}"
    if kind == "m" and length >= 3 and not is_minute:
        name = _months(locale)[moment.month - 1]
        return name if length == 4 else name[: 1 if length == 5 else 3]
    if kind == "d" and length >= 3:
        name = _weekdays(locale)[moment.weekday()]
        return name if length >= 4 else name[:3]
    hour = moment.hour if not noon else (moment.hour + 11) % 12 + 1
    number = {"h": hour, "m": moment.minute if is_minute else moment.month, "d": moment.day}
    return f"{number.get(kind, 0):0{min(2, length)}d}" if kind in number else ""


def _read() -> dict[int, list[str]]:
    found: dict[int, list[str]] = {}
    for line in _NAMES.strip().splitlines():
        words = line.split()
        if not line.startswith(" "):
            names = found[int(words.pop(0), 16)] = []
        names += words
    return found


_LISTED: Final = _read()


def _months(locale: int) -> list[str]:
    return _LISTED.get(locale & _PRIMARY, _LISTED[_ENGLISH])[:12]


def _weekdays(locale: int) -> list[str]:
    return _LISTED.get(locale & _PRIMARY, _LISTED[_ENGLISH])[12:]
