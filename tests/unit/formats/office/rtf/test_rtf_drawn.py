"""What the reader of RTF drops or misreads: symbols, equations, WordArt, hard spaces."""

import io

import pytest

from ingest.formats.registry import extract


def text(body: str) -> str:
    data = b"{\\rtf1\\ansi\\ansicpg1252 " + body.encode("latin-1") + b"}"
    return extract(io.BytesIO(data), name="a.rtf").text.strip()


def field(instruction: str, shown: str | None = "") -> str:
    result = "" if shown is None else rf"{{\fldrslt {shown}}}"
    return rf"{{\field{{\*\fldinst {instruction}}}{result}}}"


@pytest.mark.parametrize(
    ("instruction", "stored", "shown"),
    [
        (r'SYMBOL 98 \\f "Symbol" \\s 12', "", "β"),
        (r'{\f0\fs24 SYMBOL 98 \\f "Symbol"}', r"{\f2 b}", "β"),
        (r"SYMBOL 8364 \\u", None, "€"),
        (r"{ EQ \\f(3}{\b ,4) }", "", "3/4"),
        (r"EQ \\f(\'fc,2)", None, "ü/2"),
        (r"EQ \\o\\ac({\uc2\u9675\'81\'9b},\uc1\u19968 ?)", "", "○一"),
        (r"EQ \\f(\uc0\u946 b,2)", "", "βb/2"),
        (r"REF EQ \\h", "Table 4", "Table 4"),
        ("AUTHOR", "EQ of Ada", "EQ of Ada"),
    ],
)
def test_fields_that_draw_characters_are_text(
    instruction: str, stored: str | None, shown: str
) -> None:
    assert text(rf"Take {field(instruction, stored)} cups.\par") == f"Take {shown} cups."


@pytest.mark.parametrize(
    ("math", "shown"),
    [
        (r"{\mf{\mfPr{\mctrlPr\i\f1 }}{\mnum{\mr\mscr0\msty2 a+b}}{\mden{\mr 2}}}", "(a+b)/2"),
        (r"{\msSup{\me{\mr {\f34 x}}}{\msup{\mr 2}}}{\mr =\u8734?}", "x^2=∞"),
        (
            r"{\mnary{\mnaryPr{\mchr \u8721?}}{\msub{\mr i}}{\msup{\mr n}}{\me{\mr i}}}",
            "∑_i^n i",
        ),
        (r"{\md{\mdPr{\mbegChr [}{\mendChr ]}}{\me{\mr 0,\{1\}}}}", "[0,{1}]"),
    ],
)
def test_equations_are_text(math: str, shown: str) -> None:
    para = rf"{{\mmath{{\*\moMathPara{{\moMathParaPr{{\mjc centerGroup}}}}{{\*\moMath{math}}}}}}}"

    assert text(rf"So {{\mmath{{\*\moMath{math}}}}} holds.\par") == f"So {shown} holds."
    assert text(rf"So {para} holds.\par") == f"So {shown} holds."


def test_letters_of_computed_fields_are_of_the_code_page_of_the_file() -> None:
    data = rb"{\rtf1\ansi\ansicpg1251 " + field(r"EQ \\f(\'ef\'f3\'f2\'fc,2)").encode() + b"}"

    assert extract(io.BytesIO(data), name="a.rtf").text.strip() == "путь/2"


def test_a_character_that_no_xml_may_have_costs_only_itself() -> None:
    fraction = r"{\mmath {\mf{\mnum{\mr a\u-1?b}}{\mden{\mr c\u55357?\u56832?}}}}"

    assert text(rf"So {fraction} it is.\par") == "So ab/(c\U0001f600) it is."


def test_word_art_is_text() -> None:
    art = (
        r"{\shp{\*\shpinst{\sp{\sn shapeType}{\sv 136}}"
        r"{\sp{\sn gtextUNICODE}{\sv Grand \u233?t\u233?}}}}"
    )

    assert text(rf"Before{art}\par after\par") == "Before\n\nafter\n\nGrand été"


def test_pictures_and_objects_in_text_boxes_leave_no_data() -> None:
    picture = (
        r"{\pict{\*\picprop{\sp{\sn shapeType}{\sv 75}}{\sp{\sn fLine}{\sv 0}}}\picw5\wmetafile8"
        r"{\*\blipuid b600d8b8e23d3d6b7b945221cb13f54f}" + "\n01ff" * 80 + "}"
    )
    thing = rf"{{\object\objemb{{\*\objclass Word.Picture.8}}{{\result {picture}}}}}"
    large = "{\\pict\\wmetafile8\n" + "ab" * 300_000 + "}"
    inside = f"The logo {thing}{picture}{large} of us"
    box = rf"{{\shp{{\*\shpinst{{\shptxt \pard {inside}\par}}}}}}"

    found = text(rf"Before{box}\par after {'ab' * 110}\par")

    assert found.split() == ["Before", "after", "ab" * 110, "The", "logo", "of", "us"]


def test_hard_spaces_and_hyphens_are_no_letters() -> None:
    picture = "{\\pict\\bin4 \\~\\_}"

    assert text(rf"10\~000\~EUR, Jean\_Paul{picture}, c:\\~x, \bullet\~y\par") == (
        "10 000 EUR, Jean-Paul, c:\\~x, • y"
    )


def test_backslashes_and_braces_in_cells_are_kept_and_end_no_table() -> None:
    row = r"\trowd\cellx2000\cellx4000\pard\intbl "
    link = field(r'HYPERLINK \\l "mark"', "there")
    rows = (
        row + r"C:\\parts\\row.txt\cell \{\\par\}\cell\row" + row + link + r"\cell \\\\srv\cell\row"
    )

    assert text(rows + r"\pard\b Title\b0\par D:\\cell \{x\}\par") == (
        "| C:\\parts\\row.txt | {\\par} |\n| --- | --- |\n| there | \\\\srv |\n\n"
        "**Title**\n\nD:\\cell {x}"
    )


@pytest.mark.parametrize(
    ("body", "read"),
    [
        (r"It\rquote s \ldblquote so\rdblquote", "It\u2019s “so”"),
        (r"\lquote a\rquote\b  b\b0", "\u2018a\u2019 b"),
        (r"1\endash 2 \emdash  3\\ 4", "1\u20132 — 3\\ 4"),
        (r"\bullet  x{\rquote}s \{ y", "• x\u2019s { y"),
    ],
)
def test_quotes_and_dashes_in_cells_are_kept_and_end_no_table(body: str, read: str) -> None:
    row = rf"\trowd\cellx2000\cellx4000\pard\intbl a\cell {body}\cell\row"

    found = text(rf"{row}\pard\outlinelevel0 Head\par\pard {body}\par")

    assert found.replace("**", "").split("\n\n") == [
        f"| a | {read} |\n| --- | --- |",
        "# Head",
        read,
    ]


def test_links_within_the_document_keep_their_mark() -> None:
    assert text(field(r'HYPERLINK \\l "mark"', "there") + r"\par") == "[there](#mark)"


@pytest.mark.parametrize(
    ("stated", "read"),
    [
        (r"Caf\'e9 \{new\}", "Café {new}"),
        (r"\u1055\'cf\u1056?", "ПР"),
        (r"C:\\new", r"C:\new"),
        (r"It\rquote s \endash  new", "It\u2019s \u2013 new"),
        ("Plain", "Plain"),
    ],
)
def test_properties_have_the_letters_of_their_code_page(stated: str, read: str) -> None:
    info = rf"{{\info{{\title {stated}}}{{\author {stated}}}}}Text\par"
    data = b"{\\rtf1\\ansi\\ansicpg1252 " + info.encode() + b"}"

    document = extract(io.BytesIO(data), name="a.rtf")

    assert (document.title, document.metadata["author"]) == (read, read)


def test_underlining_leaves_no_marks() -> None:
    link = field(r'HYPERLINK "https://example.org/t"', r"{\ul words}")

    assert text(rf"{link} x{{\ul y}}z \b\uldb bold\b0  __init__ c:\\ul d\par") == (
        "[words](https://example.org/t) xyz **bold** __init__ c:\\ul d"
    )


@pytest.mark.parametrize(
    "broken",
    [
        r"{\mmath{\*\moMath{\mr a",
        r"{\*\fldinst EQ \\f(1,2",
        r"{\field{\*\fldinst EQ \\f(1,2)}{\fldrslt {a",
        r"{\shptxt {\pard a",
        "{{{",
    ],
)
def test_groups_that_never_end_cost_nothing_in_front_of_them(broken: str) -> None:
    assert text(rf"Before \~it.\par {broken}").startswith("Before it.")
