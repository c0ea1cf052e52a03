"""Every setting and every error code is documented, and no other."""

import ast
import re
from collections.abc import Sequence
from typing import TypeGuard, get_args

from ingest.errors import ErrorCode
from ingest.settings.settings import Settings
from tests.unit.project.test_repository import ROOT, read


def settings_variables() -> list[str]:
    names = []
    for name, field in Settings.model_fields.items():
        alias = field.validation_alias
        names.append(alias if isinstance(alias, str) else f"INGEST_{name.upper()}")
    return names


def test_every_setting_is_documented_and_no_other() -> None:
    table = read("docs/settings.md")
    named = set(re.findall(r"`((?:INGEST|OPENAI|FIRECRAWL|DATABASE|STORAGE)_[A-Z_]+)`", table))

    assert named == set(settings_variables())


def request_codes() -> set[str]:
    """The values of `code=…` in calls, `code = …` in classes, and of `_CODE_OF_STATUS`."""
    found: set[str] = set()
    for path in [*ROOT.glob("api/**/*.py"), *ROOT.glob("ingest/**/*.py")]:
        for node in ast.walk(ast.parse(path.read_text())):
            values: Sequence[ast.expr | None] = []
            if isinstance(node, ast.keyword) and node.arg == "code":
                values = [node.value]
            elif isinstance(node, ast.ClassDef):
                values = [item.value for item in node.body if assigns(item, "code")]
            elif assigns(node, "_CODE_OF_STATUS") and isinstance(node.value, ast.Dict):
                values = node.value.values
            found |= {
                value.value
                for value in values
                if isinstance(value, ast.Constant) and isinstance(value.value, str)
            }
    return found


def assigns(node: ast.AST, name: str) -> TypeGuard[ast.Assign | ast.AnnAssign]:
    if isinstance(node, ast.AnnAssign):
        return isinstance(node.target, ast.Name) and node.target.id == name
    return isinstance(node, ast.Assign) and any(
        isinstance(target, ast.Name) and target.id == name for target in node.targets
    )


def documented_codes() -> set[str]:
    rows = [line for line in read("docs/errors.md").splitlines() if line.startswith("| `")]
    return {code for row in rows for code in re.findall(r"`([a-z0-9_]+)`", row.split("|")[1])}


def test_every_error_code_is_documented_and_no_other() -> None:
    raised = {*get_args(ErrorCode), *request_codes()}

    assert documented_codes() == raised
