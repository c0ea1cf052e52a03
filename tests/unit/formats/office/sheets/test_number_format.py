"""Numbers and dates as a sheet shows them."""

import datetime as dt

import pytest

from ingest.formats.common.date_format import Value
from ingest.formats.common.number_format import shown

MOMENT = dt.datetime.fromisoformat("2026-03-05 14:30:07")
ACCOUNTING = '_-* #,##0.00 [$€-407]_-;-* #,##0.00 [$€-407]_-;_-* "-"?? [$€-407]_-;_-@_-'


@pytest.mark.parametrize(
    ("value", "code", "text"),
    [
        (0.125, "0.0%", "12.5%"),
        (1, "0%", "100%"),
        (1234567.891, '#,##0.00 "EUR"', "1,234,567.89 EUR"),
        (-0.5, '#,##0.00 "EUR"', "-0.50 EUR"),
        (1234.5, "$#,##0.00", "$1,234.50"),
        (1234.5, ACCOUNTING, "1,234.50 €"),
        (-1234.5, ACCOUNTING, "-1,234.50 €"),
        (0, ACCOUNTING, "- €"),
        (12, "[$CHF] #,##0.00", "CHF 12.00"),
        (-1234, "#,##0_);(#,##0)", "(1,234)"),
        (2.675, "0.00", "2.68"),
        (-0.001, "0.0", "0.0"),
        (7, "00000", "00007"),
        (123456789, "000-00-0000", "123-45-6789"),
        (5, '0" kg"', "5 kg"),
        (42, 'General" items"', "42 items"),
        (1.5, "0.##", "1.5"),
        (1, "0.##", "1"),
        (1234567, '#,##0,"k"', "1,235k"),
        (1e9, '0.0,,"M"', "1000.0M"),
        (12345, "0.00E+00", "1.23E+04"),
        (0.000012345, "0.0E-0", "1.2E-5"),
        (1.5, "# ?/?", "1 1/2"),
        (0.333333, "# ?/?", "1/3"),
        (1.25, "# ??/16", "1 4/16"),
        (5, '[>100]"big";[<10]"small";0', "small"),
        (1, '"Yes";;"No"', "Yes"),
        (0, '"Yes";;"No"', "No"),
        (float("nan"), "0.0", "nan"),
        (1e300, "#,##0", "1E+300"),
    ],
)
def test_numbers(value: float, code: str, text: str) -> None:
    assert shown(value, code) == text


@pytest.mark.parametrize(
    ("value", "code", "text"),
    [
        (MOMENT, "dd.mm.yyyy", "05.03.2026"),
        (MOMENT, "m/d/yy h:mm", "3/5/26 14:30"),
        (MOMENT, "d-mmm-yy", "5-Mar-26"),
        (MOMENT, "[$-407]d. mmmm yyyy", "5. März 2026"),
        (MOMENT, "[$-40C]dddd d mmmm", "jeudi 5 mars"),
        (MOMENT, "[$-F800]dddd, mmmm dd, yyyy", "Thursday, March 05, 2026"),
        (MOMENT, 'yyyy"年"m"月"d"日"', "2026年3月5日"),
        (MOMENT, "h:mm:ss AM/PM", "2:30:07 PM"),
        (MOMENT, "mm:ss.0", "30:07.0"),
        (dt.time(7, 5), "h:mm:ss", "7:05:00"),
        (dt.timedelta(hours=30, minutes=5), "[h]:mm", "30:05"),
        (dt.timedelta(minutes=90), "[mm]:ss", "90:00"),
        (46086.5, "yyyy-mm-dd hh:mm", "2026-03-05 12:00"),
        (1.25, "[h]:mm", "30:00"),
    ],
)
def test_dates_and_times(value: Value, code: str, text: str) -> None:
    assert shown(value, code) == text


@pytest.mark.parametrize("code", [";;;", '""', "[Red]", "0" * 300, '"', "[$", ";", "/", "0/0/0"])
def test_no_format_hides_a_value_or_fails(code: str) -> None:
    assert any(map(str.isalnum, shown(12.5, code)))


def test_serial_numbers_of_the_old_macintosh_begin_in_1904() -> None:
    assert shown(1, "yyyy-mm-dd", is_1904=True) == "1904-01-02"
    assert shown(59, "yyyy-mm-dd") == "1900-02-28"
