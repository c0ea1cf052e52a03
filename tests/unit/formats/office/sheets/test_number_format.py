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
        (99.995, "0.00E+00", "1.00E+02"),
        (999.6, "##0E+0", "1E+3"),
        (6.02214076e23, "0.00E+00", "6.02E+23"),
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
        (0.3270833333, "[h]:mm", "7:51"),
        (-1.275, "[h]:mm:ss", "-30:36:00"),
        (0.00012345, "[ss].00", "10.67"),
        (0.00012345, "[h]:mm:ss", "0:00:11"),
        (45356.0000116, "hh:mm:ss", "00:00:01"),
        (45356.99999, "d.m.yyyy h:mm:ss", "5.3.2024 23:59:59"),
        (45356.999999, "d.m.yyyy h:mm:ss", "6.3.2024 0:00:00"),
        (45356.999999, "d.m.yyyy h:mm", "5.3.2024 23:59"),
        (3e9, "[h]:mm", "3000000000"),
    ],
)
def test_dates_and_times(value: Value, code: str, text: str) -> None:
    assert shown(value, code) == text


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("[$-405]d. mmmm", "5. březen"),
        ("[$-419]mmmm yyyy", "март 2026"),
        ("[$-FC19]d mmmm yyyy", "5 марта 2026"),
        ("[$-40C]d mmm", "5 mars"),
        ("[$-413]d mmm", "5 mrt"),
        ("[$-407]ddd", "Do"),
        ("[$-42A]mmmm", "Tháng 3"),
        ("[$-de-DE]d. mmmm", "5. März"),
        ("[$-pt-BR]mmm", "mar"),
        ("[$€-fr-FR]mmmm", "€mars"),
        ("[$-xx-YY]mmmm", "March"),
        ("[$-804]aaaa", "星期四"),
        ("[$-411]aaa", "木"),
        ("aaa", "Thu"),
        ("[$-804]h:mm AM/PM", "2:30 下午"),
        ("上午/下午h:mm", "下午2:30"),
        ("[$-411]ge.m.d", "R8.3.5"),
        ('[$-ja-JP-x-gannen]ggge"年"', "令和8年"),
        ('[$-404]ggge"年"m"月"', "中華民國115年3月"),
        ('[$-804]e"年"m"月"', "2026年3月"),
    ],
)
def test_dates_in_the_language_of_the_format(code: str, text: str) -> None:
    assert shown(MOMENT, code) == text


@pytest.mark.parametrize("language", [*map(hex, range(1, 0x2B)), "FC19", "FC22"])
def test_all_names_of_a_language_differ(language: str) -> None:
    code = language.removeprefix("0x")
    days = [dt.datetime(2026, month, 1) for month in range(1, 13)]  # noqa: DTZ001
    week = [dt.datetime(2026, 6, day) for day in range(1, 8)]  # noqa: DTZ001

    for dates, name in ((days, "mmmm"), (days, "mmm"), (week, "dddd"), (week, "ddd")):
        assert len({shown(date, f"[$-{code}]{name}") for date in dates}) == len(dates)


@pytest.mark.parametrize("code", [";;;", '""', "[Red]", "0" * 300, '"', "[$", ";", "/", "0/0/0"])
def test_no_format_hides_a_value_or_fails(code: str) -> None:
    assert any(map(str.isalnum, shown(12.5, code)))


def test_serial_numbers_of_the_old_macintosh_begin_in_1904() -> None:
    assert shown(1, "yyyy-mm-dd", is_1904=True) == "1904-01-02"
    assert shown(59, "yyyy-mm-dd") == "1900-02-28"
    assert shown(dt.time(6), "yyyy-mm-dd h:mm", is_1904=True) == "1904-01-01 6:00"
    assert shown(dt.time(6), "h:mm", is_1904=True) == "6:00"


@pytest.mark.parametrize(
    ("value", "text"), [("1904-01-02 06:00:00", "30:00"), ("1904-01-01 00:00:00", "0:00")]
)
def test_elapsed_hours_of_the_old_macintosh_begin_in_1904(value: str, text: str) -> None:
    assert shown(dt.datetime.fromisoformat(value), "[h]:mm", is_1904=True) == text


def test_elapsed_hours_of_a_time_are_its_own() -> None:
    assert shown(dt.time(6), "[h]:mm", is_1904=True) == "6:00"
    assert shown(dt.time(6), "[h]:mm") == "6:00"


def test_the_last_moment_is_not_rounded_beyond_the_calendar() -> None:
    last = dt.datetime.fromisoformat("9999-12-31 23:59:59.999900")

    assert shown(last, "yyyy-mm-dd h:mm:ss") == "9999-12-31 23:59:59"
