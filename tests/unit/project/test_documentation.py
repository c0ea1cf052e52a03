"""Documents name only what exists."""

import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.unit.project.test_repository import ROOT, read, sources

DOCUMENTS = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("benchmarks/*.md")]


def headings(text: str) -> set[str]:
    """The anchors that headings get: lower case, without punctuation, spaces as hyphens."""
    titles = re.findall(r"(?m)^#+ (.+)$", re.sub(r"(?ms)^```.*?^```", "", text))
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_documentation_links_resolve(document: Path) -> None:
    text = re.sub(r"(?ms)^```.*?^```", "", document.read_text())
    broken = []
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        name, _, anchor = target.partition("#")
        if ":" in name:
            continue
        path = document.parent / name if name else document
        if not path.exists() or (anchor and anchor not in headings(path.read_text())):
            broken.append(target)

    assert broken == []


def prose(path: Path) -> Iterator[str]:
    """The comments and docstrings of a module."""
    with path.open("rb") as file:
        for token in tokenize.tokenize(file.readline):
            if token.type == tokenize.COMMENT or token.string.startswith('"""'):
                yield token.string


def test_code_refers_only_to_documents_that_exist() -> None:
    known = {str(path.relative_to(ROOT)) for path in DOCUMENTS} | {path.name for path in DOCUMENTS}
    missing = {
        (str(path.relative_to(ROOT)), name)
        for path in sources()
        for text in prose(path)
        for name in re.findall(r"(?<![\w/.-])(?:docs/)?[\w-]{2,}\.md\b", text)
        if name not in known
    }

    assert missing == set()


def test_every_invariant_names_tests_that_exist() -> None:
    rows = [line for line in read("docs/invariants.md").splitlines() if re.match(r"\| \d+\.", line)]
    sources = (path.read_text() for path in (ROOT / "tests").rglob("test_*.py"))
    defined = {name for text in sources for name in re.findall(r"def (test_\w+)", text)}

    assert [row.split(".")[0] for row in rows[:10]] == [f"| {number}" for number in range(1, 11)]
    for row in rows:
        named = set(re.findall(r"`(test_\w+)`", row))
        assert named
        assert named <= defined


def test_every_promise_of_security_names_tests_that_exist() -> None:
    lines = read("docs/security.md").splitlines()
    promises = [line for line in lines if re.match(r"\| (?!promise \||---)", line)]
    named = {row: re.findall(r"`(tests/[\w/]+\.py)`", row.rsplit(" | ", 1)[-1]) for row in promises}

    assert [row for row, tests in named.items() if not tests] == []
    assert {
        name for tests in named.values() for name in tests if "def test_" not in read_if_there(name)
    } == set()
    # Every attacker has promises, and is told what is not promised.
    parts = read("docs/security.md").split("\n## ")[1:]
    assert len(parts) >= 8
    assert [part for part in parts if "| promise |" not in part] == []
    assert [part for part in parts if "**Not promised.**" not in part] == []


def read_if_there(path: str) -> str:
    return read(path) if (ROOT / path).exists() else ""
