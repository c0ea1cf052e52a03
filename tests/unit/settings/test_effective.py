"""The settings that an operator may see: all of them, as they are written, and no secret."""

from typing import Final, get_args

import pytest
from pydantic import SecretStr

from ingest.settings.effective import effective_settings
from ingest.settings.loading import load_settings
from ingest.settings.settings import Settings

CANARY: Final = "c4n4ry-n07-t0-be-s33n"
_WEB: Final = f"https://{CANARY}:{CANARY}@host.example:8443/v1?key={CANARY}#{CANARY}"
# A value with a canary for each setting that may hold a credential.
_CANARIES: Final = {
    "DATABASE_URL": f"postgresql://user:{CANARY}@db.example/rag?password={CANARY}",
    "INGEST_LISTEN_URL": f"postgresql://user:{CANARY}@db.example/rag",
    "INGEST_STORAGE": f"gs://{CANARY}@bucket/prefix?{CANARY}",
    "INGEST_ADMIN_KEY": CANARY,
    "INGEST_ADMIN_KEY_PREVIOUS": CANARY,
    "INGEST_METRICS_TOKEN": CANARY,
    "OPENAI_API_KEY": CANARY,
    "OPENAI_BASE_URL": _WEB,
    "INGEST_RERANK_URL": _WEB,
    "INGEST_RERANK_KEY": CANARY,
    "FIRECRAWL_API_KEY": CANARY,
    "FIRECRAWL_WEBHOOK_SECRET": f"{CANARY},older-{CANARY}",
    "INGEST_SMTP_URL": f"smtp://user:{CANARY}@mail.example:587",
}
_OTHERS: Final = {
    "INGEST_EMAIL_FROM": "rag@mail.example",
    # No credentials belong into these; they are redacted all the same.
    "STORAGE_EMULATOR_HOST": f"http://user:{CANARY}@emulator.example",
    "INGEST_EMBEDDING_QUERY_PREFIX": f"token={CANARY} ",
}


@pytest.fixture
def set_all(monkeypatch: pytest.MonkeyPatch) -> Settings:
    for name, value in (_CANARIES | _OTHERS).items():
        monkeypatch.setenv(name, value)
    return load_settings()


def test_each_setting_that_may_hold_a_credential_has_a_canary() -> None:
    fields = Settings.model_fields.items()
    sensitive = {
        str(field.validation_alias or f"INGEST_{name.upper()}")
        for name, field in fields
        if SecretStr in (field.annotation, *get_args(field.annotation)) or not field.repr
    }

    assert sensitive == _CANARIES.keys()


def test_no_secret_is_shown(set_all: Settings) -> None:
    shown = list(effective_settings(set_all))

    assert [setting.name for setting in shown if CANARY in str(setting.value)] == []
    assert {setting.name for setting in shown if setting.is_secret} == {
        name for name in _CANARIES if name not in _ADDRESSES
    }
    assert all(setting.value is None for setting in shown if setting.is_secret)
    assert all(setting.is_set for setting in shown if setting.name in _CANARIES)


_ADDRESSES: Final = {
    "INGEST_STORAGE": "gs://bucket/prefix",
    "OPENAI_BASE_URL": "https://host.example:8443/v1",
    "INGEST_RERANK_URL": "https://host.example:8443/v1",
}


def test_addresses_are_shown_without_credentials(set_all: Settings) -> None:
    shown = {setting.name: setting.value for setting in effective_settings(set_all)}

    assert {name: shown[name] for name in _ADDRESSES} == _ADDRESSES


def test_values_are_written_as_the_variables_are(monkeypatch: pytest.MonkeyPatch) -> None:
    given = {
        "INGEST_HEARTBEAT": "90s",
        "INGEST_STALE_AFTER": "2h",
        "INGEST_CRAWL_DELAY": "0.25s",
        "INGEST_SCALE_UP_AFTER": "0s",
        "INGEST_KEEP_RUNS": "36500d",
        "INGEST_EMBEDDING_INPUT_TYPES": "task=retrieval.query,retrieval.passage",
        "INGEST_FETCH_ALLOW": "10.1.0.0/16,.intra.example",
        "INGEST_SANDBOX_READ": "/opt/models,/opt/more",
        "INGEST_OCR_LANGUAGES": "deu,eng",
        "INGEST_SCALE": "0:0,5:2",
        "INGEST_QUOTAS": "storedBytes:1,stagedBytes:2,sources:3,pendingJobs:4,uploads:5,sockets:6",
        "INGEST_WORKER": "false",
        "INGEST_RESCRAPE_MAX_REMOVED": "0.5",
        "INGEST_EMBEDDING_QUERY_PREFIX": "query: ",
    }
    for name, value in given.items():
        monkeypatch.setenv(name, value)

    shown = {setting.name: setting for setting in effective_settings(load_settings())}

    assert {name: shown[name].value for name in given} == given
    assert all(shown[name].is_set for name in given)
    assert (shown["INGEST_PORT"].value, shown["INGEST_PORT"].is_set) == ("8000", False)
    assert shown["INGEST_OCR_PAGE_TIMEOUT"].value == "2m"
    assert shown["INGEST_HANDLERS"].value is None


def test_what_is_shown_configures_the_same_installation(monkeypatch: pytest.MonkeyPatch) -> None:
    before = load_settings()
    for setting in effective_settings(before):
        if setting.value is not None:
            monkeypatch.setenv(setting.name, setting.value)

    assert load_settings() == before
