"""The title of a heading as its readers see it: titles, breadcrumbs and hits have no marks."""

import re

_MARKED = re.compile(
    r"""\\(?P<escaped>[!-/:-@\[-`{-~])
      | (?P<ticks>`+)(?!`)(?P<code>.+?)(?<!`)(?P=ticks)(?!`)
      | \[\^[^\]\s]+\]                                        # mark of a note
      | !?\[(?P<link>(?:[^\[\]\\]|\\.|\[[^\[\]]*\])*)\]\((?:[^()\s\\]|\\.|\([^()]*\))*
            (?:\s+(?:"[^"]*"|'[^']*'))?\)
      | (?<!\w)(?P<stars>\*{1,3})(?=[^\s*])(?P<strong>[^*]*[^\s*])(?P=stars)(?![\w*])
    """,
    re.VERBOSE,
)


def plain_title(title: str) -> str:
    """The title without links, code marks, emphasis, marks of notes and escapes.

    Underscores stay: `__init__` is more often a name than emphasis. Quadratic: for short texts.
    """
    return _MARKED.sub(_shown, title) if any(mark in title for mark in "\\`[*") else title


def _shown(match: re.Match[str]) -> str:
    if (code := match["code"]) is not None:
        # One space beside ticks is no part of the code.
        return code[1:-1] if code[0] == code[-1] == " " and not code.isspace() else code
    if (text := match["link"] or match["strong"]) is not None:
        return plain_title(text)
    return match["escaped"] or ""
