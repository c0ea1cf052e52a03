"""Charts in slides and Word documents: titles, axes, number formats, levels, both generations."""

import io

import pytest

from ingest.formats.registry import extract
from tests.builders.make_office import presentation, word

_EXTENDED = "http://schemas.microsoft.com/office/drawing/2014/chartex"


def text_of(part: str, kind: str = "chart") -> str:
    space = f' xmlns:c="{_EXTENDED}"' if kind == "chartEx" else ""
    frame = (
        "<p:graphicFrame><p:nvGraphicFramePr/><a:graphic><a:graphicData>"
        f'<c:chart{space} r:id="c1"/></a:graphicData></a:graphic></p:graphicFrame>'
    )
    data = presentation(frame, related=[{"c1": (kind, part)}])
    return extract(io.BytesIO(data), name="a.pptx").text.removeprefix("## Slide 1\n\n")


def title(text: str) -> str:
    return (
        f"<c:title><c:tx><c:rich><a:p><a:r><a:t>{text}</a:t></a:r></a:p></c:rich></c:tx></c:title>"
    )


def points(*values: object) -> str:
    return "".join(f'<c:pt idx="{n}"><c:v>{value}</c:v></c:pt>' for n, value in enumerate(values))


def numbers(*values: object, code: str = "General") -> str:
    cache = f"<c:formatCode>{code}</c:formatCode>{points(*values)}"
    return f"<c:numRef><c:f>A1</c:f><c:numCache>{cache}</c:numCache></c:numRef>"


def texts(*values: object) -> str:
    return f"<c:strRef><c:strCache>{points(*values)}</c:strCache></c:strRef>"


def series(name: str, categories: str, values: str) -> str:
    content = f"<c:tx>{texts(name)}</c:tx><c:cat>{categories}</c:cat><c:val>{values}</c:val>"
    return f"<c:ser>{content}</c:ser>"


def chart(*content: str) -> str:
    return f"<c:chartSpace><c:chart>{''.join(content)}</c:chart></c:chartSpace>"


def test_titles_of_chart_and_axes_are_kept_apart() -> None:
    plot = (
        f"<c:plotArea><c:barChart>{series('North', texts(2019, 2020), numbers(1, 2))}</c:barChart>"
        f"<c:catAx>{title('Year')}</c:catAx><c:valAx>{title('kEUR')}</c:valAx></c:plotArea>"
    )
    table = "| Year | North |\n|---|---|\n| 2019 | 1 |\n| 2020 | 2 |"

    assert text_of(chart(title("Sales"), plot)) == f"Sales (kEUR)\n\n{table}"
    assert text_of(chart(plot)) == f"kEUR\n\n{table}"


def test_a_scatter_chart_names_both_axes() -> None:
    plot = (
        f"<c:plotArea><c:ser><c:xVal>{numbers(0.5)}</c:xVal><c:yVal>{numbers(7)}</c:yVal></c:ser>"
        f"<c:valAx>{title('Dose')}</c:valAx><c:valAx>{title('Effect')}</c:valAx></c:plotArea>"
    )

    assert text_of(chart(plot)) == "Effect\n\n| Dose |  |\n|---|---|\n| 0.5 | 7 |"


def test_bubbles_have_their_size_unless_that_is_the_same() -> None:
    def bubbles(*sizes: object) -> str:
        values = f"<c:xVal>{numbers(1, 2)}</c:xVal><c:yVal>{numbers(7, 8)}</c:yVal>"
        values += f"<c:bubbleSize>{numbers(*sizes)}</c:bubbleSize>"
        return chart(
            f"<c:plotArea><c:ser><c:tx>{texts('North')}</c:tx>{values}</c:ser></c:plotArea>"
        )

    assert text_of(bubbles(790, 1)) == (
        "|  | North | North (size) |\n|---|---|---|\n| 1 | 7 | 790 |\n| 2 | 8 | 1 |"
    )
    assert text_of(bubbles(1, 1)) == "|  | North |\n|---|---|\n| 1 | 7 |\n| 2 | 8 |"


@pytest.mark.parametrize(
    ("value", "code", "expected"),
    [
        ("0.125", "0.0%", "12.5%"),
        ("1234.5", "#,##0.00", "1,234.50"),
        ("0.30000000000000004", "General", "0.3"),
        ("1E3", "General", "1000"),
        ("45366", "yyyy\\-mm\\-dd", "2024-03-15"),
        ("#N/A", "0%", "#N/A"),
    ],
)
def test_numbers_are_written_as_the_chart_shows_them(value: str, code: str, expected: str) -> None:
    both = numbers(value, code=code)

    assert text_of(chart(series("S", both, both))) == (
        f"|  | S |\n|---|---|\n| {expected} | {expected} |"
    )


def test_a_chart_of_many_series_has_its_first_rows_only() -> None:
    many = series("S", texts(*range(1000)), numbers(*range(1000))) + "<c:ser/>" * 1000

    header, _, *rows = text_of(chart(many)).split("\n")

    assert header.startswith("|  | S |  |")
    assert [row.split(" | ")[:2] for row in rows] == [[f"| {n}", str(n)] for n in range(199)]


def test_dates_count_from_1904_where_the_chart_says_so() -> None:
    dates = series("S", numbers(0, code="yyyy-mm-dd"), numbers(5))
    part = f'<c:chartSpace><c:date1904 val="1"/><c:chart>{dates}</c:chart></c:chartSpace>'

    assert text_of(part).endswith("| 1904-01-01 | 5 |")


def test_categories_of_several_levels_have_all_their_names() -> None:
    levels = (
        f"<c:lvl>{points('Q1', 'Q2', 'Q1')}</c:lvl>"
        '<c:lvl><c:pt idx="0"><c:v>2019</c:v></c:pt><c:pt idx="2"><c:v>2020</c:v></c:pt></c:lvl>'
    )
    categories = (
        f"<c:multiLvlStrRef><c:multiLvlStrCache>{levels}</c:multiLvlStrCache></c:multiLvlStrRef>"
    )

    assert text_of(chart(series("S", categories, numbers(4, 5, 6)))) == (
        "|  | S |\n|---|---|\n| 2019 Q1 | 4 |\n| 2019 Q2 | 5 |\n| 2020 Q1 | 6 |"
    )


def test_charts_of_office_2016_have_their_values() -> None:
    data = (
        '<c:data id="0"><c:strDim type="cat"><c:lvl><c:pt idx="0">Leads</c:pt><c:pt idx="1">Sales'
        '</c:pt></c:lvl></c:strDim><c:numDim type="val"><c:lvl formatCode="0%"><c:pt idx="0">1'
        '</c:pt><c:pt idx="1">0.25</c:pt></c:lvl></c:numDim></c:data>'
    )
    part = (
        f'<c:chartSpace xmlns:c="{_EXTENDED}"><c:chartData>{data}</c:chartData><c:chart>'
        f"{title('Funnel')}<c:series><c:tx><c:txData><c:v>Share</c:v></c:txData></c:tx>"
        '<c:dataId val="0"/></c:series></c:chart></c:chartSpace>'
    )

    assert text_of(part.replace(f' xmlns:c="{_EXTENDED}"', ""), "chartEx") == (
        "Funnel\n\n|  | Share |\n|---|---|\n| Leads | 100% |\n| Sales | 25% |"
    )


def test_series_of_office_2016_may_share_data_until_they_are_too_many() -> None:
    points = "".join(f'<c:pt idx="{n}">{n}</c:pt>' for n in range(999))
    data = f'<c:data id="0"><c:numDim type="val"><c:lvl>{points}</c:lvl></c:numDim></c:data>'
    shown = '<c:series><c:dataId val="0"/></c:series>'
    part = f"<c:chartSpace><c:chartData>{data}</c:chartData><c:chart>{shown * 500}</c:chart>"

    read = text_of(f"{part}</c:chartSpace>", "chartEx").split("\n")

    assert read[3] == "|  |" + " 1 |" * (1 + 200_000 // 1002)


def test_word_documents_show_charts_likewise() -> None:
    drawing = '<w:p><w:r><w:drawing><c:chart r:id="c1"/></w:drawing></w:r></w:p>'
    part = chart(title("Sales"), series("S", texts("a"), numbers("0.5", code="0%")))

    assert extract(io.BytesIO(word(drawing, {"c1": ("chart", part)})), name="a.docx").text == (
        "Sales\n\n|  | S |\n|---|---|\n| a | 50% |"
    )
