"""Fields, equations and numbers of lists in Word documents, as their readers see them."""

import io

import pytest

from ingest.formats.office.count_styles import spelled
from ingest.formats.registry import extract
from tests.builders.make_office import word


def run(text: str) -> str:
    return f"<w:r><w:t xml:space='preserve'>{text}</w:t></w:r>"


def field(instruction: str, shown: str | None = None, inner: str = "", more: str = "") -> str:
    """`inner`: a field between two parts of the instruction."""
    mark = '<w:r><w:fldChar w:fldCharType="{}"/></w:r>'
    asked = f"<w:r><w:instrText>{instruction}</w:instrText></w:r>{inner}"
    asked += f"<w:r><w:instrText>{more}</w:instrText></w:r>"
    result = "" if shown is None else mark.format("separate") + run(shown)
    return mark.format("begin") + asked + result + mark.format("end")


def text(*runs: str) -> str:
    body = f"<w:p>{''.join(runs)}</w:p>"
    return extract(io.BytesIO(word(body)), name="a.docx").text.strip()


def test_what_a_condition_compares_is_not_shown() -> None:
    title = field(" IF ", "Mr", field(" MERGEFIELD Sex ", "m"), ' = "m" "Mr" "Ms" ')

    for sign in (" = ", "="):
        total = field(sign, "7", field(" REF a ", "3"), " + 4 ")
        assert text(title, run(" Smith, "), total) == "Mr Smith, 7"


def test_results_in_other_fields_and_behind_one_that_never_ends_stay() -> None:
    quoted = field(" QUOTE ", None, field(" MERGEFIELD Name ", "Ada"))
    open_field = (
        '<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText> TOC </w:instrText>'
    )

    assert text(quoted, open_field + "</w:r>", field(" PAGEREF a ", "12")) == "Ada12"


@pytest.mark.parametrize(
    ("instruction", "shown"),
    [
        (r" EQ \f(3,4) ", "3/4"),
        (r"EQ \f(a+b;2c)", "(a+b)/2c"),
        (r" EQ \f(\r(3,x),\s\up8(2)) ", "(3√x)/(^2)"),
        (r" EQ \f(\f(a+b,c),d) ", "((a+b)/c)/d"),
        (r" EQ \f(\a(1,2),3) ", "(1, 2)/3"),
        (r" EQ H\s\do4(2)O ", "H_2O"),
        (r" EQ \f(f(x,y),2)", "(f(x,y))/2"),
        (r" EQ \x(p=(x,y,z))", "p=(x,y,z)"),
        (r" EQ \f(3,5;2) ", "(3,5)/2"),
        (r" EQ \o\ac(○,7)", "○7"),
        (r" EQ \i\su(i=1,n,a\s\do(i))", "∑_(i=1)^n a_i"),
        (r" EQ \i\in( , ,xdx) ", "∫ xdx"),
        (r" EQ \f(a\,b,2) ", "(a,b)/2"),
        (r" EQ x\s(\up8(a),\do4(b)) ", "x^(a, b)"),
        (r" EQ \b\bc\[(\a\al\co2(1,2)) ", "(1, 2)"),
        (r" EQ \f(1,2) \* MERGEFORMAT ", "1/2"),
        (
            r' EQ \* jc2 \* "Font:MS Gothic" \* hps11 \o\ad(\s\up 10(とう きょう),東京) ',
            "東京(とう きょう)",
        ),
        (" SYMBOL 8364 \\u ", "€"),
        (' SYMBOL 211 \\f "Symbol" ', "©"),
        (' SYMBOL 254 \\f "Symbol" ', "⎭"),
        (' SYMBOL 89 \\f "Symbol" ', "Ψ"),
        (' SYMBOL 98 \\f "Symbol" \\s 12 ', "β"),
        (' SYMBOL 252 \\f "Wingdings" ', "✓"),
        (' SYMBOL 74 \\f "Wingdings" ', "☺"),
        (" SYMBOL 169 ", "©"),
        (' SYMBOL 134 \\f "Arial" ', "†"),
        (" PAGEREF a ", ""),
        (r" EQ \f(", r"\f("),
    ],
)
def test_fields_without_a_stored_result_are_written_out(instruction: str, shown: str) -> None:
    assert text(run("is "), field(instruction), run(".")) == f"is {shown}."


def symbol(content: str) -> str:
    return f"<m:r><m:t>{content}</m:t></m:r>"


def part(name: str, content: str) -> str:
    return f"<m:{name}>{content}</m:{name}>"


_E = part("e", symbol("x"))


@pytest.mark.parametrize(
    ("content", "shown"),
    [
        (
            part("m", 2 * part("mr", part("e", symbol("1")) + part("e", symbol("2")))),
            "1, 2; 1, 2",
        ),
        (part("eqArr", _E + part("e", symbol("y=2"))), "x; y=2"),
        (part("limLow", part("e", symbol("lim")) + part("lim", symbol("n→∞"))), "lim_(n→∞)"),
        (part("limUpp", _E + part("lim", symbol("k"))), "x^k"),
        (part("func", part("fName", symbol("sin")) + _E), "sin x"),
        (part("acc", part("accPr", "<m:chr m:val='\u0303'/>") + _E), "x\u0303"),
        (part("acc", _E), "x\u0302"),
        (part("sPre", part("sub", symbol("6")) + part("sup", symbol("12")) + _E), "_6^12 x"),
    ],
)
def test_parts_of_equations_do_not_run_into_each_other(content: str, shown: str) -> None:
    assert text(part("oMath", content)) == shown


@pytest.mark.parametrize(
    ("style", "count", "shown"),
    [
        ("chineseCounting", 3, "三"),
        ("japaneseCounting", 10, "十"),
        ("chineseCountingThousand", 17, "十七"),
        ("taiwaneseCounting", 20, "二十"),
        ("japaneseCounting", 205, "二百〇五"),
        ("japaneseCounting", 1005, "一千〇五"),
        ("japaneseCounting", 1010, "一千〇一十"),
        ("ideographDigital", 10, "一〇"),
        ("decimalEnclosedCircle", 20, "⑳"),
        ("decimalEnclosedCircle", 21, "21"),
        ("russianLower", 8, "з"),
        ("russianUpper", 2, "Б"),
        ("ganada", 2, "나"),
        ("aiueoFullWidth", 6, "カ"),
        ("hebrew2", 2, "ב"),
        ("thaiNumbers", 12, "๑๒"),
        ("unknownStyle", 12, "12"),
        ("chineseCounting", 0, "0"),
    ],
)
def test_counts_are_written_in_the_script_of_their_list(style: str, count: int, shown: str) -> None:
    assert spelled(count, style) == shown
