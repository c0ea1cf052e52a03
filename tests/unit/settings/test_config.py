"""Settings: a wrong value stops the start with one line that names the variable."""

from datetime import timedelta
from pathlib import Path

import pytest

from ingest.errors import SetupError
from ingest.settings.loading import load_settings
from ingest.settings.types import InputTypes


@pytest.fixture(autouse=True)
def _clean(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "DATABASE_URL", "INGEST_EMBEDDER"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("INGEST_PORT", "70000"),
        ("INGEST_PORT", "eighty"),
        ("INGEST_ROOT_PATH", "rag"),
        ("INGEST_ROOT_PATH", "/rag/../x"),
        ("INGEST_ROOT_PATH", "/rag?x"),
        ("INGEST_ROOT_PATH", "//other.example"),
        ("INGEST_WORKER_CONCURRENCY", "0"),
        ("INGEST_HEARTBEAT", "soon"),
        ("INGEST_LISTEN_URL", "db.example"),
        ("INGEST_STALE_AFTER", "1s"),
        ("INGEST_EMBEDDER", "magic"),
        ("INGEST_EMBEDDING_INPUT_TYPES", "query"),
        ("INGEST_EMBEDDING_INPUT_TYPES", "model=a,b"),
        ("INGEST_STORAGE", "s3://bucket"),
        ("INGEST_TICK", "every now and then"),
        ("INGEST_TICK", "0 0 30 2 *"),
        ("INGEST_RESCRAPE", "nightly"),
        ("INGEST_RESCRAPE", "0 0 30 2 *"),
        ("INGEST_MAX_FILE_BYTES", "-1"),
        ("INGEST_PARSER_MEMORY", "1"),
        ("INGEST_SANDBOX", "perhaps"),
        ("INGEST_SANDBOX_READ", "models"),
        ("INGEST_SANDBOX_READ", "/opt/models, /"),
        ("INGEST_FETCH_ALLOW", "10.0.0.1/8"),
        ("INGEST_FETCH_ALLOW", "127.1"),
        ("INGEST_FETCH_ALLOW", "wiki.example, http://wiki.example"),
        ("INGEST_FETCH_MAX_BYTES", "0"),
        ("INGEST_FETCH_TIMEOUT", "0s"),
        ("INGEST_USER_AGENT", "bot\r\nCookie: a"),
    ],
)
def test_a_wrong_value_is_one_line_that_names_its_variable(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str
) -> None:
    monkeypatch.setenv(variable, value)

    with pytest.raises(SetupError) as caught:
        load_settings()

    assert variable in str(caught.value)
    assert "\n" not in str(caught.value)


def test_paths_that_parsers_may_read_are_separated_by_commas(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert (load_settings().sandbox, load_settings().sandbox_read) == ("auto", ())
    monkeypatch.setenv("INGEST_SANDBOX_READ", "/opt/models, /srv/fonts,")

    assert load_settings().sandbox_read == (Path("/opt/models"), Path("/srv/fonts"))


def test_an_overlap_above_half_a_chunk_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INGEST_CHUNK_TOKENS", "100")
    monkeypatch.setenv("INGEST_CHUNK_OVERLAP", "51")

    with pytest.raises(SetupError, match="INGEST_CHUNK_OVERLAP"):
        load_settings()


def test_an_address_for_listening_needs_the_database_that_it_belongs_to(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("INGEST_LISTEN_URL", "postgresql://db.example/rag")
    with pytest.raises(SetupError, match="needs DATABASE_URL"):
        load_settings()
    monkeypatch.setenv("DATABASE_URL", "postgresql://pooler.example/rag")

    assert load_settings().listen_url is not None


@pytest.mark.parametrize(
    ("text", "seconds"), [("3", 3), ("0.5", 0.5), ("20s", 20), ("2m", 120), ("1h", 3600)]
)
def test_durations_are_seconds_or_carry_a_unit(
    monkeypatch: pytest.MonkeyPatch, text: str, seconds: float
) -> None:
    monkeypatch.setenv("INGEST_PARSER_TIMEOUT", text)

    assert load_settings().parser_timeout == timedelta(seconds=seconds)


def test_the_embedder_is_local_until_an_openai_setting_says_otherwise(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    without = load_settings().embedding_provider
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
    with_url = load_settings().embedding_provider
    monkeypatch.setenv("INGEST_EMBEDDER", "static")
    named = load_settings().embedding_provider

    assert (without, with_url, named) == ("local", "openai", "static")


def test_secrets_do_not_show_in_the_settings_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgresql://me:hunter2@db/x")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-hunter2")
    monkeypatch.setenv("INGEST_ADMIN_KEY", "hunter2")

    assert "hunter2" not in repr(load_settings())


def test_fetch_allow_lists_networks_and_hosts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("INGEST_FETCH_ALLOW", "10.1.0.0/16, ::1,Wiki.example,.intra.example,")

    assert load_settings().fetch_allow == ("10.1.0.0/16", "::1", "wiki.example", ".intra.example")


def test_fetch_limit_is_at_most_the_file_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INGEST_FETCH_MAX_BYTES", "2000")
    alone = load_settings().largest_fetch
    monkeypatch.setenv("INGEST_MAX_FILE_BYTES", "1000")

    assert (alone, load_settings().largest_fetch) == (2000, 1000)


def test_the_nightly_round_can_be_switched_off(monkeypatch: pytest.MonkeyPatch) -> None:
    nightly = load_settings().nightly
    monkeypatch.setenv("INGEST_RESCRAPE", "off")

    assert (nightly, load_settings().nightly) == ("0 3 * * *", None)


def test_a_short_metrics_token_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INGEST_METRICS_TOKEN", "fifteen-letters")

    with pytest.raises(SetupError, match=r"INGEST_METRICS_TOKEN: .*16") as caught:
        load_settings()
    assert "fifteen" not in str(caught.value)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("query, document", InputTypes("input_type", "query", "document")),
        (
            "task=retrieval.query,retrieval.passage",
            InputTypes("task", "retrieval.query", "retrieval.passage"),
        ),
    ],
)
def test_input_types_are_a_pair_and_may_name_their_field(
    monkeypatch: pytest.MonkeyPatch, value: str, expected: InputTypes
) -> None:
    monkeypatch.setenv("INGEST_EMBEDDING_INPUT_TYPES", value)

    assert load_settings().embedding_input_types == expected


def test_a_prefix_keeps_its_space(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INGEST_EMBEDDING_QUERY_PREFIX", "query: ")

    assert load_settings().embedding_query_prefix == "query: "


@pytest.mark.parametrize(
    ("value", "expected"), [("/rag", "/rag"), ("/teams/a.b/", "/teams/a.b"), ("/", ""), ("", "")]
)
def test_the_root_path_ends_without_a_slash(
    monkeypatch: pytest.MonkeyPatch, value: str, expected: str
) -> None:
    monkeypatch.setenv("INGEST_ROOT_PATH", value)

    assert load_settings().root_path == expected
