"""PowerPoint 97: slides as those of PowerPoint 2007 come out, from its records."""

import io

import pytest

from ingest.formats.registry import extract as extract_file
from ingest.model import Document
from tests.builders import make_office
from tests.builders.make_mail import Kept
from tests.builders.make_powerpoint_97 import (
    BODY,
    DATE,
    DESCRIPTION,
    FOOTER,
    HALF_BODY,
    NOTES_BODY,
    NUMBER,
    PICTURE,
    TABLE,
    TITLE,
    WORD_ART,
    Slide,
    comment,
    group,
    margins,
    presentation,
    shape,
    text,
)


def read(data: bytes) -> Document:
    return extract_file(io.BytesIO(data), name="a.ppt")


def slide_text(*shapes: bytes, outline: bytes = b"") -> str:
    return read(presentation(Slide(shapes=shapes, outline=outline))).text


def test_a_slide_has_its_title_as_heading_and_its_body_as_a_list() -> None:
    outline = text("What we do", TITLE) + text(
        "First\rInner\rSecond\vline", BODY, levels=[(6, 0, None), (6, 1, None), (12, 0, None)]
    )

    read_text = slide_text(shape(1, at=(900, 0)), shape(0, at=(1000, 0)), outline=outline)

    assert read_text == "## What we do\n\n- First\n  - Inner\n- Second line"


def test_bullets_make_items_where_they_are_stated() -> None:
    body = text("Intro\rPoint", BODY, levels=[(6, 0, False), (6, 0, True)])
    box = text("One\rTwo\rThen", levels=[(8, 0, True), (5, 0, False)])

    assert slide_text(shape(body), shape(box, at=(3000, 0))) == (
        "## Slide 1\n\nIntro\n\n- Point\n\n- One\n- Two\n\nThen"
    )


def test_raised_and_lowered_characters_change_no_values() -> None:
    words = "10\r6 m\x0bCO2"
    powers = text("106 m\rCO2 in 5 m2", placed=[(2, 0), (1, 30), (5, 0), (1, -25), (7, 0), (1, 30)])
    alone = text("3 \rx", placed=[(1, -25), (2, 0), (1, 30)])
    breaks = text(words, placed=[(2, 0), (2, 30), (9, 0)])
    levels = text("Area\rm2", BODY, levels=[(5, 0, True), (3, 1, True)], placed=[(6, 0), (1, 33)])

    shapes = (
        shape(item, at=(1000 * n, 0)) for n, item in enumerate((powers, alone, breaks, levels))
    )
    assert slide_text(*shapes).split("\n\n")[1:] == [
        "10^6 m", "CO₂ in 5 m²", "3", "x", "10", "6 m\nCO2", "- Area\n  - m²",
    ]  # fmt: skip


def test_links_to_the_web_keep_their_address() -> None:
    links = [(4, 12, 1), (5, 8, 1), (16, 23, 2), (0, 3, 9), (20, 99, 1)]
    box = shape(text("See our page or slide 3", links=links))
    addresses = ["https://example.org/a", "slide 3"]

    document = read(presentation(Slide(shapes=[box]), addresses=addresses))

    assert document.text == ("## Slide 1\n\nSee [our page](https://example.org/a) or slide 3")


def test_a_link_of_several_paragraphs_leaves_them_apart() -> None:
    box = shape(text("See one\rtwo\vthree", BODY, links=[(4, 17, 1)]))

    shown = read(presentation(Slide(shapes=[box]), addresses=["https://example.org/a"])).text

    assert shown.split("\n")[2:] == [
        "- See [one](https://example.org/a)",
        "- [two](https://example.org/a) [three](https://example.org/a)",
    ]


def test_a_body_of_one_paragraph_is_no_list() -> None:
    assert slide_text(shape(text("Alone", HALF_BODY))) == "## Slide 1\n\nAlone"


def test_shapes_are_read_from_top_to_bottom_and_left_to_right() -> None:
    shapes = [
        shape(text("low"), at=(2000, 0)),
        shape(text("right"), at=(510, 900)),
        shape(text("left"), at=(520, 10)),
    ]

    assert slide_text(*shapes).split("\n\n")[1:] == ["left", "right", "low"]


def test_groups_are_read_and_deleted_shapes_are_not() -> None:
    inner = group(shape(text("deep"), inside=True))
    shapes = [
        group(shape(text("in a group"), inside=True), inner),
        shape(text("gone"), deleted=True),
    ]

    assert slide_text(*shapes) == "## Slide 1\n\nin a group\n\ndeep"


def test_a_table_has_a_row_for_each_height_and_a_column_for_each_edge() -> None:
    cells = [("Item", 0, 0), ("Price", 0, 500), ("Pens", 90, 0), ("7", 90, 500)]
    shapes = [shape(text(value), at=(top, left), inside=True) for value, top, left in cells]

    assert slide_text(group(*shapes, own=shape(options={TABLE: 1}))) == (
        "## Slide 1\n\n| Item | Price |\n|---|---|\n| Pens | 7 |"
    )


def test_merged_cells_of_a_table_count_in_all_their_places() -> None:
    cells = [
        ("Ship", (0, 0), (9, 18)), ("Calls", (0, 18), (9, 9)),
        ("Tanker", (9, 0), (18, 9)), ("crude", (9, 9), (9, 9)), ("412", (9, 18), (9, 9)),
        ("gas", (18, 9), (9, 9)), ("7", (18, 18), (9, 9)),
    ]  # fmt: skip
    shapes = [shape(text(value), at=at, size=size, inside=True) for value, at, size in cells]

    assert slide_text(group(*shapes, own=shape(options={TABLE: 1}))).endswith(
        "\n\n| Ship | Ship | Calls |\n|---|---|---|\n| Tanker | crude | 412 |\n| Tanker | gas | 7 |"
    )


def test_word_art_and_descriptions_of_pictures_are_text() -> None:
    shapes = [
        shape(options={WORD_ART: "Big news"}),
        shape(options={PICTURE: 1, DESCRIPTION: "A chart of sales"}, at=(2000, 0)),
    ]

    assert slide_text(*shapes) == "## Slide 1\n\nBig news\n\nA chart of sales"


def test_numbers_and_dates_that_are_filled_in_leave_no_star() -> None:
    shapes = [
        shape(text("Page * of 5 *", filled=[5])),
        shape(text("*", filled=[0]), placeholder=NUMBER, at=(3000, 0)),
        shape(text("*", filled=[0]), placeholder=DATE, at=(3000, 9)),
    ]

    assert slide_text(*shapes) == "## Slide 1\n\nPage  of 5 *"


def test_footers_and_fixed_dates_are_shown_once() -> None:
    common = margins(footer="Confidential", date="May 2004", instance=3)
    slides = [
        Slide(shapes=[shape(text("A", TITLE))]),
        Slide(shapes=[shape(text("B", TITLE))], more=[margins(footer="Only here")]),
        Slide(shapes=[shape(text("C", TITLE)), shape(text("In a shape"), placeholder=FOOTER)]),
    ]

    assert read(presentation(*slides, document=[common])).text == (
        "## A\n\nMay 2004\n\nConfidential\n\n## B\n\nOnly here\n\n## C\n\nIn a shape"
    )


def test_notes_and_comments_follow_their_slide() -> None:
    notes = [
        shape(text("Say this", 2), placeholder=NOTES_BODY),
        shape(text("7"), placeholder=NUMBER),
    ]
    slides = [
        Slide(shapes=[shape(text("A", TITLE))]),
        Slide(shapes=[shape(text("B", TITLE))], notes=notes, more=[comment("Ann", "Too long")]),
    ]

    assert read(presentation(*slides)).text == (
        "## A\n\n## B\n\nNotes: Say this\n\nComment by Ann: Too long"
    )


def test_hidden_slides_are_read_and_named() -> None:
    document = read(
        presentation(
            Slide(shapes=[shape(text("A", TITLE))]),
            Slide(shapes=[shape(text("B", TITLE))], hidden=True),
        )
    )

    assert document.text == "## A\n\n## B"
    assert document.metadata["hiddenSlides"] == [2]
    assert "hidden_slides" in document.warnings


def test_only_the_newest_edit_counts() -> None:
    old = [Slide(shapes=[shape(text("Draft", TITLE))]), Slide(shapes=[shape(text("Cut", TITLE))])]

    assert read(presentation(Slide(shapes=[shape(text("Final", TITLE))]), before=old)).text == (
        "## Final"
    )


def test_files_that_powerpoint_95_can_open_too_are_read_as_powerpoint_97() -> None:
    data = presentation(Slide(shapes=[shape(text("A", TITLE))]), folder="PP97_DUALSTORAGE")

    assert read(data).text == "## A"


def test_edits_that_follow_each_other_in_a_circle_end() -> None:
    assert read(presentation(Slide(shapes=[shape(text("A", TITLE))]), circular=True)).text == "## A"


def test_embedded_documents_become_files() -> None:
    embedded = [make_office.packaged_file("plan.txt", b"The plan"), b"no container"]
    data = presentation(Slide(shapes=[shape(text("A", TITLE))]), embedded=embedded)
    members = Kept()

    document = extract_file(io.BytesIO(data), name="a.ppt", members=members)

    names = [item["name"] for item in document.metadata["attachments"]]
    assert names == ["plan.txt", "object2.bin"]
    assert members.files["plan.txt"] == b"The plan"


@pytest.mark.parametrize("number", [7, -1])
def test_references_to_texts_that_are_missing_cost_only_them(number: int) -> None:
    assert slide_text(shape(number), shape(text("Here"))) == "## Slide 1\n\nHere"


def test_slides_of_pictures_only_are_unread() -> None:
    slides = [Slide(shapes=[shape(text("A", TITLE))]), Slide(shapes=[shape(options={PICTURE: 1})])]

    coverage = read(presentation(*slides)).coverage

    assert coverage is not None
    assert (coverage.with_text, coverage.unread) == (1, 1)
