"""Drops repeated text without content: headers, footers, stamps on scans."""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from statistics import median

from ingest.formats.pdf.layout.text_lines import Line, PageLines
from ingest.formats.pdf.running_heads.few_pages import FEWEST, MOST, alike_on_few, repeated_on_few
from ingest.formats.pdf.running_heads.numbered_titles import (
    Around,
    are_titles,
    counting,
    has_page_number,
    subjects,
)
from ingest.formats.pdf.running_heads.page_numbers import PAGE, is_page_number

_FEWEST_PAGES = 4
_SHARE = 0.8  # of all pages, or of the odd or even ones
_MOST_LINES = 4  # at the top and at the bottom of a page
_APART = 0.7  # line heights between a header or footer and the text
_TOLERANCE = 8.0  # points
_MARGIN = 80.0  # points from the edge in which lines may be headers though their text differs
_LONGEST = 200  # characters
_FAR = 1.5  # line heights between a running head of few pages and the text
_FIELD = re.compile(r":\s*$|__")  # to be filled in by hand
_SMALLER = 0.8  # times the size of the text
_OF_BROWSER = re.compile(  # what browsers print at the edges: date and time, address
    r"(?:^|\s)\d{1,4}[./-]\d{1,2}[./-]\d{2,4},?\s\d{1,2}[:.]\d\d(?!\d)|(?:^|\s)(?:https?|file)://\S"
)
LARGER = 1.15
"""Times the size of the text; the title of a page is larger, a running head is not."""
_OFTEN = 3  # pages with the same text in large type
_NUMBER = re.compile(r"\d+")
_ROMAN = re.compile(r"[ivxlc]+", re.IGNORECASE)

_Place = tuple[int, Line, float]
"""Index of the page, the line, its distance from the page edge in points."""
_Edge = tuple[bool, str]
"""Whether it is the top of the page, and the words of lines there."""


def drop_headers_and_footers(pages: Sequence[PageLines]) -> None:
    """Remove repeated headers and footers, but never all lines of a page; move others last."""
    readable = [index for index, page in enumerate(pages) if page.lines and page.has_places]
    if len(readable) >= _FEWEST_PAGES:
        _drop_from_many(pages, readable)
    if FEWEST <= len(readable) <= MOST:
        _drop_from_few(pages, readable)


def _drop_from_many(pages: Sequence[PageLines], readable: Sequence[int]) -> None:
    candidates = _candidates(pages, readable)
    found = {
        (is_top, text): _repeated(
            places if len(readable) > MOST or PAGE.fullmatch(text) else alike_on_few(places),
            readable,
        )
        for (is_top, text), places in candidates.items()
    }
    titles = _titles(pages, candidates, found, readable) if len(readable) > MOST else set()
    dropped: dict[int, set[int]] = defaultdict(set)
    for (_, text), lines in found.items():
        if _is_number(text) or counting(lines) is not None or not _differ(lines):
            for index, line in lines:
                if id(line) not in titles:
                    dropped[index].add(id(line))
    for index, known in dropped.items():
        rest = [line for line in pages[index].lines if id(line) not in known]
        if rest:
            pages[index].lines = rest
    repeated = _repeated_texts(candidates)
    for is_top, index, line in _running_heads(candidates, readable):
        page = pages[index]
        others = [other for other in page.lines if other is not line]
        is_title = line.size > LARGER * usual_size(others) and line.text not in repeated
        is_title = is_title or (is_top and id(line) in titles)
        if len(others) < len(page.lines) and not (others and is_title):
            line.kind = "running"
            page.lines = [*others, line]


def _titles(
    pages: Sequence[PageLines],
    candidates: Mapping[_Edge, Sequence[_Place]],
    found: Mapping[_Edge, Sequence[tuple[int, Line]]],
    readable: Sequence[int],
) -> set[int]:
    """Ids of the lines whose number is that of a title, not of their page."""
    counts = {
        edge: place for edge, lines in found.items() if (place := counting(lines)) is not None
    }
    at_top = [
        (index, line)
        for (is_top, text), places in candidates.items()
        if is_top and not found[is_top, text]
        for index, line, _ in places
    ]
    if not counts and not at_top:
        return set()
    numbered = {
        index
        for edge, place in counts.items()
        if _is_number(edge[1]) or has_page_number(found[edge], place)
        for index, _ in found[edge]
    }
    around = Around(
        pages,
        numbered=numbered,
        at_edge={id(line) for places in candidates.values() for _, line, _ in places},
        usual_size=usual_size([line for index in readable for line in pages[index].lines]),
    )
    titles = [
        found[edge]
        for edge, place in counts.items()
        if not _is_number(edge[1]) and are_titles(found[edge], place, around, is_top=edge[0])
    ]
    titles += [
        lines for lines in subjects(at_top, around) if _is_on_most({i for i, _ in lines}, readable)
    ]
    return {id(line) for lines in titles for _, line in lines}


def _drop_from_few(pages: Sequence[PageLines], readable: Sequence[int]) -> None:
    """The same in a document of few pages: what repeats stays once, unless it is a page number."""
    edges: dict[bool, list[_Place]] = defaultdict(list)
    for (is_top, _), places in _candidates(pages, readable).items():
        edges[is_top] += places
    for is_top, places in edges.items():
        near = _near_text(pages, places)
        for index, line, is_dropped in list(repeated_on_few(places, readable)):
            page = pages[index]
            rest = [other for other in page.lines if other is not line]
            if not rest or line.size > LARGER * usual_size(rest):
                continue
            has_letters = any(map(str.isalpha, line.text))
            if has_letters and (index in near or _FIELD.search(line.text)):
                continue
            if is_dropped:
                page.lines = rest
            elif not is_top:
                line.kind = "running"
                page.lines = [*rest, line]


def _near_text(pages: Sequence[PageLines], places: Sequence[_Place]) -> set[int]:
    """Pages on which lines of this edge are so close to the rest that they may be its column heads.

    Running heads stand farther away.
    """
    heads = {id(line) for _, line, _ in places}
    rest = {
        index: [line for line in pages[index].lines if id(line) not in heads]
        for index in {index for index, _, _ in places}
    }
    return {
        index
        for index, line, _ in places
        if not _OF_BROWSER.search(line.text)
        and any(_gap(line, other) < _FAR * line.height for other in rest[index])
    }


def drop_stamps(pages: Sequence[PageLines], unread: Collection[int]) -> None:
    """Remove the text layer of unread pictures if it is not content.

    That is a page number, or text that repeats on several of these pages.
    """
    stamps = {index: _words(pages[index].text) for index in unread if pages[index].lines}
    often = Counter(stamps.values())
    for index, stamp in stamps.items():
        if often[stamp] > 1 or is_page_number(stamp):
            pages[index].lines = []


def _candidates(pages: Sequence[PageLines], readable: Sequence[int]) -> dict[_Edge, list[_Place]]:
    """Lines near the top and bottom edges, by edge and normalised text."""
    found: dict[_Edge, list[_Place]] = defaultdict(list)
    for index in readable:
        page = pages[index]
        lines = [line for line in page.lines if line.kind == "text"]
        lines.sort(key=lambda line: -line.top)
        for is_top, edge, order in ((True, page.box[1], lines), (False, page.box[3], lines[::-1])):
            for line in _set_apart(order):
                if len(line.text) <= _LONGEST:
                    place = (index, line, abs(line.top - edge))
                    found[is_top, _words(line.text)].append(place)
    return found


def _set_apart(lines: Sequence[Line]) -> Sequence[Line]:
    """The first lines, if a gap or smaller type separates them from the rest."""
    for count, line in enumerate(lines[:_MOST_LINES], start=1):
        if count == len(lines) or _gap(line, lines[count]) > _APART * line.height:
            return lines[:count]
        if _gap(line, lines[count]) > 0 and line.size < _SMALLER * lines[count].size:
            return lines[:count]
    return ()


def _gap(line: Line, other: Line) -> float:
    return max(line.bottom - other.top, other.bottom - line.top)


def _is_number(words: str) -> bool:
    return is_page_number(words) or not any(map(str.isalpha, words))


def _differ(lines: Sequence[tuple[int, Line]]) -> bool:
    """Whether lines with the same words have different numbers: values, as `Total score 87`."""
    return len({tuple(map(int, _NUMBER.findall(line.text))) for _, line in lines}) > 1


def _words(text: str) -> str:
    """The text with all numbers replaced by 0, so that page numbers compare equal."""
    text = " ".join(text.split())
    return "0" if _ROMAN.fullmatch(text) else _NUMBER.sub("0", text)


def _running_heads(
    candidates: dict[_Edge, list[_Place]], readable: Sequence[int]
) -> Iterator[tuple[bool, int, Line]]:
    """Lines that stand where most pages have one, such as the title of the chapter.

    They go behind the text of their page, which they would interrupt.
    """
    on: dict[tuple[bool, int], set[int]] = defaultdict(set)
    for (is_top, _), places in candidates.items():
        for index, _, distance in places:
            if distance > _MARGIN:
                continue
            on[is_top, int(distance / _TOLERANCE)].add(index)
    usual = {slot for slot, found in on.items() if _is_on_most(found, readable)}
    for (is_top, _), places in candidates.items():
        for index, line, distance in places:
            if (is_top, int(distance / _TOLERANCE)) in usual:
                yield is_top, index, line


def _repeated_texts(candidates: dict[_Edge, list[_Place]]) -> set[str]:
    """Texts on several pages; one on a single page may be its title, as that of a slide."""
    return {
        line.text
        for places in candidates.values()
        if len({index for index, _, _ in places}) >= _OFTEN
        for _, line, _ in places
    }


def usual_size(lines: Sequence[Line]) -> float:
    """The font size of most of the text; 0 if there is none."""
    sizes = Counter[float]()
    for line in lines:
        if line.kind == "text":
            sizes[line.size] += len(line.text)
    return sizes.most_common(1)[0][0] if sizes else 0.0


def _repeated(places: list[_Place], readable: Sequence[int]) -> list[tuple[int, Line]]:
    """Lines at the usual distance, if they are on most of all, odd or even pages."""
    usual = median(distance for _, _, distance in places)
    near = [
        (index, line) for index, line, distance in places if abs(distance - usual) <= _TOLERANCE
    ]
    on = {index for index, _ in near}
    return near if _is_on_most(on, readable) else []


def _is_on_most(on: set[int], readable: Sequence[int]) -> bool:
    """Whether these are most of all pages, of the odd or of the even ones."""
    if len(on) < _FEWEST_PAGES:
        return False
    odd, even = ([index for index in readable if index % 2 == rest] for rest in (0, 1))
    return any(
        len(on.intersection(pages)) >= _SHARE * len(pages) and len(pages) >= _FEWEST_PAGES
        for pages in (readable, odd, even)
    )
