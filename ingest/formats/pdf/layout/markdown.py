"""Lines of a page as Markdown: paragraphs and headings; text resembling markup is escaped."""

import re
import unicodedata
from collections.abc import Sequence
from itertools import pairwise

from ingest.formats.common.markdown import plain
from ingest.formats.pdf.layout.line_ends import line_ends
from ingest.formats.pdf.layout.line_pitch import is_new_paragraph, widest_pitches
from ingest.formats.pdf.layout.links import by_line, join_links, linked
from ingest.formats.pdf.layout.paragraphs import goes_on_above, is_wrapped, joint
from ingest.formats.pdf.layout.text_lines import Line, LinkedText, PageLines

_WIDER = 1.4  # times the usual line pitch; above this, a new paragraph starts
_ACCENT = 0.3  # font sizes
_BLOCKS = frozenset(["table", "code"])
_MISLEADING = frozenset("#|`~=-")
# Presentation forms in PDFs: ligatures, Arabic letter forms, Chinese radicals. NFKC on all text
# would also turn `x²` into `x2`.
_FOR_THE_LOOK = re.compile("[\u2e80-\u2fdf\ufb00-\ufb4f\ufb50-\ufdfb\ufe70-\ufefc]+")
# Keyword search reads `note⁴` as `note4`; behind a unit or a variable, `m²`, that is right.
_RAISED = re.compile("[⁰¹²³⁴-⁹]+(?:,[⁰¹²³⁴-⁹]+)*⁾?")
_SPACE_BEFORE_MARK = re.compile(r"(?<=[^\W⁰¹²³⁴-⁹]|[)\]”».,;:]) (?=[⁰¹²³⁴-⁹]+(?![^\W_]))")
_WORD = 3  # letters; a note mark follows at least as many


def page_markdown(page: PageLines) -> str:
    """The page as Markdown, followed by its notes."""
    pitch = _usual_pitch(page.lines)
    parts: list[str] = []
    previous: Line | None = None
    edges = line_ends(page)
    pitches = widest_pitches(page.lines)
    links = by_line(page)
    for line in page.lines:
        text = _markdown(line, links.get(id(line), ()))
        if not text:
            continue
        if previous is not None:
            if _is_apart(previous, line, pitch):
                goes_on = edges and previous.top < line.top and goes_on_above(previous, line)
                parts.append(joint(previous, line) if goes_on else "\n\n")
            elif is_new_paragraph(previous, line, pitches):
                parts.append("\n\n")
            elif edges and is_wrapped(previous, line, edges):
                parts.append(joint(previous, line))
            else:
                parts.append("\n")
        parts.append(text)
        previous = line
    if page.notes:
        parts += ["\n\n", "\n".join(page.notes)]
    text = "".join(parts)
    if page.links:
        text = join_links(text, page.links)
    if page.has_raised:
        text = _RAISED.sub(_apart, _SPACE_BEFORE_MARK.sub("", text))
    return tidy(text)


def tidy(text: str) -> str:
    """Replace presentation forms by plain letters, and strip the text."""
    if text.isascii():
        return text.strip()
    text = text.replace("\u00a0", " ")
    return _FOR_THE_LOOK.sub(lambda run: unicodedata.normalize("NFKC", run.group()), text).strip()


def _apart(mark: re.Match[str]) -> str:
    """`^4` for a note mark behind a word."""
    start, figures = mark.start(), mark.group()
    is_note = mark.string[max(start - _WORD, 0) : start].isalpha() and start >= _WORD
    return f"^{unicodedata.normalize('NFKC', figures)}" if is_note else figures


def _markdown(line: Line, links: Sequence[LinkedText]) -> str:
    text = linked(line.text, links) if links else line.text
    if line.kind in _BLOCKS:
        return text
    text = text.strip()
    if line.level:
        return f"{'#' * line.level} {text}" if text else ""
    if text[:1] not in _MISLEADING:
        return text
    return f"\\{text}" if not text.strip("=-") and len(text) > 1 else plain(text)


def _usual_pitch(lines: Sequence[Line]) -> float:
    """The median distance between the tops of consecutive lines, in points."""
    pitches = sorted(
        line.top - following.top for line, following in pairwise(lines) if line.top > following.top
    )
    return pitches[(len(pitches) - 1) // 2] if pitches else 0.0


def _is_apart(previous: Line, line: Line, pitch: float) -> bool:
    if line.level or previous.level or line.kind in _BLOCKS or previous.kind in _BLOCKS:
        return True
    distance = previous.top - line.top
    if 0 < line.height - previous.height < _ACCENT * line.size == _ACCENT * previous.size:
        distance = previous.bottom - line.bottom  # a capital with an accent is higher
    if -2 * pitch <= distance <= _WIDER * pitch:
        return False
    return distance < -2 * pitch or distance > _WIDER * (line.top - line.bottom)
