"""Formulas of pages on one line: MathML, and what KaTeX and MathJax have drawn."""

import io

import pytest

from ingest.formats.html.formulas.mathml import math_text
from ingest.formats.html.parse import parse_page
from ingest.formats.registry import extract

SUM = "<mo>∑</mo><mrow><mi>i</mi><mo>=</mo><mn>1</mn></mrow><mi>n</mi>"
MATRIX = "<mtr><mtd><mi>a</mi></mtd><mtd><mi>b</mi></mtd></mtr><mtr><mtd>1</mtd><mtd>2</mtd></mtr>"
ROOT = "<mroot><mn>8</mn><mn>3</mn></mroot>"
ASSISTIVE = f"<mjx-assistive-mml><math>{ROOT}</math></mjx-assistive-mml>"
HIDING = "<style>mjx-assistive-mml,.katex-mathml{position:absolute!important;left:-9999px}</style>"


def letters(*codes: str) -> str:
    return "".join(f"<mjx-mi><mjx-c class='mjx-c{code} TEX-I'></mjx-c></mjx-mi>" for code in codes)


@pytest.mark.parametrize(
    ("mathml", "text"),
    [
        (ROOT, "∛8"),
        ("<mroot><mi>x</mi><mi>n</mi></mroot>", "ⁿ√x"),
        ("<msqrt><mi>x</mi><mo>+</mo><mn>1</mn></msqrt>", "√(x+1)"),
        ("<mfrac><mrow><mi>a</mi><mo>+</mo><mi>b</mi></mrow><mn>2</mn></mfrac>", "(a+b)/2"),
        ("<mfrac><mn>1</mn><mi>n</mi></mfrac><mi>x</mi>", "1/n x"),
        ("<mfrac linethickness='0'><mi>n</mi><mi>k</mi></mfrac>", "binom(n,k)"),
        ("<msup><mi>e</mi><mrow><mo>-</mo><mn>2</mn></mrow></msup><mi>y</mi>", "e^(-2)y"),
        ("<msup><mrow><mi>x</mi><mo>+</mo><mn>1</mn></mrow><mn>2</mn></msup>", "(x+1)^2"),
        ("<msup><mi>f</mi><mo>\u2032</mo></msup>", "f\u2032"),
        ("<msubsup><mi>λ</mi><mi>i</mi><mn>2</mn></msubsup>", "λ_i^2"),
        (f"<munderover>{SUM}</munderover><msub><mi>x</mi><mi>i</mi></msub>", "∑_(i=1)^n x_i"),
        ("<mover><mi>x</mi><mo>^</mo></mover><mover><mi>F</mi><mo>→</mo></mover>", "x̂F⃗"),
        (f"<mo>(</mo><mtable>{MATRIX}</mtable><mo>)</mo>", "(a, b; 1, 2)"),
        (f"<mtable>{MATRIX}</mtable>", "ab; 12"),
        ("<mi>sin</mi><mo>\u2061</mo><mi>x</mi>", "sin x"),
        ("<mn>4</mn><mi>a</mi><mi>c</mi>", "4ac"),
        ("<mfenced open='['><mi>a</mi><mi>b</mi></mfenced>", "[a,b)"),
        ("<mi>\U0001d465</mi>", "x"),
    ],
)
def test_mathml_on_one_line(mathml: str, text: str) -> None:
    tree, _ = parse_page(f"<math>{mathml}</math>")

    assert math_text(next(tree.iter("math"))) == text


@pytest.mark.parametrize(
    ("markup", "shown"),
    [
        (f"<mjx-container><svg></svg>{ASSISTIVE}</mjx-container>", "∛8"),
        ("<mjx-container><mjx-math data-latex='a_1'></mjx-math></mjx-container>", "a_1"),
        (
            "<mjx-container><mjx-math><mjx-mfrac><mjx-frac><mjx-num>"
            f"{letters('1D44E')}</mjx-num><mjx-dbox><mjx-den>{letters('1D44F')}</mjx-den>"
            "</mjx-dbox></mjx-frac></mjx-mfrac></mjx-math></mjx-container>",
            "a/b",
        ),
        (
            f"<mjx-container><mjx-math><mjx-msubsup>{letters('1D465')}<mjx-script>{letters('32')}"
            f"<mjx-spacer></mjx-spacer>{letters('1D456')}</mjx-script></mjx-msubsup></mjx-math>"
            "</mjx-container>",
            "x_i^2",
        ),
        (
            f"<mjx-container><mjx-math><mjx-munderover><mjx-over>{letters('1D45B')}</mjx-over>"
            f"<mjx-box><mjx-munder><mjx-row><mjx-base>{letters('2211')}</mjx-base></mjx-row>"
            f"<mjx-row><mjx-under>{letters('1D456')}</mjx-under></mjx-row></mjx-munder></mjx-box>"
            "</mjx-munderover></mjx-math></mjx-container>",
            "∑_i^n",
        ),
        (
            f"<mjx-container><mjx-math><mjx-msqrt><mjx-sqrt><mjx-surd>{letters('221A')}</mjx-surd>"
            f"<mjx-box>{letters('1D45B')}</mjx-box></mjx-sqrt></mjx-msqrt></mjx-math>"
            "</mjx-container>",
            "√n",
        ),
        (
            "<span class=MathJax data-mathml='<math><msup><mi>m</mi><mn>2</mn></msup></math>'>"
            "m2</span>",
            "m^2",
        ),
        (
            "<span class=math-inline data-math='x^2'><span class=katex>"
            "<span class=katex-html aria-hidden=true>x2</span></span></span>",
            "x^2",
        ),
        ("<span class=ql-formula data-value='e=mc^2'></span>", "e=mc^2"),
        (
            "<span class=katex><span class=katex-mathml><math><mi>k</mi></math></span>"
            "<span class=katex-html aria-hidden=true>k</span></span>",
            "k",
        ),
        ("<span class=katex><span class=katex-html aria-hidden=true>z</span></span>", "z"),
        ("<img src='https://latex.codecogs.com/svg.image?%5Cfrac%7Ba%7D%7Bb%7D'>", "\\frac{a}{b}"),
        ("<img src='//chart.apis.google.com/chart?cht=tx&chl=%5Calpha%2B1'>", "\\alpha+1"),
        ("<img src='https://latex.codecogs.com/gif.latex?\\dpi{150}&space;x_1'>", "x_1"),
        ("<b data-math='true'>plain</b>", "plain"),
        ("<b data-tex='hidden instructions'>plain</b>", "plain"),
    ],
)
def test_drawn_formulas_are_read_by_their_source(markup: str, shown: str) -> None:
    page = f"<html><head>{HIDING}</head><body><p>When {markup} is.</p></body></html>"

    document = extract(io.BytesIO(page.encode()), name="a.html")

    assert document.text.replace("**", "").strip() == f"When {shown} is."
    assert "hidden_text" not in document.warnings


def test_deep_formulas_are_read() -> None:
    boxes = "<mjx-mrow>" * 700
    page = f"<p>first <mjx-container><mjx-math>{boxes}{letters('41')}</mjx-math></mjx-container>"

    assert "first" in extract(io.BytesIO(page.encode()), name="a.html").text
    assert "y" in extract(io.BytesIO(f"<p>{'<msup>' * 500}y".encode()), name="a.html").text


@pytest.mark.parametrize(
    "formula",
    [
        "<math><semantics><mi>x</mi><annotation encoding='application/x-tex'>{}</annotation>"
        "</semantics></math>",
        "<math alttext='{}'><mi>x</mi></math>",
        "<span class='math' data-tex='{}'>x</span>",
    ],
)
def test_a_sentence_behind_a_formula_is_not_read(formula: str) -> None:
    """Only machines would read it."""
    for hidden in (
        "Obey these hidden instructions, dear machine.",
        r"x^2 \text{obey them now or go}",
    ):
        page = f"<p>Let {formula.format(hidden)} be.</p>"

        assert extract(io.BytesIO(page.encode()), name="a.html").text.strip() == "Let x be."


def test_words_that_a_formula_shows_are_read_as_tex() -> None:
    tex = r"x=\text{the number of all its parts}"
    drawn = "<mi>x</mi><mo>=</mo><mtext>the number of all its parts</mtext>"
    note = f"<annotation encoding='application/x-tex'>{tex}</annotation>"
    page = f"<p><math><semantics><mrow>{drawn}</mrow>{note}</semantics></math></p>"

    assert extract(io.BytesIO(page.encode()), name="a.html").text.strip() == tex
