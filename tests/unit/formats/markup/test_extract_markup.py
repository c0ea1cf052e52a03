"""Markup other than Markdown: its structure, and nothing lost."""

import io

from ingest.formats import registry
from ingest.model import Document


def extract(text: str, name: str) -> Document:
    return registry.extract(io.BytesIO(text.encode()), name=name)


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
