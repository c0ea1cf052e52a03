"""Source code: unchanged in a fence, so that its comments are not read as headings.

The chunker splits fenced code at blank lines, which is where functions end.
"""

import re
from pathlib import PurePosixPath

from ingest.formats.code_languages import language_of
from ingest.formats.text.reading import Reading, fenced

_SHEBANG = re.compile(
    r"\A\ufeff?#![^\n]*?\b(python|bash|sh|zsh|perl|ruby|node|php|lua|Rscript)[\d.]*\b"
)
_INTERPRETERS = {"sh": "bash", "zsh": "bash", "node": "javascript", "Rscript": "r"}


def programming_language(text: str, name: str | None) -> str | None:
    """The language by file name or shebang line; None if it is not source code."""
    found = language_of(name)
    if found is None and not PurePosixPath(name or "").suffix:
        shebang = _SHEBANG.match(text)
        if shebang is not None:
            found = _INTERPRETERS.get(shebang[1], shebang[1])
    return found


def read_code(text: str, *, language: str, name: str | None) -> Reading:
    """Read source code; its title is the file's name."""
    if not text.strip():
        return Reading(text=text)
    title = PurePosixPath((name or "").replace("\\", "/")).name or None
    return Reading(
        text=fenced(text, language), title=title, metadata={"programmingLanguage": language}
    )
