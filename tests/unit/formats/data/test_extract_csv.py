"""CSV and its kin: separators, quotes, encodings, and what only looks like a table."""

import io
import random

import pytest

from ingest.errors import Permanent
from ingest.formats.common import markdown_writer as lines
from ingest.formats.registry import extract as extract_file
from ingest.formats.sheets import csv
from ingest.model import Document


def extract(data: bytes | str, name: str = "a.csv") -> Document:
    return extract_file(io.BytesIO(data.encode() if isinstance(data, str) else data), name=name)


@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
def test_the_separator_is_found(mark: str) -> None:
    data = "\n".join(mark.join(row) for row in (["Name", "Age"], ["Ann", "34"], ["Bob", "7"]))

    assert extract(data).text == "- Name: Ann; Age: 34\n- Name: Bob; Age: 7"


def test_commas_within_numbers_do_not_separate() -> None:
    assert extract("Name;Size\nx;1,5\ny;2,5\n").text == "- Name: x; Size: 1,5\n- Name: y; Size: 2,5"


@pytest.mark.parametrize("rows", [1, 5, 19, 20, 40, 60, 199, 200, 500])
@pytest.mark.parametrize("mark", [";", "\t", "|"])
def test_decimal_commas_do_not_separate_whatever_the_number_of_rows(mark: str, rows: int) -> None:
    data = [["Nr", "Name", "Str", "Ort", "Umsatz"]]
    data += [[str(i), "A", "B", "C", f"{i},50 €"] for i in range(rows)]

    document = extract("\r\n".join(map(mark.join, data)).encode("cp1252"))

    assert document.text.split("\n") == [
        f"- Nr: {i}; Name: A; Str: B; Ort: C; Umsatz: {i},50 €" for i in range(rows)
    ]


@pytest.mark.parametrize("rows", [5, 60, 500])
@pytest.mark.parametrize(
    ("line", "last"),
    [
        ("{};A;1.234,50 €", "Preis: 1.234,50 €"),
        ("{};A;-0,5", "Preis: -0,5"),
        ('"{}";"A";"12,50"', "Preis: 12,50"),
        ('{};"zwei, drei\nZeilen";12,50', "Preis: 12,50"),
        ("{};Meier, Anna;EUR 12,50", "Preis: EUR 12,50"),
        ("{};A;12,50;", "Preis: 12,50"),
        ("{};A, B, C;1,234,567", "Preis: 1,234,567"),
    ],
)
@pytest.mark.parametrize("head", ["", "Bericht\n", "Umsatz, nach Jahr\nMeier, Anna\nBonn, 2024\n"])
def test_semicolons_are_found_among_commas(head: str, line: str, last: str, rows: int) -> None:
    data = f"{head}Nr;Name;Preis\n" + "".join(line.format(i) + "\n" for i in range(rows))

    lines = extract(data).text.split("\n")[-rows:]

    assert all(row.startswith(f"- Nr: {i}; Name: ") for i, row in enumerate(lines))
    assert all(row.endswith(last) for row in lines)


@pytest.mark.parametrize("rows", [5, 60, 500])
@pytest.mark.parametrize("note", ['"Smith, John"', '"a;b;c"', "a;b;c", '"two\nlines; one"', "x|y"])
def test_commas_are_found_among_other_separators(note: str, rows: int) -> None:
    data = "No,Name,Price\n" + "".join(f'{i},{note},"1,234.50"\n' for i in range(rows))
    name = " ".join(note.strip('"').split())

    document = extract(data)

    assert document.text.split("\n") == [
        f"- No: {i}; Name: {name}; Price: 1,234.50" for i in range(rows)
    ]


def test_decimal_commas_do_not_separate_rows_without_header() -> None:
    assert extract("1;2,5\n" * 50).text.startswith("| 1 | 2,5 |")


def test_a_stated_separator_is_obeyed_and_not_read() -> None:
    assert extract("sep=|\nName|Note\nAnn|1,2\n").text == "- Name: Ann; Note: 1,2"


def test_quoted_cells_hold_separators_quotes_and_line_ends() -> None:
    document = extract('Name,Note\r\nAnn,"a, ""b""\r\nand c"\r\nBob,7\r\n')

    assert document.text == '- Name: Ann; Note: a, "b" and c\n- Name: Bob; Note: 7'


def test_quotes_may_be_escaped_by_a_backslash() -> None:
    assert extract('Name,Age,Note\nAnn,3,"say \\"hi, you\\""\n').text == (
        '- Name: Ann; Age: 3; Note: say "hi, you"'
    )


def test_unclosed_quote_affects_only_its_line() -> None:
    document = extract('Name,Note\nAnn,"open\nBob,7\nCy,8\n')

    assert document.text == '- Name: Ann; Note: "open\n- Name: Bob; Note: 7\n- Name: Cy; Note: 8'
    assert document.warnings == ("unclosed_quote",)


def test_text_behind_a_closing_quote_is_kept() -> None:
    assert extract('Name,Age\n"Ann"e,3\n').text == "- Name: Anne; Age: 3"


def test_rows_may_be_shorter_or_longer_than_the_header() -> None:
    assert extract("Name,Age\nAnn\nBob,7,x\nCy,8\n").text == (
        "- Name: Ann\n- Name: Bob; Age: 7; x\n- Name: Cy; Age: 8"
    )


def test_blank_lines_do_not_end_the_table() -> None:
    assert (
        extract("Name,Age\n\nAnn,3\n\n\nBob,7\n").text == "- Name: Ann; Age: 3\n- Name: Bob; Age: 7"
    )


def test_numbers_keep_their_spelling() -> None:
    assert extract("Name,Zip\nAnn,00501\n").text == "- Name: Ann; Zip: 00501"


def test_a_table_without_header_is_a_markdown_table() -> None:
    assert extract("1,2\n3,4\n5,6\n").text == "| 1 | 2 |\n|---|---|\n| 3 | 4 |\n| 5 | 6 |"


def test_repeated_first_row_is_not_a_header() -> None:
    assert extract("yes,no\nyes,maybe\nno,no\n").text.startswith("| yes | no |")


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "gb18030", "cp932"])
def test_any_encoding_is_read(encoding: str) -> None:
    text = "编号,名称,数量\n" + "".join(f"{number},测试文本,{number}\n" for number in range(9))
    if encoding == "cp932":
        text = "名前,年齢,住所\n" + "佐藤太郎,30,東京都の中央区\n三木英子,25,大阪市の北区\n" * 4

    rows = extract(text.encode(encoding)).text.split("\n")

    assert rows[0] in {
        "- 编号: 0; 名称: 测试文本; 数量: 0",
        "- 名前: 佐藤太郎; 年齢: 30; 住所: 東京都の中央区",
    }


def test_nul_bytes_are_removed() -> None:
    assert extract(b"Name,Age\nA\0nn,3\n").text == "- Name: Ann; Age: 3"


def test_prose_is_unchanged() -> None:
    prose = "It was late, and dark.\nNobody came.\nThen, at last, a light, far away.\n"

    assert extract(prose).text == prose


def test_single_column_is_unchanged() -> None:
    assert extract("Name\nAnn\nBob\n").text == "Name\nAnn\nBob\n"


def test_carriage_returns_end_lines() -> None:
    assert extract("Name,Age\rAnn,3\rBob,7\r").text == "- Name: Ann; Age: 3\n- Name: Bob; Age: 7"


def test_a_cell_may_be_long() -> None:
    cell = "word " * 60_000

    assert extract(f"Name,Text\nAnn,{cell}\n").text == f"- Name: Ann; Text: {cell.strip()}"


def test_text_beyond_the_limit_is_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv, "Lines", lambda: lines.Lines(longest=1000))

    with pytest.raises(Permanent) as caught:
        extract("Name,Age\n" + "Ann,3\n" * 100)

    assert caught.value.code == "too_large"
    assert "1,000 characters" in str(caught.value)


def test_a_file_beyond_the_limit_is_not_even_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "_LARGEST", 100)

    with pytest.raises(Permanent) as caught:
        extract("Name,Age\n" + "Ann,3\n" * 100)

    assert caught.value.code == "too_large"


def test_any_bytes_are_read_or_hold_no_text() -> None:
    chance = random.Random(5)
    codes = set()
    for _ in range(300):
        data = bytes(chance.choices(b'ab,;\t|"\n\r\\ 1\0\xe4', k=chance.randrange(1, 60)))
        try:
            codes.add("ok" if extract(data).text.strip() else "blank")
        except Permanent as error:
            codes.add(error.code)

    assert codes <= {"ok", "empty_content"}


@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
def test_cells_may_stand_in_apostrophes(mark: str) -> None:
    rows = [["Name", "Note"], ["O''Brien", f"a{mark} b"], ["Bob", 'it is "so"']]
    data = "".join(mark.join(f"'{cell}'" for cell in row) + "\n" for row in rows)

    note = " ".join(f"a{mark} b".split())
    assert extract(data).text == (f'- Name: O\'Brien; Note: {note}\n- Name: Bob; Note: it is "so"')


@pytest.mark.parametrize(
    "data",
    [
        "Name,Note\n'tis,the 'end'\nx,'y'\n",
        "'Name' of,Note\n'a' and 'b',c\n",
        '"Name","Note"\n"\'a\',\'b\'",c\n"d",e\n',
    ],
)
def test_apostrophes_of_texts_stay(data: str) -> None:
    assert extract(data).text.count("'") == data.count("'")


@pytest.mark.parametrize("mark", [",", ";", "\t"])
def test_cells_may_begin_with_an_apostrophe(mark: str) -> None:
    rows = ["'id','decade','n'", "1,'90s music,3", "2,'80s music,4", "3,70s,5", "4,60s,6"]

    text = extract("\n".join(row.replace(",", mark) for row in rows)).text

    assert len(text.splitlines()) == 4
    assert "'90s music; " in text


def test_cells_in_apostrophes_may_have_lines_and_be_many() -> None:
    rows = "".join(f"'{number}','one\ntwo, ''three''','{'x' * 90}'\n" for number in range(2_000))

    text = extract(f"'id','note','rest'\n{rows}").text

    assert text.startswith("- id: 0; note: one two, 'three'; rest: xxx")
    assert text.count("\n- id: ") == 1_999


def test_digits_that_are_kept_as_text_lose_the_formula() -> None:
    assert extract('Nr,Name\n="00123",Ada\n="00456",Bob\n').text == (
        "- Nr: 00123; Name: Ada\n- Nr: 00456; Name: Bob"
    )
