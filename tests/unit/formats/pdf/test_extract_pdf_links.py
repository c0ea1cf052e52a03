"""PDF: links to the web keep their addresses."""

import io

import pytest

from ingest.formats.pdf.layout.addresses import is_broken_address
from ingest.formats.registry import extract as extract_file
from tests.builders.make_pdf import Sheet, at, document, grid, lines

_MANUAL = "https://heron.example/manual"


def link(left: float, bottom: float, right: float, top: float, address: str) -> bytes:
    area = b"%g %g %g %g" % (left, bottom, right, top)
    action = b"<< /S /URI /URI (%s) >>" % address.encode()
    return b"/Subtype /Link /Rect [%s] /A %s" % (area, action)


def text_of(content: bytes, *annotations: bytes, entries: bytes = b"") -> str:
    sheet = Sheet(content=content, annotations=annotations, entries=entries)
    return extract_file(io.BytesIO(document(sheet)), name="a.pdf").text


def test_linked_words_become_a_link() -> None:
    content = lines(50, 700, "Read the manual before you start the pump.")
    # A link ends inside a letter, as the areas of many programs do.
    assert text_of(content, link(77, 695, 142, 712, _MANUAL)) == (
        f"Read [the manual]({_MANUAL}) before you start the pump."
    )


def test_other_schemes_and_links_inside_the_document_stay_text() -> None:
    content = lines(50, 700, "Read the manual before you start the pump.")
    area = b"[77 695 140 712]"
    for action in (
        b"/A << /S /URI /URI (javascript:alert\\(1\\)) >>",
        b"/A << /S /URI /URI (file:///etc/passwd) >>",
        b"/A << /S /URI /URI (https://a.example/%s) >>" % (b"x" * 5000),
        b"/A << /S /GoTo /D [7 0 R /Fit] >>",
        b"/F 2 /A << /S /URI /URI (https://a.example/hidden) >>",
    ):
        annotation = b"/Subtype /Link /Rect %s %s" % (area, action)
        assert text_of(content, annotation) == "Read the manual before you start the pump."


def test_an_address_cannot_end_its_link_or_its_cell() -> None:
    content = lines(50, 700, "Read the manual before you start the pump.")
    found = text_of(content, link(77, 695, 140, 712, "https://a.example/x_\\(y\\)|z"))
    assert "[the manual](https://a.example/x_%28y%29%7Cz) before" in found


def test_a_link_over_two_lines_is_one() -> None:
    content = lines(
        50, 700,
        "Before you start the pump you have to read the whole of the manual",
        "of the maker, which explains how to fill it and how to empty it again.",
        "Nothing else is needed to set it up in the cellar of a large house.",
    )  # fmt: skip
    found = text_of(content, link(350, 695, 460, 712, _MANUAL), link(45, 681, 114, 697, _MANUAL))
    assert f"of [the manual of the maker]({_MANUAL}), which explains" in found


def test_an_address_in_print_is_whole_again_and_no_link() -> None:
    content = lines(
        50, 700,
        "All that is known about it stands in https://heron.example/very-",
        "long/path/to, and nothing of it is to be found in any other place.",
    )  # fmt: skip
    address = "https://heron.example/very-long/path/to"
    found = text_of(content, link(240, 695, 420, 712, address), link(45, 681, 109, 697, address))
    assert f"stands in {address}, and nothing" in found
    assert "](" not in found


def test_a_word_before_an_address_in_print_is_joined() -> None:
    content = lines(
        50, 700,
        "All that is known about it stands in The Guide to Heron Main-",
        "tenance (https://heron.example/guide), and in no other place.",
    )  # fmt: skip
    address = "https://heron.example/guide"
    found = text_of(content, link(240, 695, 420, 712, address), link(45, 681, 262, 697, address))
    assert f"The Guide to Heron Maintenance ({address}), and" in found


def test_a_hyphen_that_the_address_lacks_is_left_out() -> None:
    content = lines(
        50, 700,
        "All that is known about it stands in https://heron.example/path/-",
        "to/it, and nothing of it is to be found in any other place.",
    )  # fmt: skip
    address = "https://heron.example/path/to/it"
    found = text_of(content, link(240, 695, 420, 712, address), link(45, 681, 74, 697, address))
    assert f"stands in {address}, and nothing" in found


def test_hyphens_that_the_address_has_and_lacks_in_lines_below_each_other() -> None:
    address = "https://heron.example/the-long-way/to-it/on-foot"
    parts = ("stands in https://heron.example/-", "the-", "long-", "way/-", "to-", "it/on-", "foot")
    areas = [link(45, 695 - 14 * n, 300, 712 - 14 * n, address) for n in range(len(parts))]

    found = text_of(lines(50, 700, *parts), *areas)

    assert "".join(found.split()).endswith(address)


def test_links_in_the_cells_of_a_table() -> None:
    rows = (("Pump", "Sheet"), ("Heron", "PDF"), ("Stork", "PDF"), ("Crane", "none"))
    content = grid([50, 200, 350], [720, 700, 680, 660, 640]) + b"".join(
        at(55 + 150 * column, 705 - 20 * row, text)
        for row, cells in enumerate(rows)
        for column, text in enumerate(cells)
    )
    found = text_of(
        content,
        link(200, 660, 350, 678, "https://a.example/stork"),
        link(200, 680, 350, 698, "https://a.example/heron"),
    )
    assert "| Heron | [PDF](https://a.example/heron) |" in found
    assert "| Stork | [PDF](https://a.example/stork) |" in found


def test_an_area_to_click_on_is_no_link() -> None:
    content = lines(50, 700, *["A page that can be clicked on has no words that link."] * 12)
    assert "](" not in text_of(content, link(0, 0, 600, 800, _MANUAL))


def test_links_on_a_turned_page() -> None:
    turned = b"q 0 1 -1 0 600 0 cm\n" + lines(50, 500, "Read the manual at once.") + b"Q\n"
    # On the page as shown, the words are at 77 to 140, 495 to 512.
    found = text_of(turned, link(88, 77, 105, 140, _MANUAL), entries=b"/Rotate 90")
    assert found == f"Read [the manual]({_MANUAL}) at once."


def test_a_heading_with_a_link_stays_a_heading() -> None:
    body = lines(
        50, 640, *[f"Line {n} of a text that goes on and on for a while." for n in range(9)]
    )
    content = at(50, 700, "The manual of the pump", size=22) + body
    found = text_of(content, link(45, 690, 400, 725, _MANUAL))
    assert found.startswith(f"# [The manual of the pump]({_MANUAL})\n")


@pytest.mark.parametrize(
    ("end", "begin"),
    [
        ("on the site (https:", "//pumps.example/valves/) of"),
        ("read https://", "pumps.example/valves for"),
        ("see https://pumps.", "example/valves, too"),
        ("see https://pumps.example/", "manuals/valves.html for it"),
        ("see https://pumps.example", "/valves for it"),
        ("see http://pumps.example/find?valve=2&", "size=4 for it"),
        ("in the list (https://pumps.example/", "valves), which"),
        ("see <www.pumps.example/", "valves> for it"),
        ("the file /usr/share/", "pumps/valves.txt and"),
    ],
)
def test_an_address_goes_on(end: str, begin: str) -> None:
    assert is_broken_address(end, begin)


@pytest.mark.parametrize(
    ("end", "begin"),
    [
        ("it is on https://pumps.example/", "and on paper"),
        ("it is on https://pumps.example.", "Read it first"),
        ("see https://pumps.example/", "https://valves.example/"),
        ("see https://pumps.example/", "and/or the valves"),
        ("see (https://pumps.example/)", "valves.html"),
        ("the folder /usr/share/", "holds all of it"),
        ("pumps and/", "or valves"),
        ("as follows:", "//pumps"),
        ("", "pumps"),
        ("https://pumps.example/", ""),
    ],
)
def test_an_address_ends(end: str, begin: str) -> None:
    assert not is_broken_address(end, begin)


def test_a_broken_address_comes_out_whole() -> None:
    broken = "The valves of all of our pumps are on https://pumps.example/", "valves/a.html now."

    text = text_of(lines(50, 700, *broken))

    assert "on https://pumps.example/valves/a.html now." in text
