"""The built files of the dashboard, as they are committed."""

import gzip
import re
from pathlib import Path
from typing import Final

import pytest

from api.dashboard.files import PAGE
from api.dashboard.pages import STATIC

# Bytes, compressed. What everybody loads before the first screen is drawn, in English; and all
# screens in all languages, which nobody loads at once.
FIRST_SCREEN: Final = 45_000
EVERYTHING: Final = 178_000
PARTS: Final = 60
"""Files: few requests for a screen."""

FILES: Final = sorted(path for path in STATIC.rglob("*") if path.is_file() and path.suffix != ".gz")


def names(text: str) -> set[str]:
    return set(re.findall(r"[\w-]+-[\w-]{8}\.(?:js|css|svg)", text))


def compressed(paths: list[Path]) -> int:
    return sum(len(path.with_name(f"{path.name}.gz").read_bytes()) for path in paths)


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


def test_the_first_screen_is_small() -> None:
    by_name = {path.name: path for path in FILES}
    needed: set[str] = set()
    found = {PAGE}
    while found:
        needed |= found
        texts = [by_name[name].read_text() for name in found]
        # Without what is imported when it is needed: `import("./part.js")`.
        texts = [re.sub(r'import\("[^"]*"\)', "", text) for text in texts]
        found = set().union(*(names(text) for text in texts)) - needed

    assert compressed([by_name[name] for name in needed]) <= FIRST_SCREEN
    assert compressed(FILES) <= EVERYTHING
    assert len(FILES) <= PARTS
