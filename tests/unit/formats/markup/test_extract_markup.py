"""Source code, subtitles and markup other than Markdown: their structure, and nothing lost."""

import io

import pytest

from ingest.errors import Permanent
from ingest.formats import registry
from ingest.model import Document


def extract(text: str, name: str) -> Document:
    return registry.extract(io.BytesIO(text.encode()), name=name)


def test_source_code_stands_in_a_fence_of_its_language() -> None:
    code = "# no heading\ndef f():\n    return 1\n"

    document = extract(code, "lib/tool.py")

    assert document.text == f"```python\n{code}```"
    assert document.title == "tool.py"
    assert document.metadata == {"programmingLanguage": "python"}


@pytest.mark.parametrize(
    ("name", "text", "language"),
    [
        ("Dockerfile", "FROM x\n# y\n", "dockerfile"),
        ("a/Makefile", "all:\n\tx\n", "makefile"),
        ("run", "#!/usr/bin/env python3\n# x\n", "python"),
        ("run", "#!/bin/sh\n# x\n", "bash"),
        ("A.RS", "fn main() {}", "rust"),
        ("values.yaml", "# x\na: 1\n", "yaml"),
    ],
)
def test_programming_language_is_detected_by_name_or_shebang(
    name: str, text: str, language: str
) -> None:
    assert extract(text, name).metadata["programmingLanguage"] == language


def test_a_fence_inside_of_code_does_not_end_it() -> None:
    assert extract('x = """\n````\n"""', "a.py").text.startswith("`````python\n")


def test_blank_source_code_is_empty_content() -> None:
    with pytest.raises(Permanent) as caught:
        extract("\n\n", "a.py")

    assert caught.value.code == "empty_content"


SRT = """1
00:00:01,000 --> 00:00:02,500
<i>Hello</i> there.

2
00:00:02,600 --> 00:00:04,000
{\\an8}How are you?

3
00:01:00,000 --> 00:01:01,000
42
"""
VTT = """WEBVTT - A talk

STYLE
::cue { color: red }

NOTE not said

intro
00:01.000 --> 00:02.000 align:start
<v Ann>We <00:01.500><c>begin</c>

00:02.000 --> 00:03.000
<v Ann>We begin
and go on &amp; end
"""


def test_subtitles_are_what_is_said_without_numbers_and_times() -> None:
    document = extract(SRT, "talk.srt")

    assert document.text == "Hello there.\nHow are you?\n\n42"
    assert document.metadata == {"durationSeconds": 61}


def test_rolling_captions_say_each_line_once() -> None:
    assert extract(VTT, "talk.txt").text == "Ann: We begin\nand go on & end"


_EVENTS = (
    "[Script Info]\nTitle: Film\n\n[V4+ Styles]\nFormat: Name, Fontname\nStyle: Default,Arial\n\n"
    "[Events]\nFormat: Layer, Start, End, Style, Name, Effect, Text\n"
    "Comment: 0,0:00:00.00,0:00:01.00,Default,,,for the translator\n"
    "Dialogue: 0,0:00:04.50,0:00:05.00,Default,,,Second, with a comma\n"
    "Dialogue: 0,0:00:01.00,0:00:03.00,Default,Ada,,{\\i1}Hello{\\i0} {all}.\\NHow are you?\n"
    "Dialogue: 0,0:01:00.00,0:01:02.00,Default,,,{\\p1}m 0 0 l 100 0{\\p0}\n"
)


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.ass", _EVENTS, "Ada: Hello {all}.\nHow are you?\nSecond, with a comma"),
        ("a.txt", _EVENTS, "Ada: Hello {all}.\nHow are you?\nSecond, with a comma"),
        ("a.ssa", "[Script Info]\n[Events]\nFormat: Marked, Start, End, Text\n"
         "Dialogue: Marked=0,0:00:01.00,0:00:03.00,Old\n", "Old"),
        ("a.sbv", "0:00:01.000,0:00:02.000\nHello\n\n0:00:09.000,0:00:10.000\nLater\n",
         "Hello\n\nLater"),
        ("a.sub", "{0}{25}Hello|there\n{30}{60}{y:i}More\n{900}{950}The end\n",
         "Hello\nthere\nMore\n\nThe end"),
        ("a.sub", "{0}{1} are places for values.\nThis is prose.\n",
         "{0}{1} are places for values.\nThis is prose.\n"),
        ("a.ttml", "<tt xmlns='http://www.w3.org/ns/ttml'><head><styling/></head><body><div>"
         "<p begin='1s'>Hello<br/>there</p><p>Hello there</p><p><span>Gen</span>eral</p></div>"
         "</body></tt>", "Hello there\nGeneral"),
    ],
)  # fmt: skip
def test_other_subtitles_are_what_is_said_too(name: str, text: str, said: str) -> None:
    assert extract(text, name).text == said


@pytest.mark.parametrize("text", ["WEBVTT\n\nNOTE nothing", "no subtitles at all"])
def test_subtitles_without_any_cue_are_text(text: str) -> None:
    assert extract(text, "a.vtt").text == text


RST = """=====
Title
=====

Part
----

Text::

  # a comment

Deeper
~~~~~~
x

Part two
--------

=====  =====
a      b
=====  =====

| a line

a
-
"""


def test_titles_of_restructured_text_become_headings_in_their_order() -> None:
    document = extract(RST, "a.rst")

    assert document.title == "Title"
    assert document.text == (
        "# Title\n\n## Part\n\nText:\n\n```\n# a comment\n```\n\n### Deeper\n\nx\n\n## Part two\n\n"
        "| a | b |\n|---|---|\n\n\\| a line\n\na\n-\n"
    )


SPHINX = """.. a comment

   that goes on
.. _target:

.. toctree::
   :maxdepth: 2

   setup

.. code-block:: python
   :linenos:

   # code

See :ref:`the target <target>`, :func:`~os.path.join`, H\\ :sub:`2`\\ O, 10\\ :sup:`-3`, ``x*``,
`a link <https://x.org>`_, Ducks_, `the Pond`_, snake_case_ and a note [1]_.

.. _Ducks: https://d.org
.. _the pond: https://p.org

=====  ===========
Name   Age
=====  ===========
Ada    36
       years
Bob    40
=====  ===========

+------+-----+
| A    | B   |
+======+=====+
| 1    | 2   |
|      | 3   |
+------+-----+

.. list-table:: Prices
   :header-rows: 1

   * - Item
     - Price
   * - Bolt
     - 2 $

.. image:: a.png
   :alt: A diagram

.. note:: Be careful.

.. versionadded:: 2.0

   Kept.

.. [1] The note
   itself.
"""


def test_restructured_text_is_written_as_a_reader_sees_it() -> None:
    assert extract(SPHINX, "a.rst").text.strip().split("\n\n") == [
        "```python\n# code\n```",
        "See the target, join, H₂O, 10^-3, `x*`,\n[a link](https://x.org), [Ducks](https://d.org), "
        "[the Pond](https://p.org), snake_case_ and a note [^1].",
        "| Name | Age |\n|---|---|\n| Ada | 36 years |\n| Bob | 40 |",
        "| A | B |\n|---|---|\n| 1 | 2 3 |",
        "Prices",
        "| Item | Price |\n|---|---|\n| Bolt | 2 $ |",
        "A diagram",
        "Note: Be careful.",
        "Added in version 2.0",
        "   Kept.",
        "[^1]: The note itself.",
    ]


ADOC = """= The manual
:author: A. Duck

== Setup

[source,python]
----
== no heading
# nor this
----

////
a comment
////

=== Deeper
"""


def test_titles_of_asciidoc_become_headings_and_listings_fences() -> None:
    document = extract(ADOC, "a.adoc")

    assert document.title == "The manual"
    assert "# The manual\n" in document.text
    assert "\n## Setup\n" in document.text
    assert "\n```python\n== no heading\n# nor this\n```\n" in document.text
    assert "\n### Deeper" in document.text
    assert "a comment" not in document.text


LATEX = r"""\documentclass{article}
\title{On {\em Ducks}}
\section{Intro}\label{sec:a}
Text with \section inside.
\subsection*[short]{A {long} name}
# odd
"""


def test_sections_of_latex_become_headings() -> None:
    document = extract(LATEX, "a.tex")

    assert document.title == "On Ducks"
    assert document.text.startswith("# Intro\nText with")
    assert "\n## A long name\n" in document.text
    assert "\\# odd" in document.text
    assert r"Text with \section inside." in document.text


PAPER = r"""\documentclass{article}
\usepackage{x}
\title{On Ducks}
\author{J. Schr\"odinger \and M. Gar\c{c}on}
\begin{document}
\maketitle % a comment
\section{One}
Caf\'e na\"{\i}ve stra{\ss}e, \textbf{bold \emph{words}}, 50\,\%
of 5\$~\cite{a,b}\footnote{So \emph{it} is.}
% all a comment
with $\alpha~\& x_{1}$ -- \href{https://x.org/}{a link}.
\begin{tabular}{|l|r|}
\hline
Name & \multicolumn{2}{c}{Age \& size} \\
\midrule
Ada & 36 & \textbf{7} \\
\end{tabular}
\section{Two}
\begin{itemize}
\item First
\item[b)] Second
\end{itemize}
\begin{lstlisting}[language=Python]
# \section{no heading} 50%
\end{lstlisting}
\end{document}
"""


def test_latex_is_written_as_a_reader_sees_it() -> None:
    document = extract(PAPER, "a.tex")

    assert document.title == "On Ducks"
    assert document.text.split("\n") == [
        "Authors: J. Schrödinger, M. Garçon",
        "",
        "# One",
        "Café naïve straße, bold words, 50 %",
        "of 5$ [a, b][^1]",
        "with $\\alpha~\\& x_{1}$ \u2013 [a link](https://x.org/).",
        "",
        "| Name | Age & size | Age & size |",
        "|---|---|---|",
        "| Ada | 36 | 7 |",
        "",
        "",
        "[^1]: So it is.",
        "",
        "# Two",
        "- First",
        "- b): Second",
        "```python",
        "# \\section{no heading} 50%",
        "```",
    ]


def test_headings_of_org_become_headings() -> None:
    text = "#+TITLE: Notes\n* TODO First :tag:\n** Second\n#+BEGIN_SRC sh\n* x\n#+END_SRC\n- a"

    document = extract(text, "a.org")

    assert document.title == "Notes"
    assert document.text.endswith("# First\n## Second\n```sh\n* x\n```\n- a")


def test_org_is_written_as_a_reader_sees_it() -> None:
    text = (
        "* One\n:PROPERTIES:\n:ID: 7\n:END:\n#+CAPTION: Ages\n| Name | Age |\n|------+-----|\n"
        "| Ada  |  36 |\n# a comment\n[[https://x.org][A link]] and a note[fn:1]\n#+begin_quote\n"
        "Said\n#+end_quote\n:LOGBOOK:\nnever ends\n[fn:1] The note"
    )

    assert extract(text, "a.org").text == (
        "# One\nAges\n\n| Name | Age |\n|---|---|\n| Ada | 36 |\n\n"
        "[A link](https://x.org) and a note[^1]\nSaid\n:LOGBOOK:\nnever ends\n[^1]: The note"
    )


def test_asciidoc_is_written_as_a_reader_sees_it() -> None:
    text = """= Handbook
:version: 2.5

Version {version} of {unknown}, H~2~O and 2^10^.footnote:[So it *is*.] See <<a,the part>>.
// a comment
[[a]]
.Ages
|===
|Name |Age

|Ada
|36
|===

image::a.png[A diagram]

== Next
https://x.org[A link]
"""

    assert extract(text, "a.adoc").text.strip().split("\n\n") == [
        "# Handbook",
        "Version 2.5 of {unknown}, H₂O and 2^10.[^1] See the part.\n**Ages**",
        "\n| Name | Age |\n|---|---|\n| Ada | 36 |",
        "\nA diagram",
        "\n[^1]: So it *is*.",
        "## Next\n[A link](https://x.org)",
    ]


@pytest.mark.parametrize("name", ["a.rst", "a.adoc", "a.tex", "a.org", "a.srt", "a.md", "a.py"])
@pytest.mark.parametrize(
    "piece",
    [
        "=",
        "<!--",
        "`",
        "\\section{",
        "* ",
        "a\n=\n",
        "00:01,0 --> ",
        "\\title{a\n",
        "\\begin{tabular}\n",
        "$",
        "\\emph{",
        "{",
    ],
)
def test_markup_reading_is_linear(name: str, piece: str) -> None:
    assert extract("x\n" + piece * 20_000, name).text  # quadratic: minutes
