"""PDF: labels whose values follow all together, in a block beside them."""

import io

import pytest

from ingest.formats.registry import extract as extract_file
from tests.builders.make_pdf import at, document


def extract(left: tuple[str, ...], right: tuple[str, ...], *, last: bool = False) -> str:
    """Two blocks of lines beside each other; `last`: the left one comes last in the file."""
    blocks = [
        b"".join(at(x, 700 - 15 * place, text, size=10) for place, text in enumerate(block))
        for x, block in ((60, left), (300, right))
    ]
    if last:
        blocks.reverse()
    return extract_file(io.BytesIO(document(b"".join(blocks))), name="a.pdf").text


@pytest.mark.parametrize("last", [False, True])
def test_values_stand_behind_their_labels(*, last: bool) -> None:
    labels = ("Rechnungsnummer", "Rechnungsdatum", "Kundennummer", "Zeitraum")
    values = ("RE-2024-0815", "03.05.2024", "10023", "April 2024")

    assert extract(labels, values, last=last) == (
        "Rechnungsnummer: RE-2024-0815\nRechnungsdatum: 03.05.2024\n"
        "Kundennummer: 10023\nZeitraum: April 2024"
    )


@pytest.mark.parametrize("last", [False, True])
def test_totals_stand_behind_their_labels(*, last: bool) -> None:
    found = extract(
        ("Subtotal:", "Tax (0%):", "Total:"), ("$127.50", "$0.00", "$127.50"), last=last
    )

    assert found == "Subtotal: $127.50\nTax (0%): $0.00\nTotal: $127.50"


def test_columns_of_figures_are_a_table() -> None:
    found = extract(("City", "Oslo 7", "Oslo 8", "Rom 1", "Ulm"), ("Area", "385", "45", "9", "8"))

    assert found == (
        "| City | Area |\n|---|---|\n| Oslo 7 | 385 |\n| Oslo 8 | 45 |\n| Rom 1 | 9 |\n| Ulm | 8 |"
    )


def test_addresses_beside_each_other_stay_apart() -> None:
    sender = ("Acme Limited", "The Old Mill", "Leeds LS1 4AP", "England")
    other = ("Bob and Company", "5 Long Street", "London", "VAT 9 876")

    assert extract(sender, other).split() == " ".join((*sender, *other)).split()


def test_columns_of_prose_stay_apart() -> None:
    left = tuple(f"the left column goes on in line {number}" for number in range(5))
    right = tuple(f"the right column goes on in line {number}" for number in range(5))

    assert extract(left, right).replace("\n", " ").split() == " ".join((*left, *right)).split()


@pytest.mark.parametrize(
    "right",
    [
        ("12 March 2024", "Order 1001", "Tel 0194", "Page 1 of 2"),
        ("Monday 7", "Tuesday 8", "Wednesday 9", "Thursday 3"),
    ],
)
def test_lines_beside_an_address_are_no_values_of_it(right: tuple[str, ...]) -> None:
    left = ("Jane Miller", "Old Harbour", "Whitby", "England")

    assert extract(left, right).splitlines()[:4] == list(left)
