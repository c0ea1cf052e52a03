"""The built files of the dashboard, as they are committed."""

import gzip
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Final

import pytest

from api.dashboard.files import PAGE
from api.dashboard.pages import STATIC

# Bytes, by gzip, of one language.
SHELL: Final = 36_000
"""Until the sign-in or the frame around the screens is drawn."""
BASE: Final = 2_000
"""More in another language than English."""
OVERVIEW: Final = 50_000
"""Until the first screen after the sign-in is drawn."""
EVERYTHING: Final = 142_000
"""All screens, workers and errors: what a person ever loads."""
BY_BROTLI: Final = 129_000
"""The same over https or on the same machine, where browsers ask for Brotli."""
PARTS: Final = 40
"""Files, in all languages: few requests for a screen."""

LANGUAGES: Final = ("en", "de")
FILES: Final = sorted(
    path for path in STATIC.rglob("*") if path.is_file() and path.suffix not in (".gz", ".br")
)


BY_NAME: Final = {path.name: path for path in FILES}


def names(text: str) -> set[str]:
    return set(re.findall(r"[\w-]+-[\w-]{8}\.(?:js|css|svg)", text))


def compressed(names: Iterable[str], suffix: str = ".gz") -> int:
    return sum(len(BY_NAME[name].with_name(name + suffix).read_bytes()) for name in names)


def needed(*entries: str) -> set[str]:
    """The files that these load at once: what the page names, and what scripts import at their top.

    Others are loaded when they are needed: `import("./x.js")`, workers, styles of some screens.
    """
    loaded: set[str] = set()
    found = set(entries)
    while found:
        loaded |= found
        found = set().union(*map(_loads, found)) - loaded
    return loaded


def _loads(name: str) -> set[str]:
    text = BY_NAME[name].read_text()
    if name == PAGE:
        return names(text)
    return set(re.findall(r'(?:from|import)"\./([\w-]+\.js)"', text))


def file_of(name: str) -> str:
    [found] = [file for file in BY_NAME if re.fullmatch(rf"{name}-\w{{8}}\.js", file)]
    return found


def of_other_languages(language: str) -> set[str]:
    others = tuple(f"{other}-" for other in LANGUAGES if other != language)
    return {name for name in BY_NAME if name.startswith(others)}


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(STATIC)))
def test_every_file_has_its_compressed_form_beside_it(path: Path) -> None:
    assert gzip.decompress(path.with_name(f"{path.name}.gz").read_bytes()) == path.read_bytes()


def test_every_file_is_used_and_every_used_one_exists() -> None:
    used = set().union(*(names(path.read_text()) for path in FILES))

    assert {path.name for path in FILES} - {PAGE} == used


def test_the_page_has_no_script_or_style_of_its_own_and_only_relative_addresses() -> None:
    page = (STATIC / PAGE).read_text()

    assert re.findall(r"<script[^>]*>\s*[^<\s]", page) == []
    assert re.findall(r"<style|\sstyle=|\son\w+=", page) == []
    addresses = re.findall(r'(?:href|src)="([^"]*)"', page)
    assert addresses
    assert [address for address in addresses if not address.startswith("assets/")] == []


def test_nothing_is_loaded_from_elsewhere() -> None:
    """Names of XML are the only addresses in it."""
    found = {
        address
        for path in FILES
        for address in re.findall(r"(?:https?:)?//[\w.-]+\.\w+[\w./-]*", path.read_text())
    }

    assert {address for address in found if "//www.w3.org/" not in address} == set()


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_person_loads_little_and_one_language(language: str) -> None:
    base = [] if language == "en" else [file_of("de-base")]
    shell = needed(PAGE, *base)
    overview = shell | needed(file_of("overview"), file_of(f"{language}-overview"))
    everything = BY_NAME.keys() - of_other_languages(language)

    assert len(of_other_languages(language)) >= 6
    assert not overview & of_other_languages(language)
    assert compressed(shell) <= SHELL + (0 if language == "en" else BASE)
    assert compressed(overview) <= OVERVIEW
    assert compressed(everything) <= EVERYTHING
    assert compressed(everything, ".br") <= BY_BROTLI
    assert len(FILES) <= PARTS
