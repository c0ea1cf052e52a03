"""AsciiDoc: blocks, lists, tables and macros as readers see them."""

import io

import pytest

from ingest.formats import registry


def lines(text: str) -> list[str]:
    """Lines of the extracted text that are not blank."""
    found = registry.extract(io.BytesIO(text.encode()), name="a.adoc").text.split("\n")
    return [line.rstrip() for line in found if line.strip()]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("= T\nAda <a@x.org>\nv1.0, 2024-01-01\n:x: 1\n\nText {x}.\n",
         ["# T", "Ada <a@x.org>", "Text 1."]),
        ("Use a[[0]], f((a+b)) and [[here]]this.\n", ["Use a[[0]], f((a+b)) and this."]),
        ("x\n\n cout << {x} <<\n  *y* << `+a+`;\n\nEnd {x}\n",
         ["x", " cout << {x} <<", "  *y* << `+a+`;", "End {x}"]),
        ("C::\n\n  _A_ {plus}.\n\n  lit {plus}\n----\na\n----\nb {plus} c\n",
         ["C:", "  _A_ +.", "  lit {plus}", "```", "a", "```", "b + c"]),
        (":x: 1\n\n literal {x}\n\n  * {x}\n", [" literal {x}", "- 1"]),
        ("NOTE: Mind.\n\n[WARNING]\n.Hot\n====\nBurns.\n====\n",
         ["Note: Mind.", "Warning:", "**Hot**", "Burns."]),
        ("* one\n** two\n. first\n.. sub\n+\ncontinued\n* [x] done\n",
         ["- one", "   - two", "1. first", "   1. sub", "continued", "- [x] done"]),
        ("CPU:: The brain.\nRAM::\nMemory.\nstd::vector is:: no:term\n",
         ["CPU: The brain.", "RAM:", "Memory.", "std::vector is: no:term"]),
        ("ifdef::a[]\nKept.\nendif::[]\nifndef::b[Also]\ninclude::x.adoc[]\n", ["Kept.", "Also"]),
        ("Old title\n=========\n\nPart\n----\n\nText\n\nSub\n~~~\nx\n",
         ["# Old title", "## Part", "Text", "### Sub", "x"]),
        ("[quote, Ada, Book]\n____\nSaid.\n____\n\n++++\n<b>raw</b>\n++++\n",
         ["Said.", "— Ada, Book", "**raw**"]),
        ("----\ncall() <1>\n----\n<1> Calls it\n", ["```", "call() <1>", "```", "- Calls it"]),
        ("See <<sec>>, <<b,B>>, xref:o.adoc#x[O], link:a.html[file], https://x.org[X^].\n\n"
         "[[sec]]\n== The part\n",
         ["See The part, B, O, file, [X](https://x.org).", "## The part"]),
        ("ifndef::imagesdir[:imagesdir: ../images]\nifdef::a[:b: 1]\n\n== T\n\nx {b}\n",
         ["## T", "x 1"]),
        ('[source,{lang}]\n----\na\n----\n[plantuml, "{dir}plan", png]\n\nx\n',
         ["```", "a", "```", "x"]),
        ("See {url-guide}[the guide] and {url-guide}/a.html[page,window=_blank], {x}.\n",
         ["See the guide and page, {x}."]),
        ('kbd:[Ctrl+C] menu:File[Save] "`so`" [.r]#styled# `+lit+` ((seen)) (((unseen,x)))\n',
         ["Ctrl+C File > Save “so” styled `lit` seen"]),
        ('image::a.png[alt="Named",width=3] image:b.png[Plain,3] image:c.png[]\n',
         ["Named Plain"]),
        ("A footnote:[Note with https://x.org[link] in it.] b\n",
         ["A[^1] b", "[^1]: Note with [link](https://x.org) in it."]),
    ],
)  # fmt: skip
def test_text_is_what_a_reader_sees(text: str, shown: list[str]) -> None:
    assert lines(text) == shown


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ('[cols="1,1"]\n|===\n|a\n|b\n\n|c\n|d\n|===\n', ["| a | b |", "| c | d |"]),
        ("[cols=2*]\n|===\n|a\n|b\n|c\n|d\nmore\n|===\n", ["| a | b |", "| c | d more |"]),
        ("|===\n|A |B |C\n\n2+|wide |c\n.2+|tall |x |y\n|z |w\n|===\n",
         ["| A | B | C |", "| wide | wide | c |", "| tall | x | y |", "| tall | z | w |"]),
        ("[%header,format=csv]\n|===\nName,Age\n\"Ada, B\",36\n|===\n",
         ["| Name | Age |", "| Ada, B | 36 |"]),
        (",===\nx,y\n1,2\n,===\n", ["| x | y |", "| 1 | 2 |"]),
        ("|===\n|a |b\n\ninclude::rows.adoc[]\n|c |d\n|===\n", ["| a | b |", "| c | d |"]),
        ("|===\n|a \\| b 2*|c\n|===\n", ["| a \\| b | c | c |"]),
    ],
)  # fmt: skip
def test_tables_have_their_rows(text: str, rows: list[str]) -> None:
    assert [line for line in lines(text) if not line.startswith("|---")] == rows


@pytest.mark.parametrize("piece", [
    "|===\n", ".9+|a\n", "2+|", "<<", "footnote:[", "((", '"`', "link:", "[[", "a::", "image::a[",
    "{a", "#a ", "a\n-\n",
])  # fmt: skip
def test_it_is_read_in_linear_time(piece: str) -> None:
    text = "x\n" + piece * 20_000
    assert registry.extract(io.BytesIO(text.encode()), name="a.adoc").text
