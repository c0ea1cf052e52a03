"""What stands above a table of CSV, and below the names of its columns."""

import io

import pytest

from ingest.formats.registry import extract as extract_file
from ingest.model import Document


def extract(data: bytes | str, name: str = "a.csv") -> Document:
    return extract_file(io.BytesIO(data.encode() if isinstance(data, str) else data), name=name)


@pytest.mark.parametrize("mark", [",", ";", "\t"])
def test_rows_above_the_table_are_labels_with_values(mark: str) -> None:
    above = [
        ["Statement", "made on 1 March"], [], ["IBAN", "DE12"], ["Name", "Giro"], ["Bank", "ING"],
        ["Client", "Ada"], ["Period:", "January"], ["Balance", "1234.56", "EUR"], ["", ""],
        ["All payments are listed."], [],
    ]  # fmt: skip
    table = [["Date", "Text", "Balance", "Amount"], ["2024-01-02", "Rent", "400.00", "-800.00"],
             [], ["2024-01-05", "Wages", "2400.00", "2000.00"]]  # fmt: skip

    assert extract("\n".join(map(mark.join, [*above, *table]))).text == (
        "- Statement: made on 1 March\n\n- IBAN: DE12\n- Name: Giro\n- Bank: ING\n- Client: Ada\n"
        "- Period: January\n- Balance: 1234.56; EUR\n\nAll payments are listed.\n\n"
        "- Date: 2024-01-02; Text: Rent; Balance: 400.00; Amount: -800.00\n"
        "- Date: 2024-01-05; Text: Wages; Balance: 2400.00; Amount: 2000.00"
    )


def test_blank_rows_in_a_table_leave_its_header() -> None:
    assert extract("Name,Age\n\nAda,36\n,\nBob,41\n").text == (
        "- Name: Ada; Age: 36\n- Name: Bob; Age: 41"
    )


@pytest.mark.parametrize(
    "rows",
    [
        "2020-01-01,5\n2020-01-02,6\n\n2020-01-03,7,late\n2020-01-04,8,\n",
        "2020-01-01,5\n\n2020-01-03,7\n\n2020-01-04,8,late\n2020-01-05,8\n",
    ],
)
def test_a_longer_row_after_a_blank_one_is_no_header(rows: str) -> None:
    text = extract(f"date,amount\n{rows}").text

    assert text.startswith("- date: 2020-01-01; amount: 5\n- date: 2020-01-0")
    assert "- date: 2020-01-04; amount: 8" in text


@pytest.mark.parametrize(
    ("units", "first"),
    [
        (["s", "V", "mA"], "- Time s: 0.1; Voltage V: 5.0; Load mA: 20"),
        (["[min]", "(kV)", "[kg/m³]"], "- Time [min]: 0.1; Voltage (kV): 5.0; Load [kg/m³]: 20"),
        (["-", "%", "m/s^2"], "- Time: 0.1; Voltage %: 5.0; Load m/s^2: 20"),
        (["s", "V", "A"], "- Time s: 0.1; Voltage V: 5.0; Load A: 20"),
        (["(s)", "(V)", "( kA )"], "- Time (s): 0.1; Voltage (V): 5.0; Load ( kA ): 20"),
        (["", "°C", "€/kWh"], "- Time: 0.1; Voltage °C: 5.0; Load €/kWh: 20"),
    ],
)
def test_units_below_the_names_of_columns_belong_to_them(units: list[str], first: str) -> None:
    rows = [["Time", "Voltage", "Load"], units, ["0.1", "5.0", "20"], ["0.2", "5.1", "21"]]

    assert extract("\n".join(";".join(row) for row in rows)).text.split("\n")[0] == first


@pytest.mark.parametrize(
    "rows",
    [
        ["Size;Class", "s;A", "m;B", "l;A"],  # words below, not values
        ["Name;Mark;Points", "m;A;1", "5;3;2", "6;4;3"],
    ],
)
def test_short_words_below_names_are_no_units(rows: list[str]) -> None:
    assert f"{rows[0].split(';')[0]}: {rows[1].split(';')[0]}" in extract("\n".join(rows)).text


@pytest.mark.parametrize(
    ("rows", "records"),
    [
        (
            ["Net,Gross", "(500),(300)", "200,100", "300,120"],
            ["Net: (500); Gross: (300)", "Net: 200; Gross: 100", "Net: 300; Gross: 120"],
        ),
        (
            ["Umsatz;Ergebnis", "(1.250);(300)", "2.000;150"],
            ["Umsatz: (1.250); Ergebnis: (300)", "Umsatz: 2.000; Ergebnis: 150"],
        ),
        (
            ["Week,Jan,Feb,Mar", ",(120),(95),(10)", "2,120,95,10"],
            ["Jan: (120); Feb: (95); Mar: (10)", "Week: 2; Jan: 120; Feb: 95; Mar: 10"],
        ),
        (["Home,Away", "[2],[1]", "3,0"], ["Home: [2]; Away: [1]", "Home: 3; Away: 0"]),
        (["In,Out", "(n/a),(n/a)", "3,2"], ["In: (n/a); Out: (n/a)", "In: 3; Out: 2"]),
        (
            ["Mon,Tue", "(closed),(closed)", "3,2"],
            ["Mon: (closed); Tue: (closed)", "Mon: 3; Tue: 2"],
        ),
        (
            ["Q1,Q2,Q3", "A,B,A", "1,2,3", "2,1,1"],
            ["Q1: A; Q2: B; Q3: A", "Q1: 1; Q2: 2; Q3: 3", "Q1: 2; Q2: 1; Q3: 1"],
        ),
        (["First,Last", "GA,MA", "3,2"], ["First: GA; Last: MA", "First: 3; Last: 2"]),
        (["First,Second", "(A),[V]", "3,2"], ["First: (A); Second: [V]", "First: 3; Second: 2"]),
        (
            ["Player,Goals,Assists", "N,A,(x)", "7,3,2"],
            ["Player: N; Goals: A; Assists: (x)", "Player: 7; Goals: 3; Assists: 2"],
        ),
    ],
)
def test_a_first_record_of_amounts_or_codes_is_no_row_of_units(
    rows: list[str], records: list[str]
) -> None:
    assert extract("\n".join(rows)).text == "\n".join(f"- {record}" for record in records)
