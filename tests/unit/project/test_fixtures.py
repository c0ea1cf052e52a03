"""The fixtures of the tests: a name has one type for whoever reads a test below its conftest."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Final

_TESTS: Final = Path(__file__).parents[2]


def _fixtures(file: Path) -> Iterator[tuple[str, str]]:
    """Names, and the types of what tests get."""
    text = file.read_text()
    for node in ast.parse(text).body if "pytest.fixture" in text else ():
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and any(
            ast.unparse(decorator).startswith("pytest.fixture") for decorator in node.decorator_list
        ):
            assert node.returns is not None
            type = node.returns
            if isinstance(type, ast.Subscript) and ast.unparse(type.value).endswith("Iterator"):
                type = type.slice
            yield node.name, ast.unparse(type)


def test_no_fixture_hides_one_of_another_type() -> None:
    """One for all folders below, put beside it, would be taken there for the other."""
    shared = {file.parent: dict(_fixtures(file)) for file in _TESTS.rglob("conftest.py")}
    hidden = [
        f"{file.relative_to(_TESTS)}: {name} is {type}, and {above[name]} above"
        for file in sorted(_TESTS.rglob("*.py"))
        for name, type in _fixtures(file)
        for above in (shared.get(folder, {}) for folder in file.parents)
        if above.get(name, type) != type
    ]

    assert hidden == []
    assert shared[_TESTS]["dsn"] == "str"
