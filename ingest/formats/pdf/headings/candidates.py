"""What a heading looks like: its words, and how it stands on the page."""

import re
from collections.abc import Sequence

from ingest.formats.pdf.headings.contents import LEADERS
from ingest.formats.pdf.layout.text_lines import Line

LONGEST = 150
"""Characters in a line of a heading."""
CJK = "一二三四五六七八九十百"
"""Figures of Chinese and Japanese numbers."""
NUMBERED = re.compile(
    r"(?:\d{1,2}(?:\.\d{1,2}){0,4}\.?|[A-Z](?:\.\d{1,2}){1,4}\.?|[A-Z]\.|[IVX]{1,5}\."
    rf"|§\s?\d{{1,4}}[a-z]?\.?|第\s?[\d{CJK}]{{1,4}}\s?[章節节編编部条條])\s+[^\W\d_]"
    rf"|(?:[{CJK}]{{1,3}}、|[(\uff08][{CJK}]{{1,3}}[)\uff09])\s*[^\W\d_]"
)
DEEP = re.compile(r"(?:\d{1,2}|[A-Z])(?:\.\d{1,2}){1,4}\.?\s+[^\W\d_]")
"""A number of several parts, which items of lists do not have."""
ONLY_NUMBER = re.compile(
    r"(?:chapter|part|appendix|section|article|kapitel|teil|anhang|abschnitt|artikel|chapitre|partie"
    r"|annexe|titre|cap[ií]tulo|cap[ií]tol|parte|secci[oó]n|art[ií]culo|anexo|capitolo|sezione"
    r"|hoofdstuk|deel|rozdział|część|глава|часть|раздел|статья)"
    r"\s+(?:\d{1,3}|[IVXLC]{1,6}|[A-Z])[.:]?|第[\d一二三四五六七八九十百]{1,4}[章部编編节節]",
    re.IGNORECASE,
)
_FIRST = frozenset(
    f"0123456789ABCDEFGHIVX§第(\uff08{CJK}"
)  # first characters that NUMBERED can match
_WORDS = re.compile(r"[^\W\d_]{2,}")
_CAPTION = re.compile(
    r"(?:figure|fig\.|table|tab\.|listing|abbildung|abb\.|tabelle|tableau|figura|tabla|tabela|tabella)"
    r"\s*[A-Z]?\d[\d.\u2013-]*\s*[:.\u2013\u2014]?\s",
    re.IGNORECASE,
)
NO_HEADING_END = (".", ",", ";", ":", "-", "\ufffe", "…")
# An amount or count with its unit: `1,186 crore`, `$4.5m`, `85%`.
_FIGURE = re.compile(
    r"\W*(?:(?:\d{1,3}(?:[,.\u00a0 ]\d{3})+|\d{3,})\W*(?:(?![A-Z])\w+\W*){0,2}"
    r"|\d+(?:[.,]\d+)?\s?(?:%|x|k|m|bn|million|billion|crore|lakh|mio|mrd|millionen|milliarden"
    r"|millions|milliards|millones)?)\W*",
    re.IGNORECASE,
)
_YEAR = re.compile(r"(?:19|20)\d\d\b")
_NO_TITLE = re.compile(
    r"[•◦▪▸►●○■□\u2013\u2014*·\u2610-\u2612]\s|\w+://|www\."  # items of lists, addresses
    r"|(?:copyright\s*)?(?:©|\(c\)\s)|copyright\s+\d"
    r"|\\\w+\s*[\[{]"  # code, formulas, e-mail addresses
    r"|.*(?:\s[-+:*/|.]?=\s|==|\}%?$|[\\{;]$|\w=[\w〈⟨]|\$\(|\(\);|\S@\S+\.\w)"
    r"|\(.*\)\.?$"  # an aside
    r"|.*\b(?:page|seite|página|pagina|стр\.|p\.)\s?\d+(?:\s?(?:/|of|von|de|sur|di|из)\s?\d+)?$",
    re.IGNORECASE,
)
_WORD_OF_THREE = re.compile(r"[^\W\d_]{3}")
_LABELS = frozenset(
    re.findall(
        r"\w+",
        "note notes tip tips hint warning caution attention remark hinweis tipp warnung achtung"
        " vorsicht anmerkung remarque astuce avertissement nota consejo sugerencia aviso"
        " advertencia atención dica atenção suggerimento avvertenza attenzione opmerking"
        " waarschuwing uwaga ostrzeżenie",
    )
)
# The names of theorems and the like, with their numbers.
_THEOREM = re.compile(
    r"(?:theorem|lemma|definition|corollary|proposition|remark|claim|conjecture|proof|exercise|axiom"
    r"|satz|korollar|bemerkung|beweis|beispiel|aufgabe|théorème|lemme|définition|corollaire|preuve"
    r"|remarque|exercice|teorema|lema|definición|corolario|prueba|demostración|ejercicio|definizione"
    r"|dimostrazione|теорема|лемма|определение|следствие|доказательство|定理|補題|定義|系|命題|证明)"
    r"\s*(?:\d+(?:\.\d+)*|[A-Z])?(?:\s*\(.*\))?[.:]?",
    re.IGNORECASE,
)
_BRACKET = re.compile(r"\d{1,2}\)\s+")
_STEP = re.compile(r"[^\W\d_]{3,12}\s\d{1,2}:\s")  # `Step 2: Test it`
_LONGEST_ALONE = 80  # characters of a line that stands alone in the size of the body
_APART = 0.4  # line heights above a line that stands alone
_SECTION_WORDS = frozenset(
    [
        "abstract",
        "acknowledgement",
        "acknowledgements",
        "acknowledgment",
        "acknowledgments",
        "appendix",
        "background",
        "bibliography",
        "conclusion",
        "conclusions",
        "discussion",
        "foreword",
        "introduction",
        "methods",
        "overview",
        "preface",
        "references",
        "results",
        "summary",
        "zusammenfassung",
        "einleitung",
        "schluss",
        "fazit",
        "literatur",
        "literaturverzeichnis",
        "vorwort",
        "anhang",
        "résumé",
        "introduction",
        "conclusion",
        "bibliographie",
        "remerciements",
        "annexe",
        "annexes",
        "préface",
        "resumen",
        "introducción",
        "conclusiones",
        "bibliografía",
        "referencias",
        "agradecimientos",
        "anexo",
        "resumo",
        "introdução",
        "conclusão",
        "conclusões",
        "referências",
        "riassunto",
        "introduzione",
        "conclusioni",
        "samenvatting",
        "inleiding",
        "conclusie",
        "streszczenie",
        "wstęp",
        "wnioski",
        "bibliografia",
    ]
)


def is_title(text: str) -> bool:
    """Whether a text can be a heading: it has words, and is no figure, code or line of contents."""
    text = text.strip()
    number = NUMBERED.match(text)
    words = text[number.end() - 1 :] if number else text
    letters = sum(map(str.isalpha, words))
    return (
        len(text) <= LONGEST
        and 2 * letters > len("".join(words.split()))
        and 2 * sum(map(len, _WORDS.findall(words))) > letters
        and LEADERS.search(text) is None
        and not text.endswith((",", ";"))
        and (_YEAR.match(text) is not None or _FIGURE.fullmatch(text) is None)
        and _CAPTION.match(text) is None
        and _NO_TITLE.match(text) is None
        and (number is not None or not text.isascii() or _WORD_OF_THREE.search(text) is not None)
    )


def is_label(text: str) -> bool:
    """Whether a line names the kind of the paragraph below it, as `Note` and `Theorem 2` do."""
    return text.strip(" .:!").lower() in _LABELS or _THEOREM.fullmatch(text.strip()) is not None


def is_section_word(text: str) -> bool:
    """Whether a line is nothing but the usual name of a section."""
    return text.strip(" .:").lstrip(" .0123456789").lower() in _SECTION_WORDS


def candidates(lines: Sequence[Line]) -> list[Line]:
    """Lines that may be headings in the size of the body; only for these is the font looked up.

    Sets `stands_alone`: with room above and text below.
    """
    found = []
    above: Line | None = None
    for line in lines:
        text = line.text
        if len(text) <= _LONGEST_ALONE and line.kind == "text":
            if text[:1] in _FIRST and (_is_numbered(text) or DEEP.match(text)):
                found.append(line)
            elif _may_begin(text) and (
                above is None
                or above.bottom - line.top > _APART * line.height
                or line.bottom > above.top
            ):
                line.stands_alone = not text.endswith(NO_HEADING_END) and (
                    ":" not in text or _STEP.match(text) is not None
                )
                if line.stands_alone:
                    found.append(line)
        above = line
    return found


def _may_begin(text: str) -> bool:
    """Whether the first letter, perhaps behind `2)`, is no small one."""
    number = _BRACKET.match(text)
    first = text[number.end() : number.end() + 1] if number else text[:1]
    return first.isalpha() and not first.islower()


def continues(line: Line, above: Line) -> bool:
    """Whether a line may continue the heading above it, in the size of the body."""
    return (
        line.kind == above.kind == "text"
        and abs(line.size - above.size) < 0.05 * above.size
        and -line.height < above.bottom - line.top <= _APART * line.height
        and line.bottom < above.bottom
        and NUMBERED.match(line.text) is None
    )


def _is_numbered(text: str) -> bool:
    return NUMBERED.match(text) is not None and not text.rstrip().endswith(NO_HEADING_END)


def join(group: Sequence[Line]) -> None:
    """Merge a heading into its first line; the rest stay in the list with empty text."""
    group[0].text = " ".join(line.text.strip() for line in group)
    for line in group[1:]:
        line.text, line.level = "", 0
