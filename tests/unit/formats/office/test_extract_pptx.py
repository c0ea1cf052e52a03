"""PowerPoint presentations: slides, their order, what is beside the text, odd packages."""

import io

import pytest

from ingest.errors import Permanent
from ingest.formats.registry import extract as extract_file
from ingest.model import Document
from tests.builders import make_files, make_office
from tests.builders.make_mail import Kept
from tests.builders.make_office import presentation, shape


def extract(data: bytes, members: Kept | None = None) -> Document:
    return extract_file(io.BytesIO(data), name="a.pptx", members=members)


def slides(document: Document) -> list[str]:
    return [document.text[page.start : page.end] for page in document.pages]


def frame(content: str) -> str:
    return (
        "<p:graphicFrame><p:nvGraphicFramePr/><a:graphic><a:graphicData>"
        f"{content}</a:graphicData></a:graphic></p:graphicFrame>"
    )


def test_each_slide_is_a_page_and_its_title_a_heading() -> None:
    document = extract(
        presentation(shape("Body one") + shape("One", kind="title"), shape("Two", kind="ctrTitle"))
    )

    assert slides(document) == ["## One\n\nBody one", "## Two"]


def test_shapes_are_read_from_top_to_bottom_and_left_to_right() -> None:
    below, right, left = (
        shape("below", at=(0, 9)),
        shape("right", at=(9, 1)),
        shape("left", at=(1, 1)),
    )

    document = extract(presentation(below + right + left))

    assert document.text == "## Slide 1\n\nleft\n\nright\n\nbelow"


def test_placeholder_takes_its_position_from_the_layout() -> None:
    layout = f"<p:sldLayout><p:cSld>{shape('x', at=(0, 1), kind='subTitle')}</p:cSld></p:sldLayout>"

    document = extract(
        presentation(
            shape("second", at=(0, 5)) + shape("first", kind="subTitle"),
            related=[{"l1": ("slideLayout", layout)}],
        )
    )

    assert document.text == "## Slide 1\n\nfirst\n\nsecond"


def test_paragraphs_of_a_body_are_items_and_groups_are_opened() -> None:
    group = f"<p:grpSp><p:grpSpPr/>{shape('in a group')}</p:grpSp>"

    document = extract(presentation(shape("a", "b", kind="body") + group))

    assert document.text == "## Slide 1\n\n- a\n- b\n\nin a group"


def test_text_that_looks_like_markdown_is_escaped() -> None:
    document = extract(presentation(shape("# not a heading") + shape("| a | b |")))

    assert document.text == "## Slide 1\n\n\\# not a heading\n\n\\| a | b |"


def test_tables_charts_and_diagrams_become_tables_and_lists() -> None:
    cell = "<a:tc><a:txBody><a:p><a:r><a:t>{}</a:t></a:r></a:p></a:txBody></a:tc>"
    rows = "".join(
        f"<a:tr>{cell.format(one)}{cell.format(two)}</a:tr>" for one, two in ("AB", "C|")
    )
    points = '<c:pt idx="{}"><c:v>{}</c:v></c:pt>'
    chart = (
        "<c:chartSpace><c:ser><c:tx><c:v>Sales</c:v></c:tx>"
        f"<c:cat>{points.format(0, 'Q1')}{points.format(1, 'Q2')}</c:cat>"
        f"<c:val>{points.format(0, 10)}{points.format(1, 20)}</c:val></c:ser></c:chartSpace>"
    )
    node = '<dgm:pt modelId="{}"><dgm:t><a:p><a:r><a:t>{}</a:t></a:r></a:p></dgm:t></dgm:pt>'
    diagram = (
        f"<dgm:dataModel><dgm:pt modelId='0' type='doc'/>{node.format(2, 'child')}"
        f"{node.format(1, 'parent')}<dgm:cxn srcId='0' destId='1'/>"
        "<dgm:cxn srcId='1' destId='2'/></dgm:dataModel>"
    )

    document = extract(
        presentation(
            frame(f"<a:tbl>{rows}</a:tbl>")
            + frame('<c:chart r:id="c1"/>')
            + frame('<dgm:relIds r:dm="d1"/>'),
            related=[{"c1": ("chart", chart), "d1": ("diagramData", diagram)}],
        )
    )

    assert document.text.split("\n\n") == [
        "## Slide 1",
        "| A | B |\n|---|---|\n| C | \\| |",
        "|  | Sales |\n|---|---|\n| Q1 | 10 |\n| Q2 | 20 |",
        "- parent\n   - child".replace("   ", "  "),
    ]


def test_merged_cells_of_slides_are_repeated() -> None:
    def row(*cells: tuple[str, str]) -> str:
        words = "<a:txBody><a:p><a:r><a:t>{}</a:t></a:r></a:p></a:txBody>"
        inner = (f"<a:tc {kind}>{words.format(text)}</a:tc>" for text, kind in cells)
        return f"<a:tr>{''.join(inner)}</a:tr>"

    rows = (
        row(("Region", 'rowSpan="2"'), ("Sales", 'gridSpan="2"'), ("", 'hMerge="1"'))
        + row(("", 'vMerge="1"'), ("Plan", ""), ("Actual", ""))
        + row(("North", ""), ("1", ""), ("2", ""))
    )

    assert slides(extract(presentation(frame(f"<a:tbl>{rows}</a:tbl>")))) == [
        "## Slide 1\n\n| Region | Sales Plan | Sales Actual |\n|---|---|---|\n| North | 1 | 2 |"
    ]


def test_a_diagram_that_refers_to_itself_ends() -> None:
    point = '<dgm:pt modelId="1"><dgm:t><a:p><a:r><a:t>again</a:t></a:r></a:p></dgm:t></dgm:pt>'
    diagram = f"<dgm:dataModel>{point}<dgm:cxn srcId='1' destId='1'/></dgm:dataModel>"

    document = extract(
        presentation(frame('<dgm:relIds r:dm="d1"/>'), related=[{"d1": ("diagramData", diagram)}])
    )

    assert document.text == "## Slide 1\n\n- again"


def test_notes_and_comments_follow_their_slide() -> None:
    notes = f"<p:notes>{shape('Say this', kind='body')}{shape('7', kind='sldNum')}</p:notes>"
    comments = '<p:cmLst><p:cm authorId="3"><p:text>Too long</p:text></p:cm></p:cmLst>'
    authors = '<p:cmAuthorLst><p:cmAuthor id="3" name="Ann"/></p:cmAuthorLst>'

    document = extract(
        presentation(
            shape("Text"),
            related=[{"n1": ("notesSlide", notes), "k1": ("comments", comments)}],
            main={"authors": ("commentAuthors", authors)},
        )
    )

    assert document.text == "## Slide 1\n\nText\n\nNotes: Say this\n\nComment by Ann: Too long"


def test_footer_appears_once_without_slide_numbers() -> None:
    number = shape("3", kind="sldNum")
    footer = shape("Our company", kind="ftr")

    document = extract(presentation(shape("A") + footer + number, shape("B") + footer + number))

    assert slides(document) == ["## Slide 1\n\nA\n\nOur company", "## Slide 2\n\nB"]


def test_hidden_slides_are_kept_and_named() -> None:
    tree = f"<p:cSld><p:spTree>{shape('Secret')}</p:spTree></p:cSld>"

    document = extract(presentation(shape("A"), f'<p:sld show="0">{tree}</p:sld>'))

    assert document.metadata["hiddenSlides"] == [2]
    assert "hidden_slides" in document.warnings
    assert slides(document)[1] == "## Slide 2\n\nSecret"


def test_pictures_leave_their_alternative_text() -> None:
    picture = '<p:pic><p:nvPicPr><p:cNvPr id="1" name="n" descr="A duck"/></p:nvPicPr></p:pic>'

    assert extract(presentation(picture)).text == "## Slide 1\n\nA duck"


def test_a_slide_of_pictures_alone_is_unread() -> None:
    picture = '<p:pic><p:blipFill><a:blip r:embed="r1"/></p:blipFill></p:pic>'

    coverage = extract(presentation(shape("A"), picture)).coverage

    assert (coverage.unread, coverage.lost) == (1, (2,))


def test_a_slide_that_is_missing_or_broken_is_a_failed_page() -> None:
    broken = extract(presentation(shape("A"), "<p:sld>&nothing;</p:sld>"))
    missing = extract(presentation(shape("A"), shape("B")).replace(b"ppt/s1.xml", b"ppt/s9.xml"))

    assert (broken.coverage.failed, broken.coverage.lost) == (1, (2,))
    assert "pages_failed" in broken.warnings
    assert broken.metadata["unreadableParts"] == ["ppt/s1.xml"]
    assert missing.coverage.failed == 1


def test_embedded_files_are_members() -> None:
    kept = Kept()
    embedded = make_office.packaged_file("plan.txt", b"Plan B")

    document = extract(
        presentation(
            shape("A"),
            related=[
                {
                    "ole1.bin": ("oleObject", embedded),
                    "book.xlsx": ("package", make_files.zipped({"xl/workbook.xml": b"<x/>"})),
                }
            ],
        ),
        kept,
    )

    assert kept.files["plan.txt"] == b"Plan B"
    assert kept.files["book.xlsx"].startswith(b"PK")
    assert [item["name"] for item in document.metadata["attachments"]] == ["book.xlsx", "plan.txt"]


def test_too_many_slides_are_refused() -> None:
    with pytest.raises(Permanent) as caught:
        extract_file(io.BytesIO(presentation(shape("A"), shape("B"))), name="a.pptx", max_pages=1)

    assert caught.value.code == "too_many_pages"


def test_a_presentation_without_its_main_part_is_corrupt() -> None:
    data = make_files.zipped({"[Content_Types].xml": b"<Types/>", "ppt/other.xml": b"<x/>"})

    with pytest.raises(Permanent) as caught:
        extract(data)

    assert caught.value.code == "corrupt"


def run(text: str, baseline: int = 0) -> str:
    return f'<a:r><a:rPr baseline="{baseline}"/><a:t>{text}</a:t></a:r>'


def test_powers_and_indices_are_written_out_in_shapes_cells_notes_charts_and_diagrams() -> None:
    power = run("2") + run("10", 30000)
    water = run("CO") + run("2", -25000)
    box = f"<p:sp><p:txBody><a:p>{power}<a:br/>{water}</a:p></p:txBody></p:sp>"
    cell = f"<a:tc><a:txBody><a:p>{power}<a:br/>{water}</a:p></a:txBody></a:tc>"
    title = f"<c:chartSpace><c:title><a:p>{water}</a:p></c:title></c:chartSpace>"
    node = f'<dgm:pt modelId="1"><dgm:t><a:p>{power}</a:p></dgm:t></dgm:pt>'

    document = extract(
        presentation(
            box
            + frame(f"<a:tbl><a:tr>{cell}</a:tr></a:tbl>")
            + frame('<c:chart r:id="c1"/>')
            + frame('<dgm:relIds r:dm="d1"/>'),
            related=[
                {
                    "c1": ("chart", title),
                    "d1": ("diagramData", f"<dgm:dataModel>{node}</dgm:dataModel>"),
                    "n1": ("notesSlide", f"<p:notes>{box}</p:notes>"),
                }
            ],
        )
    )

    assert document.text == (
        "## Slide 1\n\n2^10\nCO₂\n\n| 2^10 CO₂ |\n|---|\n\nCO₂\n\n- 2^10\n\nNotes: 2^10\nCO₂"
    )
