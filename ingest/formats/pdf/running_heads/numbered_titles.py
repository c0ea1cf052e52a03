"""Tells titles of pages that count with the pages, as `Exercise 3`, from running heads.

`Harbour Board 3` has the number of its page; both stand apart from the text at its edge. In doubt,
it is a title, which costs a line on each page; the other mistake costs content.
"""

import math
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from ingest.formats.pdf.layout.text_lines import Line, PageLines
from ingest.formats.pdf.running_heads.page_numbers import is_named, is_of_all

_MOST = 0.5  # share of the pages
_SHARE_OF_STEPS = 0.5  # from page to page; page numbers may begin anew with each chapter
_GOES_ON = 0.2  # share of the pages that begin in the middle of a sentence
_LARGER, _SMALLER = 1.1, 0.95  # times the size of the text
_FAR = 1.5  # line heights between a running head and the text
_WIDER = (1.2, 1.5)  # times the width of its letters and font sizes more: a line with a gap
_WIDTHS = (0.28, 0.48, 0.6, 0.7)  # font sizes: of a space, a small letter, a figure, a capital
_CJK = "\u2e80"
_WORD = re.compile(r"[^\W\d_]+")
_NUMBER = re.compile(r"\d+")
_ORDINAL = re.compile(r"\W*\d+\s?[.)\u00ba\u00aa](?:\s|$)")
_MARKED = re.compile(r"(?:\b(?:no|nr|num|núm|n)\.?|n[°º]|[#№°º:+=$€£¥§])\s?$", re.IGNORECASE)
_MONTH = (
    r"\b(?:jan|feb|fév|mar|mär|apr|avr|abr|may|mai|mei|maj|mag|jun|juin|jul|juil|aug|aoû|ago|sep|set"
    r"|oct|okt|out|ott|nov|dec|dez|déc|dic|ene|gen|giu|lug|янв|фев|мар|апр|ма[йя]|июн|июл|авг|сен"
    r"|окт|ноя|дек|sty|lut|kwi|cze|lip|sie|wrz|paź|lis|gru)[^\W\d_]*\.?"
)
_DATE = re.compile(
    r"\d{1,4}([./\u2013-])\d{1,2}\1\d{1,4}|\d{4}年\d|\d月\d"
    rf"|\d(?:st|nd|rd|th|º|er)?\.?\s(?:de\s|of\s)?{_MONTH}(?:\W|$)|{_MONTH}\s\d",
    re.IGNORECASE,
)
_GOING_ON = re.compile(r"[^\W\d_]{2,}(?![\w.):])")
_END_OF_SENTENCE = (".", "!", "?", ":", ";", "”", '"')
_COUNTED = frozenset(
    re.findall(
        r"\w+",
        "appendix assignment attachment case certificate class coupon day drill example exam"
        " exercise experiment figure form homework invoice lab lecture lesson module part photo"
        " plate problem question quiz receipt round sample scene section session sheet station"
        " step table task test ticket topic tutorial unit voucher week worksheet"
        " abbildung anhang anlage arbeitsblatt aufgabe beispiel beleg bild fall frage kapitel"
        " lektion modul rechnung schritt stunde tabelle tag teil thema übung übungsblatt versuch"
        " vorlesung woche zertifikat"
        " activité annexe atelier certificat chapitre cours devoir étape exemple exercice facture"
        " fiche jour leçon partie problème reçu séance semaine sujet"
        " actividad anexo capítulo caso certificado clase día ejemplo ejercicio factura ficha"
        " lección pregunta práctica problema recibo semana sesión tarea tema unidad"
        " allegato capitolo certificato compito domanda esercizio fattura giorno lezione modulo"
        " scheda settimana"
        " aula atividade capítulo dia exercício fatura lição questão sessão"
        " dag hoofdstuk les opdracht opgave factuur vraag week certificaat"
        " dzień faktura lekcja pytanie tydzień wykład zadanie ćwiczenie"
        " övning uppgift lektion fråga vecka opgave øvelse tehtävä harjoitus"
        " вопрос глава день задание задача лекция неделя тема упражнение урок завдання вправа",
    )
)
"""What is numbered on a page of its own."""


@dataclass(frozen=True, slots=True)
class Around:
    """What the other lines of the pages tell about those at the edge."""

    pages: Sequence[PageLines]
    numbered: Collection[int]
    """Pages with a page number on a line of its own."""
    at_edge: Collection[int]
    """Ids of the lines at the edges."""
    usual_size: float
    """Font size of most of the text."""


def counting(found: Sequence[tuple[int, Line]]) -> int | None:
    """Which of the numbers in lines with the same words goes up with the pages; None: none."""
    rows = [(index, list(map(int, _NUMBER.findall(line.text)))) for index, line in found]
    steps = [index - before for (before, _), (index, _) in pairwise(rows)]
    for place, column in enumerate(zip(*(numbers for _, numbers in rows), strict=False)):
        going = sum(
            later - earlier == step
            for (earlier, later), step in zip(pairwise(column), steps, strict=True)
        )
        if len({*column}) > 1 and going >= _SHARE_OF_STEPS * len(steps):
            return place
    return None


def are_titles(
    found: Sequence[tuple[int, Line]], place: int, around: Around, *, is_top: bool
) -> bool:
    """Whether lines with the same words are titles or values, not running heads.

    `place`: which of their numbers goes up with the pages.
    """
    if _go_on(found, around):
        return False
    if has_page_number(found, place):
        return False
    parts = [_around_number(line.text, place) for _, line in found]
    if _most(index in around.numbered for index, _ in found):
        return True
    usual = around.usual_size
    if _most(line.size > _LARGER * usual or (is_top and line.bold) for _, line in found):
        return True
    if _most(_is_value(*part) for part in parts):
        return True
    if _most(line.size < _SMALLER * usual for _, line in found):
        return False
    if _most(_is_counted(*part) for part in parts):
        return True
    if not is_top or _most(is_of_all(behind) for _, _, behind in parts):
        return False
    return (
        _most(_is_one_word(*part) for part in parts)
        or _most(bool(before.strip() and behind.strip(" .:")) for before, _, behind in parts)
        or _most(_is_near_text(index, line, around) for index, line in found)
    )


def has_page_number(found: Sequence[tuple[int, Line]], place: int) -> bool:
    """Whether most of these lines have a number that is clearly that of their page."""
    return _most(_is_apart(line, *_around_number(line.text, place)) for _, line in found)


def subjects(lines: Sequence[tuple[int, Line]], around: Around) -> Iterator[list[tuple[int, Line]]]:
    """Lines that begin alike and count, each with its own subject: `Slide 5: Pumps`."""
    groups: dict[str, list[tuple[int, Line]]] = defaultdict(list)
    for index, line in lines:
        number = _NUMBER.search(line.text)
        if number is None:
            continue
        before = line.text[: number.start()].strip()
        if any(map(str.isalpha, before)) or _ORDINAL.match(line.text):
            groups[before].append((index, line))
    for group in groups.values():
        numbers = [_NUMBER.search(line.text) for _, line in group]
        are_distinct = len({number[0] for number in numbers if number}) == len(group)
        if are_distinct and not _go_on(group, around):
            yield group


def _most(answers: Iterable[bool]) -> bool:
    given = list(answers)
    return sum(given) > _MOST * len(given)


def _around_number(text: str, place: int) -> tuple[str, str, str]:
    """What stands before the number, the number, and what stands behind it."""
    number = list(_NUMBER.finditer(text))[place]
    return text[: number.start()], number[0], text[number.end() :]


def _go_on(found: Sequence[tuple[int, Line]], around: Around) -> bool:
    """Whether sentences go on from page to page, which no title interrupts."""
    going = 0
    for index, _ in found:
        first = _text_at(around, index, 0)
        going += (
            first is not None
            and first.text[0].islower()
            and _GOING_ON.match(first.text) is not None
            and (last := _text_at(around, index - 1, -1)) is not None
            and not last.text.endswith(_END_OF_SENTENCE)
        )
    return going > _GOES_ON * len(found)


def _text_at(around: Around, index: int, end: int) -> Line | None:
    """The first or last line of text on a page, without those at its edges."""
    if index < 0:
        return None
    lines = around.pages[index].lines
    for line in lines if end == 0 else reversed(lines):
        if id(line) not in around.at_edge:
            return line if line.kind == "text" and line.text else None
    return None


def _is_apart(line: Line, before: str, number: str, behind: str) -> bool:
    """Whether a number is named that of a page, or stands at the other margin."""
    if is_named(before, behind):
        return True
    is_last = not behind and before.endswith(" ")
    is_first = not before and behind.startswith(" ")
    return (is_last or is_first) and not line.pitch and _has_gap(line)


def _has_gap(line: Line) -> bool:
    """Whether a line is clearly wider than its letters."""
    space, small, figure, capital = _WIDTHS
    width = sum(
        space
        if character == " "
        else figure
        if character.isdigit()
        else small
        if character.islower()
        else capital
        for character in line.text
    )
    factor, more = _WIDER
    is_narrow = max(line.text) < _CJK
    return is_narrow and line.right - line.left > (factor * width + more) * line.size


def _is_value(before: str, number: str, behind: str) -> bool:
    """Whether the number is that of an item, a part of a date, an amount."""
    if not before.strip() and _ORDINAL.match(f"{number}{behind}"):
        return True
    if _MARKED.search(before):
        return True
    start, end = len(before), len(before) + len(number)
    dates = _DATE.finditer(f"{before}{number}{behind}")
    return any(match.start() < end and start < match.end() for match in dates)


def _is_counted(before: str, number: str, behind: str) -> bool:
    """Whether the word beside the number names what is numbered on pages of its own."""
    words = _WORD.findall(before)[-1:] or _WORD.findall(behind)[:1]
    return bool(words) and words[0].lower() in _COUNTED


def _is_one_word(before: str, number: str, behind: str) -> bool:
    rest = f"{before} {behind}"
    return not any(map(str.isdigit, rest)) and len(_WORD.findall(rest)) == 1


def _is_near_text(index: int, line: Line, around: Around) -> bool:
    """Whether text follows at the distance of a title; running heads stand farther away."""
    gaps = (
        line.bottom - other.top
        for other in around.pages[index].lines
        if other.top < line.top and id(other) not in around.at_edge
    )
    return min(gaps, default=math.inf) < _FAR * line.height
