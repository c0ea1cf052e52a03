"""What page numbers look like, alone and in a running head."""

import re

_WORDS = (
    r"page|seite|p|s(?=\.)|pg|pag|pág|pagina|página|pàgina|str|strona|strana|stránka|stranica"
    r"|sida|side|sivu|oldal|sayfa|trang|halaman|стр|страница|сторінка|σελίδα|σελ"
)
_OF = r"of|von|de|sur|di|z|av|af|van|из|з"
_AROUND = r"[^\w$€£¥%#№+=§]*"  # a page number, not an amount or a count
PAGE = re.compile(
    rf"{_AROUND}(?:(?:{_WORDS})\b{_AROUND})?(\d{{1,3}})(?:\s*(?:/|{_OF})\s*\d+)?{_AROUND}",
    re.IGNORECASE,
)
"""A line that is nothing else; its group is the number."""
BEFORE_PAGE = re.compile(rf"(?:\b(?:{_WORDS})(?:[.:]\s?|\s)|\s[|·•\u2013\u2014]\s)$", re.IGNORECASE)
"""Behind it, the number at the end of a line is that of its page."""
BEHIND_PAGE = re.compile(r"\s[|·•]\s")
"""Before it, the number at the beginning of a line is that of its page."""
_NAMED_BEFORE = re.compile(rf"\b(?:{_WORDS})(?:[.:]\s?|\s)$", re.IGNORECASE)
_SUFFIX = r"\s?(?:\.\s?(?:oldal|sayfa|lpp|lk)\b|[页頁쪽]|ページ|페이지)"
_NAMED_BEHIND = re.compile(_SUFFIX, re.IGNORECASE)
_BEFORE_DASH, _BEHIND_DASH = re.compile(r"[-\u2013\u2014]\s?$"), re.compile(r"\s?[-\u2013\u2014]")
_OF_ALL = re.compile(rf"\s*(?:/|(?:{_OF})\b)\s*\d{{1,3}}(?!\d)", re.IGNORECASE)
_NOTHING_ELSE = re.compile(
    rf"\W*(?:(?:{_WORDS})\b\W*|第\s?)?0(?:\s*\W?\s*(?:{_OF})?\s*0)?(?:{_SUFFIX})?\W*", re.IGNORECASE
)


def is_page_number(words: str) -> bool:
    """Whether a line, its numbers replaced by 0, has nothing but the number of its page."""
    return _NOTHING_ELSE.fullmatch(words) is not None


def is_named(before: str, behind: str) -> bool:
    """Whether what stands around a number says that it is that of a page."""
    return (
        _NAMED_BEFORE.search(before) is not None
        or _NAMED_BEHIND.match(behind) is not None
        or (not behind.strip() and BEFORE_PAGE.search(before) is not None)
        or (not before.strip() and BEHIND_PAGE.match(behind) is not None)
        or (_BEFORE_DASH.search(before) is not None and _BEHIND_DASH.match(behind) is not None)
    )


def is_of_all(behind: str) -> bool:
    """Whether a number is one of so many, as in `3 of 12`."""
    return _OF_ALL.match(behind) is not None
