"""Org: states, drawers, blocks, notes and markup as readers see them."""

import io

import pytest

from ingest.formats import registry


def lines(text: str) -> list[str]:
    """Lines of the extracted text that are not blank."""
    found = registry.extract(io.BytesIO(text.encode()), name="a.org").text.split("\n")
    return [line.rstrip() for line in found if line.strip()]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("* TODO [#A] Buy milk [2/3] :home:\nSCHEDULED: <2024-01-02 Tue 10:00 +1w>\n",
         ["# Buy milk", "SCHEDULED: 2024-01-02 Tue 10:00"]),
        ("#+TODO: OPEN(o) | CLOSED(c!)\n* OPEN One\n* NEXT steps\n* CLOSED\n",
         ["# One", "# NEXT steps", "# CLOSED"]),
        ("if [[ -f x ]]; then a[[0]] = 1 << 2 >> 3\n",
         ["if [[ -f x ]]; then a[[0]] = 1 << 2 >> 3"]),
        ("******* Deep\nx\n", ["###### Deep", "x"]),
        ("* A\n** COMMENT Hidden\nhidden\n*** Below\n** B\n#+begin_comment\nhidden\n#+end_comment\n"
         "#+begin_export html\n<b>\n#+end_export\nx\n", ["# A", "## B", "x"]),
        ("* A\n:LOGBOOK:\nhidden\n:END:\nCLOCK: [2024-01-01 Mon]\n:NOTES:\nShown.\n:END:\n",
         ["# A", "Shown."]),
        ("#+begin_src lisp :exports x\n(a)\n,* no heading\n#+end_src\n#+RESULTS:\n: 1\n: 2\n",
         ["```lisp", "(a)", "* no heading", "```", "```", "1", "2", "```"]),
        ("#+begin_warning\nHot.\n#+end_warning\n#+begin_quote\nSaid.\n#+end_quote\n",
         ["**Warning**", "Hot.", "Said."]),
        ("x\n-----\ny\n", ["x", "-----", "y"]),
        ("- Term :: meaning\n- [X] done\n", ["- Term: meaning", "- [X] done"]),
        ("A =x*= and ~f()~ a_{12} 10^{-3} a=b c~d\n", ["A `x*` and `f()` a₁₂ 10^-3 a=b c~d"]),
        ("[[*Part]] [[id:1][by id]] [[https://x.org]] [[file:a.png]] <https://y.org>\n",
         ["Part by id https://x.org a.png https://y.org"]),
        ("A[fn:: said =x=] b[fn:n:named]\n",
         ["A[^inline1] b[^n]", "[^inline1]: said `x`", "[^n]: named"]),
        ("#+MACRO: v version $1\nIn {{{v(2)}}} {{{w}}}\n", ["In version 2 {{{w}}}"]),
    ],
)  # fmt: skip
def test_text_is_what_a_reader_sees(text: str, shown: list[str]) -> None:
    assert lines(text) == shown


@pytest.mark.parametrize("piece", [
    "#+begin_a\n", ":a:\n", "* COMMENT\n", "[fn:", "{{{a(", "=a", ": x\n", "|a\n", "- a :", "<<",
    "[[", ":PROPERTIES:\n",
])  # fmt: skip
def test_it_is_read_in_linear_time(piece: str) -> None:
    text = "x\n" + piece * 20_000
    assert registry.extract(io.BytesIO(text.encode()), name="a.org").text


def test_what_the_file_says_of_itself_is_metadata() -> None:
    head = "#+TITLE: Ropes\n#+AUTHOR:  Ada Knot\n#+date: <2024-01-02>\n#+OPTIONS: toc:t\n"
    text = head + "\nCoil.\n#+author: Bo\n"
    document = registry.extract(io.BytesIO(text.encode()), name="a.org")

    assert (document.title, document.text.strip()) == ("Ropes", "Coil.")
    assert document.metadata == {"author": "Ada Knot", "date": "2024-01-02"}
