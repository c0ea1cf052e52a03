"""Whether a page is a placeholder: what a site serves where it has, or shows, no content.

Login forms, "page not found" with status 200, cookie walls and pages that scripts have yet to fill.
A lost page is worse than a kept placeholder: a page with a paragraph of its own is never one.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ingest.model import Placeholder
from ingest.web import placeholder_words as words

LONGEST: Final = 3_000
"""Characters; pages with more text are never placeholders."""
_LONGEST_LINE: Final = 400  # characters read of a line
_FEW: Final = 400  # characters beside a login form
_APOLOGY_FEW: Final = 600  # characters of a page that says it was not found, advice included
_NO_MORE: Final = 60  # characters: a link home, a name, a line of copyright
_WORDLESS: Final = 20  # characters
_SITE_NAME: Final = re.compile(r"\s+[|·•»\u2013\u2014-]+\s+|\s*[|·•»]\s*|:\s+|\s+::\s+")
_SENTENCE_END: Final = re.compile(r"(?<=[.!?])\s+|(?<=[\u3002\uff01\uff1f])")
_MARKDOWN_LINK: Final = re.compile(r"!?\[([^\]\n]{0,300})\]\([^)\n]{0,2048}\)")
_MARKDOWN_MARKS: Final = re.compile(r"^(?:[#>*+\-|\s]|\d+\.\s)+|[*_`|]+|\\(?=\W)")


@dataclass(frozen=True, slots=True, kw_only=True)
class PageSignals:
    """What tells placeholders from content. Text is one string per block of the page."""

    title: str = ""
    headings: Sequence[str] = ()
    lines: Sequence[str] = ()
    """Text without headings, navigation, forms and banners."""
    form_lines: Sequence[str] = ()
    banner_lines: Sequence[str] = ()
    """Text of elements that are named after cookies or consent."""
    labels: Sequence[str] = ()
    """Of buttons and links."""
    noscript: str = ""
    has_password: bool = False
    has_login_name: bool = False
    """A field for a user name or an e-mail address."""
    has_text_area: bool = False
    has_scripts: bool = False
    has_empty_root: bool = False
    """An element that scripts fill (`#root`, `app-root` …) without text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    placeholder: Placeholder | None = None
    may_be_missing: bool = False
    """It reads like a "page not found", but not surely."""


def judge(page: PageSignals) -> Verdict:
    """What kind of placeholder a page is, if any."""
    seen = _Seen(page)
    if seen.length > LONGEST:
        return Verdict()
    if page.has_scripts and _needs_javascript(page, seen):
        return Verdict(placeholder="needs_javascript")
    if _is_login(page, seen):
        return Verdict(placeholder="login_page")
    if _is_consent_wall(page, seen):
        return Verdict(placeholder="consent_wall")
    missing = _is_not_found(seen)
    return Verdict(placeholder="soft_404" if missing else None, may_be_missing=missing is None)


def markdown_signals(markdown: str, title: str | None) -> PageSignals | None:
    """The signals of a page that a provider delivered as Markdown; None if it is long."""
    if len(markdown) > 3 * LONGEST:
        return None
    headings: list[str] = []
    lines: list[str] = []
    labels: list[str] = []
    for raw in markdown.splitlines():
        labels += [found[1] for found in _MARKDOWN_LINK.finditer(raw)]
        line = _MARKDOWN_MARKS.sub("", _MARKDOWN_LINK.sub(r"\1", raw)).strip()
        if line:
            (headings if raw.lstrip().startswith(("# ", "## ")) else lines).append(line)
    short = [line for line in lines if len(line) <= _NO_MORE]
    return PageSignals(
        title=title or "",
        headings=headings,
        lines=lines,
        labels=[*labels, *short],
        has_password=any(_has(words.PASSWORD_LABEL, line.lower()) for line in short),
        has_scripts=True,  # unknown: the provider ran them
    )


class _Seen:
    """The text of a page, folded for comparison."""

    def __init__(self, page: PageSignals) -> None:
        self.headings = [_folded(heading) for heading in page.headings]
        self.names = [*self.headings, *_parts(page.title)]
        self.lines = [_folded(line) for line in page.lines]
        self.text = " ".join(self.lines)
        self.length = len(self.text)
        self.everything = " ".join([*self.headings, *self.lines, *map(_folded, page.form_lines)])
        self.labels = [_folded(label) for label in page.labels]

    def is_named(self, pattern: re.Pattern[str]) -> bool:
        return any(pattern.fullmatch(name) for name in self.names)

    def without(self, pattern: re.Pattern[str]) -> int:
        """Characters of the sentences that do not match, labels left out."""
        labels = set(self.labels)
        lines = (line for line in self.lines if line not in labels)
        sentences = (sentence for line in lines for sentence in _SENTENCE_END.split(line))
        return sum(len(sentence) for sentence in sentences if not pattern.search(sentence))


def _is_login(page: PageSignals, seen: _Seen) -> bool:
    if page.has_text_area or seen.length > _FEW:
        return False
    is_named = seen.is_named(words.LOGIN_HEADING)
    demands = _has(words.LOGIN_DEMAND, seen.everything)
    if page.has_password:
        submits = any(words.LOGIN_HEADING.fullmatch(label) for label in seen.labels)
        most = 0 if seen.headings else 2 * _NO_MORE
        return is_named or demands or (submits and seen.length <= most)
    if page.has_login_name:
        return is_named and (demands or seen.length < 2 * _NO_MORE)
    return is_named and demands and seen.without(words.LOGIN_DEMAND) < _NO_MORE


def _needs_javascript(page: PageSignals, seen: _Seen) -> bool:
    noscript = _folded(page.noscript)
    if len(noscript) > _NO_MORE and not _has(words.JAVASCRIPT_DEMAND, noscript):
        return False  # the page itself, for readers without scripts
    is_shown = page.has_password or page.has_text_area
    if is_shown:
        return False
    rest = 0 if words.LOADING.fullmatch(seen.text) else seen.without(words.JAVASCRIPT_DEMAND)
    if page.has_empty_root:
        return rest < _NO_MORE and not seen.headings
    if _has(words.JAVASCRIPT_DEMAND, noscript):
        return rest < _WORDLESS and not seen.headings
    about = any("javascript" in heading for heading in seen.headings)
    demand = _has(words.JAVASCRIPT_DEMAND, " ".join([seen.text, *seen.headings]))
    return demand and rest < _NO_MORE // 2 and seen.length < _FEW and not about


def _is_consent_wall(page: PageSignals, seen: _Seen) -> bool:
    if not any(words.ACCEPT.fullmatch(label) for label in seen.labels):
        return False
    asks = _has(words.CONSENT, " ".join([seen.text, *map(_folded, page.banner_lines)]))
    if page.banner_lines and seen.length < _WORDLESS and not seen.headings:
        return asks
    is_named = any(words.CONSENT_HEADING.fullmatch(heading) for heading in seen.headings)
    return asks and is_named and seen.without(words.CONSENT) < _WORDLESS


def _is_not_found(seen: _Seen) -> bool | None:
    """Whether the page says that it was not found; None if it may."""
    if seen.length > _APOLOGY_FEW:
        return False
    is_named = seen.is_named(words.NOT_FOUND_HEADING)
    may_be = is_named or seen.is_named(words.MAYBE_NOT_FOUND_HEADING)
    apology = words.APOLOGY.search(seen.text) or (
        any(words.NOT_FOUND_HEADING.fullmatch(line.rstrip(".! ")) for line in seen.lines)
    )
    if not may_be and not apology:
        return False
    if _has(words.DEFINITION, seen.text):
        return None
    if is_named and (apology or seen.length < _NO_MORE):
        return True
    if may_be and apology:
        return True
    # Without a heading, the first words are the page's name.
    is_all = not seen.headings and apology and seen.without(words.APOLOGY) < _NO_MORE
    return True if is_all else None


def _parts(title: str) -> list[str]:
    """A title's parts: `Sign in - Example` has two, besides the whole."""
    return [_folded(part) for part in [title, *_SITE_NAME.split(title)] if part.strip()]


def _folded(text: str) -> str:
    folded = " ".join(text[:_LONGEST_LINE].lower().replace("\u2019", "'").split())
    return folded.strip(" .!?:…-\u2013\u2014»\u203a→") if len(folded) < _NO_MORE else folded


def _has(pattern: re.Pattern[str], text: str) -> bool:
    return pattern.search(text) is not None
