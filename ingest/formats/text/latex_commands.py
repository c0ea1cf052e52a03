"""What commands of LaTeX show, by name."""

SIGNS = {
    "ss": "ß", "ae": "æ", "AE": "Æ", "oe": "œ", "OE": "Œ", "aa": "å", "AA": "Å", "o": "ø",
    "O": "Ø", "l": "ł", "L": "Ł", "i": "\u0131", "j": "\u0237", "dots": "…", "ldots": "…",
    "textellipsis": "…", "textbackslash": "\\", "textasciitilde": "~", "textasciicircum": "^",
    "textendash": "\u2013", "textemdash": "—", "S": "§", "P": "¶", "copyright": "©",
    "textcopyright": "©", "textregistered": "®", "texttrademark": "™", "pounds": "£",
    "textsterling": "£", "euro": "€", "texteuro": "€", "textdegree": "°", "quad": " ",
    "qquad": " ", "enspace": " ", "thinspace": " ", "space": " ", "LaTeX": "LaTeX", "TeX": "TeX",
    "BibTeX": "BibTeX", "textbar": "|", "textless": "<", "textgreater": ">", "textbullet": "•",
    "textunderscore": "_", "textquotesingle": "'", "textquotedblleft": "“", "lq": "\u2018",
    "textquotedblright": "”", "rq": "\u2019", "glqq": "„", "grqq": "“", "flqq": "«", "frqq": "»",
    "guillemotleft": "«", "guillemotright": "»", "og": "«", "fg": "»", "textmu": "µ", "and": ",",
    "newline": "\n", "linebreak": "\n", "par": "\n\n", "slash": "/", "dag": "†", "ddag": "‡",
    "Return": "return ", "hfill": " ", "textquoteright": "\u2019", "textquoteleft": "\u2018",
}  # fmt: skip

DROPPED = {
    1: "label index vspace hspace includegraphics bibliographystyle bibliography addbibresource"
    " input include thispagestyle pagestyle pagenumbering usepackage documentclass graphicspath"
    " hypersetup setbeamertemplate usetheme usecolortheme phantom hphantom vphantom"
    " selectlanguage linespread lstset hyphenation title author date markright todo pdfbookmark"
    " captionsetup nocite cline vskip color definecolor graphicspath stepcounter refstepcounter"
    " usetikzlibrary RequirePackage citestyle bibinput addtocategory def let gdef edef",
    2: "setcounter addtocounter setlength addtolength newcommand renewcommand providecommand"
    " newtheorem rule fontsize markboth DeclareMathOperator setbeamercolor setbeamerfont newlength"
    " newcounter DeclareRobustCommand pgfplotsset",
    3: "addcontentsline newenvironment renewenvironment definecolor specialrule",
}
"""Commands that show nothing, by their number of arguments."""

LAST = {
    2: "textcolor colorbox foreignlanguage raisebox rotatebox scalebox parbox hyperlink hypertarget"
    " texorpdfstring subfloat adjustbox",
    3: "fcolorbox resizebox multirow multicolumn",
}
"""Commands that show the last of their arguments, by the number of these."""

SILENT = frozenset(
    """
    maketitle tableofcontents listoffigures listoftables noindent centering newpage
    clearpage cleardoublepage bigskip medskip smallskip small footnotesize scriptsize tiny
    large Large LARGE huge Huge normalsize normalfont vfill appendix protect raggedright
    raggedleft indent bfseries itshape ttfamily scshape slshape sffamily rmfamily mdseries
    upshape em bf it tt sc sl rm sf pause titlepage printbibliography frontmatter
    mainmatter backmatter hline toprule midrule bottomrule today footnotemark pagebreak
    nopagebreak allowbreak sloppy onecolumn twocolumn relax ignorespaces unskip xspace
    makeatletter makeatother State Require Ensure Statex Else EndIf EndFor EndWhile
    EndProcedure EndFunction EndLoop doublespacing singlespacing onehalfspacing printindex
    makeindex leavevmode strut null endgroup begingroup bgroup egroup columnbreak newblock
    boldmath displaystyle textstyle nobreak penalty break
    """.split()  # noqa: SIM905  (easier to read than a list of strings)
)

NAMED_ENVIRONMENTS = {
    name: name.capitalize()
    for name in """
        theorem lemma proposition corollary definition remark example proof claim conjecture
        exercise solution question problem observation assumption axiom abstract
        """.split()  # noqa: SIM905
}
"""Environments whose names readers see."""

DROPPED_BY_NAME = {name: count for count, names in DROPPED.items() for name in names.split()}
LAST_BY_NAME = {name: count for count, names in LAST.items() for name in names.split()}
COUNTS = DROPPED_BY_NAME | LAST_BY_NAME | {"href": 2, "footnote": 1, "url": 1, "frac": 2}
"""The number of arguments of known commands."""
