"""Pages with known structure, made by reportlab: tables of all kinds, forms, columns of prose."""

import io
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from reportlab.lib.pagesizes import A4
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import SimpleDocTemplate, Spacer
from reportlab.platypus import Table as Drawn

from tests.pdf_made_up import AFTER, BEFORE, KINDS, NOUNS, PLACES, Made, Table

_SEEDS = range(3)
_ROUND, _RULED = ("BOX", (0, 0), (-1, -1), 0.7, "black"), ("GRID", (0, 0), (-1, -1), 0.7, "black")
_BETWEEN = ("LINEAFTER", (0, 0), (-2, -1), 0.7, "black")
_HEAD = ("LINEBELOW", (0, 0), (-1, 0), 0.7, "black")
_RIGHT = ("ALIGN", (2, 0), (-1, -1), "RIGHT")


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A PDF and what is right."""

    name: str
    content: bytes
    tables: list[Table]
    """Cells by row; none if no table is right."""
    order: list[str]
    """Pieces of text in reading order, each unique on its pages."""


def _pdf(*flowables: Any) -> bytes:
    out = io.BytesIO()
    SimpleDocTemplate(out, pagesize=A4, invariant=1).build(list(flowables))
    return out.getvalue()


def _drawn(made: Made, rows: Table, style: Sequence[Any], **options: Any) -> Drawn:
    fonts = ("FONTSIZE", (0, 0), (-1, -1), made.size)
    return Drawn(rows, style=[fonts, ("VALIGN", (0, 0), (-1, -1), "TOP"), *style], **options)


def _page(made: Made, rows: Table, style: Sequence[Any], **options: Any) -> bytes:
    return _pdf(
        made.paragraph(BEFORE),
        Spacer(1, 12),
        _drawn(made, rows, style, **options),
        Spacer(1, 12),
        made.paragraph(AFTER),
    )


def _simple(name: str, style: Sequence[Any], *, header: bool = True) -> Callable[[Made], Case]:
    def make(made: Made) -> Case:
        rows = made.goods(made.number(5, 12))
        shown = rows if header else rows[1:]
        content = _page(made, shown, [*style, _RIGHT])
        order = [BEFORE, *(row[0] for row in rows[1:]), AFTER]
        return Case(name=name, content=content, tables=[shown], order=order)

    return make


def _wrapped(name: str, style: Sequence[Any], widths: Sequence[float]) -> Callable[[Made], Case]:
    def make(made: Made) -> Case:
        rows = made.wrapped(made.goods(made.number(4, 8)))
        shown = [rows[0], *([a, made.paragraph(text), *rest] for a, text, *rest in rows[1:])]
        content = _page(made, shown, style, colWidths=widths)
        order = [BEFORE, *(row[0] for row in rows[1:]), AFTER]
        return Case(name=name, content=content, tables=[rows], order=order)

    return make


def _words(made: Made) -> Case:
    """Names and places, without a number and without rules."""
    rows = [["Name", "Works in", "Lives in"]] + [
        [f"{made.random.choice(KINDS).capitalize()} {noun}", *made.random.sample(PLACES, 2)]
        for noun in made.random.sample(NOUNS, 8)
    ]
    content = _page(made, rows, [], colWidths=[150, 120, 120])
    return Case(name="borderless words", content=content, tables=[rows], order=[BEFORE, AFTER])


def _holes(made: Made) -> Case:
    """Ruled by columns, where some cells have no text."""
    rows = made.goods(10)
    for row in made.random.sample(range(2, 10), 3):
        rows[row][made.number(1, 2)] = ""
    return Case(
        name="column-ruled, empty cells",
        content=_page(made, rows, [_ROUND, _BETWEEN, _HEAD]),
        tables=[rows],
        order=[BEFORE, *(row[0] for row in rows[1:]), AFTER],
    )


def _pages(name: str, style: Sequence[Any], *, repeat: int) -> Callable[[Made], Case]:
    def make(made: Made) -> Case:
        rows = made.goods(made.number(90, 120))
        content = _page(made, rows, [*style, _RIGHT], repeatRows=repeat)
        document_rows = [row[0] for row in rows[1:]]
        tables = _split_by_page(content, rows)
        return Case(
            name=name, content=content, tables=tables, order=[BEFORE, *document_rows, AFTER]
        )

    return make


def _split_by_page(content: bytes, rows: Table) -> list[Table]:
    """The rows of each page, below the header, which each piece needs."""
    from pypdfium2 import PdfDocument

    document = PdfDocument(content)
    try:
        texts = [page.get_textpage().get_text_bounded() for page in document]
    finally:
        document.close()
    return [[rows[0], *on] for text in texts if (on := [row for row in rows[1:] if row[0] in text])]


def _spans(made: Made) -> Case:
    """A header over two columns, and a first column that names several rows at once."""
    head = [["Region", "Morning", "", "Evening", ""], ["", "Guards", "Cooks", "Drivers", "Clerks"]]
    rows = [[place, *(str(made.number(10, 99)) for _ in range(4))] for place in PLACES[:6]]
    for row in (1, 3, 5):
        rows[row][0] = ""
    spans = [("SPAN", (1, 0), (2, 0)), ("SPAN", (3, 0), (4, 0)), ("SPAN", (0, 0), (0, 1))]
    spans += [("SPAN", (0, row), (0, row + 1)) for row in (2, 4, 6)]
    content = _page(made, head + rows, [_RULED, *spans])
    full = [row if row[0] else [rows[at - 1][0], *row[1:]] for at, row in enumerate(rows)]
    heads = [["Region", "Morning", "Morning", "Evening", "Evening"], ["Region", *head[1][1:]]]
    return Case(name="merged cells", content=content, tables=[heads + full], order=[BEFORE, AFTER])


def _invoice(made: Made) -> Case:
    """A letter head, a block of addresses, items without rules, a sum."""
    out = io.BytesIO()
    canvas = Canvas(out, pagesize=A4, invariant=1)
    rows = made.goods(made.number(4, 9))
    xs, size = (60, 130, 360, 520), made.size
    canvas.setFont("Helvetica-Bold", 16)
    canvas.drawString(60, 780, "Invoice")
    canvas.setFont("Helvetica", size)
    address = ["Heron Pumps Ltd", "12 Quay Street", "Leeds"]
    facts = ["Number: 2024-117", "Date: 4 May 2024", "Customer: 88123"]
    for line, (left, right) in enumerate(zip(address, facts, strict=True)):
        canvas.drawString(60, 750 - 14 * line, left)
        canvas.drawString(380, 750 - 14 * line, right)
    y = 680.0
    for row in rows:
        canvas.drawString(xs[0], y, row[0])
        canvas.drawString(xs[1], y, row[1])
        canvas.drawRightString(xs[2], y, row[2])
        canvas.drawRightString(xs[3], y, row[3])
        y -= 1.5 * size
    canvas.drawString(60, y - 30, AFTER)
    canvas.save()
    order = ["Invoice", "Heron Pumps Ltd", "12 Quay Street", *(row[0] for row in rows), AFTER]
    return Case(name="invoice without rules", content=out.getvalue(), tables=[rows], order=order)


def _form(columns: int) -> Callable[[Made], Case]:
    """Labels with their values beside them: lines, no table."""

    def make(made: Made) -> Case:
        labels = [
            "First name", "Last name", "Street", "Town", "Date of birth", "Profession", "Employer",
            "Telephone", "Insurance", "Nationality",
        ]  # fmt: skip
        values = ["Mara", "Lindqvist", "Quay Street", "Gdansk", "4 May 1981", "Welder",
                  "Heron Pumps", "0161 4960000", "Northern Mutual", "Swedish"]  # fmt: skip
        out = io.BytesIO()
        canvas = Canvas(out, pagesize=A4, invariant=1)
        canvas.setFont("Helvetica", made.size)
        canvas.drawString(60, 770, "Application for membership")
        for place, (label, value) in enumerate(zip(labels, values, strict=True)):
            row, column = divmod(place, columns)
            x, y = 60 + 250 * column, 730 - 18 * row
            canvas.drawString(x, y, label)
            canvas.drawString(x + 110, y, value)
        canvas.save()
        order = [text for pair in zip(labels, values, strict=True) for text in pair]
        name = f"form, {2 * columns} columns"
        return Case(name=name, content=out.getvalue(), tables=[], order=order)

    return make


def _article(made: Made) -> Case:
    """Two columns of prose, which are no table."""
    out = io.BytesIO()
    canvas = Canvas(out, pagesize=A4, invariant=1)
    canvas.setFont("Helvetica", 9)
    order = []
    for x in (50, 310):
        for row in range(40):
            text = f"{'LR'[x > 100]}{row:02} " + made.prose(6)
            canvas.drawString(x, 780 - 12 * row, text[:48])
            order.append(text[:3])
    canvas.save()
    return Case(name="two columns of prose", content=out.getvalue(), tables=[], order=order)


def _contents(made: Made) -> Case:
    """A table of contents, which is lines."""
    out = io.BytesIO()
    canvas = Canvas(out, pagesize=A4, invariant=1)
    canvas.setFont("Helvetica", made.size)
    order = []
    for row in range(12):
        title = f"{row + 1} {made.item().capitalize()}"
        canvas.drawString(60, 760 - 16 * row, title)
        canvas.drawRightString(520, 760 - 16 * row, str(3 * row + 1))
        order.append(title)
    canvas.save()
    return Case(name="table of contents", content=out.getvalue(), tables=[], order=order)


_LINED = [
    ("LINEABOVE", (0, 0), (-1, 0), 1, "black"),
    _HEAD,
    ("LINEBELOW", (0, -1), (-1, -1), 1, "black"),
]
_MAKERS: tuple[Callable[[Made], Case], ...] = (
    _simple("bordered", [_RULED]),
    _simple("column-ruled", [_ROUND, _BETWEEN, _HEAD]),
    _simple("column-ruled, no header", [_ROUND, _BETWEEN], header=False),
    _simple("row-ruled", _LINED),
    _simple("zebra", [("ROWBACKGROUNDS", (0, 1), (-1, -1), ["#eeeeee", "#ffffff"])]),
    _simple("borderless", []),
    _words,
    _holes,
    _wrapped("bordered, wrapped", [_RULED], [60, 180, 60, 80]),
    _wrapped("column-ruled, wrapped", [_ROUND, _BETWEEN, _HEAD], [60, 180, 60, 80]),
    _wrapped("borderless, wrapped", [], [60, 180, 60, 80]),
    _pages("pages, bordered", [_RULED], repeat=0),
    _pages("pages, column-ruled", [_ROUND, _BETWEEN, _HEAD], repeat=0),
    _pages("pages, borderless", [], repeat=0),
    _pages("pages, header repeated", [_RULED], repeat=1),
    _spans,
    _invoice,
    _form(1),
    _form(2),
    _article,
    _contents,
)


def cases() -> Iterator[Case]:
    """All kinds of pages, each with several sizes and contents."""
    for make in _MAKERS:
        for seed in _SEEDS:
            yield make(Made(seed))
