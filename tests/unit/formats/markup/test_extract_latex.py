"""LaTeX of papers, talks and books: what is set, not how."""

import io

import pytest

from ingest.formats import registry


def lines(body: str, preamble: str = "") -> list[str]:
    """Lines of the extracted text that are not blank."""
    text = f"\\documentclass{{article}}\n{preamble}\\begin{{document}}\n{body}\n\\end{{document}}\n"
    document = registry.extract(io.BytesIO(text.encode()), name="a.tex")
    return [line.strip() for line in document.text.split("\n") if line.strip()]


@pytest.mark.parametrize(
    ("body", "shown"),
    [
        (r"\section{One}\label{s} Text.\subsection{Two} More.",
         ["# One", "Text.", "## Two", "More."]),
        ("\\section{A long\n  title}\nText", ["# A long title", "Text"]),
        ("A \\textbf{bold text\nover lines} and \\textcolor{red}{red} \\fbox{box}.",
         ["A bold text", "over lines and red box."]),
        ("Note\\footnote{On\n\ntwo paragraphs.} here",
         ["Note[^1] here", "[^1]: On two paragraphs."]),
        (r"\verb|a_b{%}| \lstinline!x$y! \texttt{code\_x} 5\% of \$5, \{x\}, a\_b",
         ["`a_b{%}` `x$y` code_x 5% of $5, {x}, a_b"]),
        (r"G\"{o}del, Poincar{\'e}, \'{\i}, \c{c}a, {\"O}l, stra\ss e, \v{S}koda, \L{}\'od\'z",
         ["Gödel, Poincaré, í, ça, Öl, straße, Škoda, Łódź"]),
        (r"CO\textsubscript{2}, m\textsuperscript{2}, \SI{5}{\kilo\metre\per\second}",
         ["CO₂, m², 5 kilometre per second"]),
        (r"\enquote{So} ``it'' --- is\dots{} \LaTeX{} \alpha{} \today",
         ["“So” “it” — is… LaTeX \\alpha"]),
        (r"Words.\keywords{one, two}", ["Words.one, two"]),
        ("\\resizebox{0.8\\textwidth}{!}{%\n"
         "\\begin{tabular}{lc}\na & b \\\\\n1 & 2\n\\end{tabular}%\n}\nEnd",
         ["| a | b |", "|---|---|", "| 1 | 2 |", "End"]),
        ("{\\small\n\\centering\n\\begin{tabular}{@{}lc@{}}\n"
         r"a & \textbf{\begin{tabular}[c]{@{}c@{}}b\\ c\end{tabular}} \\"
         r"\specialrule{1pt}{-1pt}{0pt} 1 & 2"
         "\n\\end{tabular}\n}\nEnd", ["| a | b c |", "|---|---|", "| 1 | 2 |", "End"]),
        ("\\iffalse\nhidden\n\\fi\nShown\n\\begin{comment}\nhidden\n\\end{comment}", ["Shown"]),
        (r"\setcounter{page}{1}\thispagestyle{empty}\vspace*{1cm}\input{x}\centering Text\par Next",
         ["Text", "Next"]),
        ("\\begin{thebibliography}{9}\n\\bibitem[K68]{knuth} D. Knuth, \\emph{The Art}.\n"
         "\\end{thebibliography}\nSee \\citep[p.~3]{knuth,b} and \\autoref{fig:a}.",
         ["- knuth: D. Knuth, The Art.", "See [knuth, b] and fig:a."]),
        ("\\begin{theorem}[Euler]\\label{t}\nSo.\n\\end{theorem}\n\\begin{thm}Too.\\end{thm}",
         ["**Theorem (Euler)**", "So.", "**Satz**", "Too."]),
        ("\\begin{align*}\na &= b \\label{x} \\\\\n% no\nc\n\\end{align*}\nwith $\\frac{a}{b}$",
         ["$$", "a &= b  \\\\", "c", "$$", "with $\\frac{a}{b}$"]),
        ("\\begin{figure}[t]\\includegraphics[width=3cm]{x.pdf}\\caption[Short]{A \\emph{long}"
         " one.}\\end{figure}", ["A long one."]),
        ("\\begin{longtable}{|p{3cm}|l|} \\caption{Cap} \\\\ \\hline A & B \\\\ \\endhead 1 &"
         " \\multirow{2}{*}{x \\& y} \\\\ \\end{longtable}",
         ["Cap", "| A | B |", "|---|---|", "| 1 | x & y |"]),
        (r"\cventry{2010}{Engineer}{ACME} \unknown stays", ["2010 Engineer ACME \\unknown stays"]),
        (r"In \norm{x} in \R, \R{}.", ["In |x| in real, real."]),
        (r"\def\a#1{<#1>}\let\b\a Text", ["Text"]),
    ],
)  # fmt: skip
def test_text_is_what_a_reader_sees(body: str, shown: list[str]) -> None:
    preamble = (
        "\\newcommand{\\R}{real}\n\\newcommand{\\norm}[1]{|#1|}\n\\newtheorem{thm}{Satz}[section]\n"
    )

    assert lines(body, preamble) == shown


def test_slides_have_their_titles_as_headings() -> None:
    body = (
        "\\section{Part}\n\\begin{frame}[t]{Slide \\& one}\n\\begin{block}{Box}\nText.\n"
        "\\end{block}\\pause\n\\end{frame}\n\\begin{frame}\n\\frametitle{Two}\n\\only<1>{Now}\n"
        "\\end{frame}"
    )

    assert lines(body) == ["# Part", "## Slide & one", "**Box**", "Text.", "## Two", "Now"]


def test_macros_that_expand_too_much_stop_expanding() -> None:
    bombs = "".join(
        f"\\newcommand{{\\{a}}}{{{f'{chr(92)}{b} ' * 9}}}\n"
        for a, b in zip("abcdefg", "bcdefgh", strict=True)
    )

    assert len("\n".join(lines("\\a", bombs))) < 1_000_000


@pytest.mark.parametrize("piece", [
    "\\begin{a}", "\\a{", "{\\bf ", "\\verb|", "\\footnote{", "$", "\\[",
    "\\item[", "\\section{x\n",
    "\\'{", "[", "\\iffalse\n", "\\end{a}", "\\newcommand{\\a}{\\a\\a}\\a",
])  # fmt: skip
def test_it_is_read_in_linear_time(piece: str) -> None:
    assert registry.extract(io.BytesIO(b"x\n" + piece.encode() * 20_000), name="a.tex").text
