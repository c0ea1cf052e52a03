"""Dates in URLs: pages of a calendar differ in nothing else, and go on forever."""

import re
from collections.abc import Collection
from typing import Final

_MONTH: Final = (
    "jan(?:uary|uar|vier|eiro)?|enero|gennaio|feb(?:ruary|ruar|rero|braio)?|fev(?:rier|ereiro)?|"
    "mar(?:ch|s|zo|[cç]o)?|maerz|märz|mrz|maart|apr(?:il|ile)?|avr(?:il)?|abr(?:il)?|may|mai|mayo|"
    "maggio|maio|mei|june?|juni|juin|junio|giugno|junho|july?|juli|juillet|julio|luglio|julho|"
    "aug(?:ust|ustus)?|ao[uû]t|agosto|ago|sept?(?:ember|embre|iembre)?|settembre|setembro|"
    "oct(?:ober|obre)?|okt(?:ober)?|octubre|ottobre|outubro|nov(?:ember|embre|iembre|embro)?|"
    "de[cz](?:ember|embre|embro)?|d[eé]cembre|dic(?:iembre|embre)?"
)
_YEAR: Final = r"(?:19|20|21)\d\d"
_MARK: Final = r"(?:[-._ ]|%20)"
_SEGMENT: Final = re.compile(
    rf"/(?:{_YEAR}{_MARK}?(?:0?[1-9]|1[0-2])(?:{_MARK}?[0-3]?\d)?"
    rf"|(?:[0-3]?\d{_MARK})?[01]?\d{_MARK}{_YEAR}"
    rf"|(?:[0-3]?\d{_MARK})?(?:{_MONTH}){_MARK}?{_YEAR}"
    rf"|{_YEAR}{_MARK}?(?:{_MONTH})(?:{_MARK}[0-3]?\d)?"
    rf"|{_YEAR}-?w\d\d?)(?=/|$)",
    re.IGNORECASE,
)
_SEGMENTS: Final = re.compile(rf"(?:/\d{{1,4}}|/(?:{_MONTH})(?=/|$)){{2,}}$", re.IGNORECASE)
_PARAMETER: Final = re.compile(
    r"(?:^|[&;])[^=&]*(?:date|datum|day|month|monat|mois|mes|year|jahr|week|start|end|from|until|ym"
    rf"|period|cal)[^=&]*=[^&]*?(?<!\d)({_YEAR})(?!\d{{5,}})",
    re.IGNORECASE,
)
_ANY_YEAR: Final = re.compile(rf"(?<!\d){_YEAR}")


def without_dates(path: str) -> str:
    """The path with `#` for each part of a date, so that pages of a calendar are equal.

    `/diary/2026/01/31` becomes `/diary/#/#/#`, `/calendar/jan-2026` becomes `/calendar/#`.
    """
    path = _SEGMENT.sub("/#", path)
    found = _SEGMENTS.search(path)
    return path if found is None else path[: found.start()] + "/#" * found[0].count("/")


def years(path: str, query: str) -> list[int]:
    """The years of the dates in a URL; a year without a month in the path is no date."""
    dates = [found[0] for found in _SEGMENT.finditer(path)]
    if (numbers := _SEGMENTS.search(path)) is not None:
        dates.append(numbers[0])
    texts = [year for date in dates for year in _ANY_YEAR.findall(date)]
    return [int(year) for year in texts + _PARAMETER.findall(query)]


_DAYS: Final = (
    "mon(?:day|tag)?|tue(?:s|sday)?|wed(?:nesday)?|thu(?:rs|rsday)?|fri(?:day)?|sat(?:urday)?|sun(?:day)?"
    "|dienstag|mittwoch|donnerstag|freitag|samstag|sonnabend|sonntag|lundi|mardi|mercredi|jeudi"
    "|vendredi|samedi|dimanche|lunes|martes|mi[eé]rcoles|jueves|viernes|s[aá]bado|domingo"
)
_DATES_IN_TEXT: Final = re.compile(
    rf"(?<!\w)(?:{_YEAR}[-./_]\d\d?(?:[-./_]\d\d?)?|\d\d?[-./](?:\d\d?[-./])?{_YEAR}|{_YEAR}"
    rf"|(?:\d\d?\.?\s+)?(?:{_MONTH})(?:\s+\d\d?(?:st|nd|rd|th)?\b)?|{_DAYS})(?!\w)",
    re.IGNORECASE,
)
_DAY_GRID: Final = re.compile(r"(?:(?<!\w)\d\d?(?!\w)[\s|]*){7,}")
_NUMBER: Final = re.compile(r"\d+")


def undated(text: str, urls: Collection[str]) -> str:
    """The words of a text without dates, grids of days and the numbers in these URLs."""
    text = _DAY_GRID.sub(" ", _DATES_IN_TEXT.sub(" ", text))
    own = {int(number) for url in urls for number in _NUMBER.findall(url) if len(number) < 9}
    return " ".join(
        word.casefold()
        for word in text.split()
        if not (word.isdecimal() and len(word) < 9 and int(word) in own)
    )
