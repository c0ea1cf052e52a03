"""What commands print and how they end."""

import json
from pathlib import Path

import pytest
from typer.models import CommandInfo
from typer.testing import CliRunner

from api.cli.main import app, collection, job
from api.cli.output import plain, print_json

run = CliRunner()


@pytest.fixture(autouse=True)
def clean(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("INGEST_URL", "INGEST_API_KEY", "INGEST_ADMIN_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("INGEST_DATA_DIR", str(tmp_path))
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    "command",
    [
        *("search x", "sources", "jobs", "upload x", "crawl example.org"),
        "watch 0191c3a0-0000-7000-8000-000000000000",
        "rescrape 0191c3a0-0000-7000-8000-000000000000",
        "delete 0191c3a0-0000-7000-8000-000000000000",
        "job approve 0191c3a0-0000-7000-8000-000000000000",
        *("pause", "resume", "retry-failed --type file"),
    ],
)
def test_failed_command_prints_one_line_and_exits_with_2(command: str) -> None:
    Path("x").write_text("x")

    result = run.invoke(app, command.split())

    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith("ingest: no API key: set INGEST_API_KEY")
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize("command", ["serve", "api", "worker", "migrate"])
def test_a_wrong_setting_stops_the_start_with_one_line_and_2(
    command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INGEST_PORT", "many")

    result = run.invoke(app, [command])

    assert result.exit_code == 2
    assert result.stderr.startswith("ingest: INGEST_PORT: ")
    assert result.stderr.count("\n") == 1


def test_a_malformed_url_of_the_service_never_shows_its_password(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("INGEST_URL", "https://robot:hun/ter2@ingest.example")
    monkeypatch.setenv("INGEST_API_KEY", "k")

    result = run.invoke(app, ["sources"])

    assert result.exit_code == 2
    assert result.stderr.startswith("ingest: INGEST_URL: ")
    assert "hun" not in result.stderr


def test_internal_error_shows_traceback_without_secrets(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken() -> None:
        raise RuntimeError("postgresql://rag:hunter2@db/rag")

    monkeypatch.setattr("api.cli.commands.workers.open_client", broken)

    result = run.invoke(app, ["pause"])

    assert (result.exit_code, result.stdout) == (1, "")
    assert "RuntimeError: postgresql://rag:[secret]@db/rag" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["upload", "nowhere"], "nowhere does not exist"),
        (["upload", "."], "there are no files to upload"),
        (["upload", "x", "--metadata", "[1]"], "--metadata is not a JSON object"),
        (["upload", "x", "--metadata", "{"], "--metadata is not a JSON object"),
        (["search", "x", "--where", "[]"], "--where is not a JSON object"),
    ],
)
def test_invalid_arguments_are_reported_before_any_request(arguments: list[str], told: str) -> None:
    if "x" in arguments:
        Path("x").write_text("x")

    result = run.invoke(app, arguments)

    assert result.exit_code == 2
    assert told in result.stderr


@pytest.mark.parametrize(
    "command",
    [
        *("watch", "rescrape", "read-again", "search x --source", "sources --batch"),
        *("search x --collection", "sources --collection", "crawl x --collection"),
        *("jobs --source", "jobs --batch"),
    ],
)
def test_invalid_id_is_reported(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INGEST_API_KEY", "k")

    result = run.invoke(app, [*command.split(), "nothing"])

    assert result.exit_code == 2
    assert "nothing is not an id" in result.stderr


def test_every_result_command_has_json_output() -> None:
    names = [name_of(command) for command in app.registered_commands if not command.hidden]
    of_collections = [
        f"collection {name_of(command)}" for command in collection.registered_commands
    ]
    of_jobs = [f"job {name_of(command)}" for command in job.registered_commands]

    assert set(names) == {
        *("serve", "api", "worker", "migrate"),
        *("upload", "preview", "crawl", "rescrape", "watch", "search", "eval", "sources", "jobs"),
        *("delete", "pause", "resume", "retry-failed", "reembed", "collections", "read-again"),
    }
    for name in names + of_jobs + of_collections:
        shown = run.invoke(app, [*name.split(), "--help"], env={"COLUMNS": "200"}).stdout
        assert "--json" in shown


def name_of(command: CommandInfo) -> str:
    assert command.callback is not None
    return command.name or command.callback.__name__.replace("_", "-")


def test_terminal_escapes_in_output_are_neutralised() -> None:
    text = plain("a\x1b[2Jb\r\nc\u202ed [bold]e")

    assert text.plain == "a [2Jb c d [bold]e"
    assert not text.spans


def test_json_output_keeps_unicode_and_lone_surrogates(capsys: pytest.CaptureFixture[str]) -> None:
    print_json({"ü": "\ud800"})

    assert json.loads(capsys.readouterr().out) == {"ü": "?"}
