"""The dashboard has words, in each language, for every code that a person may see."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final, get_args

import pytest

from ingest.governor import WaitReason
from ingest.model import ReviewReason, Step
from ingest.observability.metrics import WARNINGS

ROOT: Final = Path(__file__).parents[3]
MESSAGES: Final = ROOT / "dashboard" / "src" / "messages"
# Jobs that are ready, and those that the list of jobs finds held: see queue/job_views.sql.
HELD: Final = {"free", "paused", "max_concurrent", "scheduled", "retry"}


@pytest.fixture(params=["en", "de"])
def language(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def keys(language: str, area: str, name: str) -> set[str]:
    """The names in an object of the messages; strings may hold neither braces nor `name:`."""
    text = (MESSAGES / language / f"{area}.ts").read_text()
    found = re.search(rf"\b{name}\b(?:: [^=\n]+ =|:| =) \{{(.*?)\}}", text, re.DOTALL)
    assert found, name
    return set(re.findall(r'(\w+): "', found[1]))


def trees(*folders: str) -> Iterator[ast.AST]:
    for folder in folders:
        for path in (ROOT / "ingest" / folder).rglob("*.py"):
            yield from ast.walk(ast.parse(path.read_text()))


def strings(node: ast.AST) -> set[str]:
    return {
        each.value
        for each in ast.walk(node)
        if isinstance(each, ast.Constant) and isinstance(each.value, str)
    }


def test_every_warning_of_a_document_has_a_sentence(language: str) -> None:
    """Those of formats, and those that statements add to a stored document."""
    statements = "".join(path.read_text() for path in (ROOT / "ingest").rglob("*.sql"))
    added = set(re.findall(r"array_append\(array_remove\(warnings, '(\w+)'\)", statements))

    assert added
    assert keys(language, "errors", "warnings") == WARNINGS | added


def test_every_warning_is_documented() -> None:
    assert {
        code for code in WARNINGS if f"`{code}`" not in (ROOT / "docs/formats.md").read_text()
    } == set()


def test_no_format_has_a_warning_that_is_not_listed() -> None:
    """As keywords of `present`, and as what is added to `warnings` or given as them."""
    found: set[str] = set()
    for node in trees("formats"):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "present":
            found |= {keyword.arg for keyword in node.keywords if keyword.arg}
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("warnings.add"):
            found |= strings(node)
        if isinstance(node, ast.keyword) and node.arg == "warnings":
            found |= {text for text in strings(node.value) if re.fullmatch(r"[a-z_]+", text)}
        if isinstance(node, ast.Subscript) and ast.unparse(node.value).endswith("_warnings"):
            found |= strings(node.slice)
        if isinstance(node, ast.FunctionDef) and re.search("warnings$|^drop_hidden$", node.name):
            results = (each for each in ast.walk(node) if isinstance(each, ast.Yield | ast.Return))
            found |= set().union(*(strings(each) for each in results))

    found -= {"notRead"}  # a key of the metadata
    assert found <= WARNINGS
    assert len(found) > 20


def test_every_optional_step_has_a_name(language: str) -> None:
    assert keys(language, "errors", "steps") == set(get_args(Step))


@pytest.fixture(scope="module")
def handlers_reasons() -> set[str]:
    """Why handlers let jobs wait."""
    return {
        reason
        for node in trees(".")
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        if node.func.id in ("Wait", "Snooze")
        for keyword in node.keywords
        if keyword.arg == "reason"
        for reason in strings(keyword.value)
    }


def test_every_reason_to_wait_has_words(language: str, handlers_reasons: set[str]) -> None:
    reasons = HELD | set(get_args(WaitReason)) | handlers_reasons

    assert {"host_busy", "members", "endpoint_failing"} <= reasons
    assert keys(language, "jobs", "waitOf") == reasons


@pytest.mark.parametrize("name", ["reasons", "questions", "approveMeans", "rejectMeans"])
def test_every_review_has_words(language: str, name: str) -> None:
    assert keys(language, "jobs", name) == set(get_args(ReviewReason))
