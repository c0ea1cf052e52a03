"""Presentations of OpenDocument: slides are pages with their notes."""

from tests.builders.make_office import open_document
from tests.unit.formats.office.odf_documents import extract, framed


def test_slides_are_pages_with_their_notes() -> None:
    title = framed("<text:p>One</text:p>", kind="title", y="9cm")
    low, high = (
        framed(f"<text:p>{name}</text:p>", y=y) for name, y in (("low", "8cm"), ("high", "1in"))
    )
    prompt = framed("<text:p>Click to add</text:p>", more='presentation:placeholder="true"')
    notes = (
        f"<presentation:notes>{framed('<text:p>Say this</text:p>', kind='notes')}"
        "</presentation:notes>"
    )
    content = (
        f"<draw:page>{low}{high}{title}{prompt}{notes}</draw:page><draw:page>{low}</draw:page>"
    )

    document = extract(open_document(content, kind="presentation"), "a.odp")

    assert document.text == "## One\n\nhigh\n\nlow\n\nNotes: Say this\n\n## Slide 2\n\nlow"
    assert [page.number for page in document.pages] == [1, 2]


def test_shapes_on_the_page_of_notes_are_read_except_prompts_dates_and_numbers() -> None:
    prompt = framed("<text:p>Click</text:p>", kind="notes", more='presentation:placeholder="true"')
    shapes = (
        framed("<text:p>7</text:p>", kind="page-number")
        + prompt
        + '<draw:page-thumbnail presentation:class="page"/>'
        + "<draw:frame><draw:text-box><text:p>Say this</text:p></draw:text-box></draw:frame>"
        + "<draw:custom-shape><text:p>and that</text:p></draw:custom-shape>"
    )
    page = f"<draw:page>{framed('<text:p>Seen</text:p>')}<presentation:notes>{shapes}"

    document = extract(
        open_document(f"{page}</presentation:notes></draw:page>", kind="presentation"), "a.odp"
    )

    assert document.text == "## Slide 1\n\nSeen\n\nNotes: Say this\n\nand that"


def test_hidden_slides_are_kept_and_named() -> None:
    style = (
        '<style:style style:name="H"><style:drawing-page-properties'
        ' presentation:visibility="hidden"/></style:style>'
    )
    page = f'<draw:page draw:style-name="H">{framed("<text:p>Secret</text:p>")}</draw:page>'

    document = extract(open_document(page, kind="presentation", styles=style), "a.odp")

    assert document.metadata["hiddenSlides"] == [1]
    assert document.text == "## Slide 1\n\nSecret"


def test_footers_of_masters_and_of_slides_appear_once_without_page_numbers() -> None:
    slide = (
        '<draw:page draw:master-page-name="M" presentation:use-footer-name="f">'
        "<draw:frame><draw:text-box><text:p>Words</text:p></draw:text-box></draw:frame></draw:page>"
    )
    masters = "".join(
        f'<style:master-page style:name="M"><draw:frame presentation:class="{kind}">'
        f"<draw:text-box><text:p>{text}</text:p></draw:text-box></draw:frame></style:master-page>"
        for kind, text in (
            ("footer", "Confidential"),
            ("footer", "<text:page-number>7</text:page-number>"),
            ("title", "Click to edit"),
        )
    )
    declared = (
        '<presentation:footer-decl presentation:name="f">Spring 2026</presentation:footer-decl>'
    )

    found = extract(
        open_document(declared + slide * 2, kind="presentation", masters=masters), "a.odp"
    )

    slides = "## Slide 1\n\nWords\n\n## Slide 2\n\nWords"
    assert found.text == f"{slides}\n\nFooter: Confidential\n\nFooter: Spring 2026"
