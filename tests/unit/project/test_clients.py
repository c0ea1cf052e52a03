"""The TypeScript client and the dashboard agree with the service."""

import json
import re
from pathlib import Path
from typing import Final

import pytest

from tests import make_client_types
from tests.unit.project.test_documented_names import documented_codes

ROOT: Final = Path(__file__).parents[3]
DASHBOARD: Final = ROOT / "dashboard"
MESSAGES: Final = DASHBOARD / "src" / "messages"
# Of the page itself; `unknown` is for the codes of handlers outside the service.
OWN_CODES: Final = {"link_used", "unreachable", "page_outdated", "unexpected", "unknown"}


def test_the_types_of_the_client_are_those_of_the_api() -> None:
    """If this fails: python -m tests.make_client_types."""
    assert make_client_types.TYPES.read_text() == make_client_types.current()


@pytest.mark.parametrize("language", ["en", "de"])
def test_every_error_code_has_a_meaning_and_an_advice(language: str) -> None:
    texts = (MESSAGES / language / "errors.ts").read_text()
    entries = re.findall(r'(?m)^  (\w+): \["[^"]+\.", "[^"]+\."\],$', texts)

    assert len(entries) == len(set(entries))
    assert set(entries) == documented_codes() | OWN_CODES


def test_actions_are_of_codes_that_exist() -> None:
    table = (MESSAGES / "errors.ts").read_text().partition("ACTIONS")[2].partition("};")[0]
    actions = set(re.findall(r'(?m)^  (\w+): "', table))

    assert len(actions) > 30
    assert actions - documented_codes() == set()


def test_what_is_bundled_has_a_notice() -> None:
    """`dependencies` of the page end up in its files; tools do not."""
    bundled = json.loads((DASHBOARD / "package.json").read_text())["dependencies"]
    notice = (ROOT / "NOTICE").read_text()

    assert {name for name in bundled if name.lower() not in notice.lower()} == set()


def test_the_lock_file_pins_what_is_asked_for_by_hash_and_names_no_registry() -> None:
    lock = json.loads((DASHBOARD / "package-lock.json").read_text())["packages"]
    package = json.loads((DASHBOARD / "package.json").read_text())
    asked = package["dependencies"] | package["devDependencies"]
    installed = {path.removeprefix("node_modules/"): about for path, about in lock.items() if path}

    assert {name: installed[name]["version"] for name in asked} == asked
    assert [name for name, about in installed.items() if "integrity" not in about] == []
    assert [name for name, about in installed.items() if "resolved" in about] == []
    # Browsers get nothing else.
    assert {name for name, about in installed.items() if not about.get("dev")} == {
        *package["dependencies"],
        "@preact/signals-core",
    }
