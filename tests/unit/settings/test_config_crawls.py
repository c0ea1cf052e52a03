"""Settings of crawls: which crawler is in use, and how Firecrawl is reached."""

from datetime import timedelta

import pytest

from ingest.errors import SetupError
from ingest.settings.loading import load_settings


@pytest.fixture(autouse=True)
def _clean(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("API_KEY", "API_URL", "WEBHOOK_SECRET"):
        monkeypatch.delenv(f"FIRECRAWL_{name}", raising=False)
    for name in ("CRAWLER", "PUBLIC_URL", "CRAWL_POLL", "CRAWL_SILENCE"):
        monkeypatch.delenv(f"INGEST_{name}", raising=False)


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("INGEST_CRAWLER", "magic"),
        ("INGEST_CRAWLER", "firecrawl"),
        ("INGEST_CRAWL_POLL", "0"),
        ("INGEST_CRAWL_SILENCE", "31s"),
        ("INGEST_PUBLIC_URL", "ingest.example.com"),
        ("INGEST_PUBLIC_URL", "ftp://ingest.example.com"),
        ("INGEST_PUBLIC_URL", "https://"),
        ("INGEST_PUBLIC_URL", "https://ingest.example.com/?a=1"),
        ("FIRECRAWL_API_URL", "https://user:hunter2@firecrawl.test"),
        ("FIRECRAWL_API_URL", "https://fire crawl.test"),
        ("FIRECRAWL_API_URL", "https://[::1"),
        ("FIRECRAWL_API_URL", "http://firecrawl:99999"),
        ("FIRECRAWL_API_KEY", "fc-hunter2\n"),
        ("FIRECRAWL_API_KEY", "fc-hünter2"),
        ("FIRECRAWL_WEBHOOK_SECRET", " , "),
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
    assert "hunter2" not in str(caught.value)


def test_the_crawler_is_built_in_until_a_firecrawl_setting_says_otherwise(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    without = load_settings().crawl_provider
    monkeypatch.setenv("FIRECRAWL_API_KEY", "fc-key")
    with_key = load_settings().crawl_provider
    monkeypatch.delenv("FIRECRAWL_API_KEY")
    monkeypatch.setenv("FIRECRAWL_API_URL", "http://firecrawl:3002")
    with_url = load_settings().crawl_provider
    monkeypatch.setenv("INGEST_CRAWLER", "builtin")
    named = load_settings().crawl_provider

    assert (without, with_key, with_url, named) == ("builtin", "firecrawl", "firecrawl", "builtin")


def test_firecrawl_can_be_used_without_a_public_address_and_a_secret(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("INGEST_CRAWLER", "firecrawl")
    monkeypatch.setenv("FIRECRAWL_API_KEY", "fc-key")

    settings = load_settings()

    assert settings.crawl_provider == "firecrawl"
    assert settings.public_url is None
    assert settings.firecrawl_secrets == ()
    assert settings.crawl_poll == timedelta(seconds=30)
    assert settings.crawl_silence == timedelta(minutes=30)


def test_addresses_end_without_a_slash_and_keep_their_path(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("INGEST_PUBLIC_URL", "https://ingest.example.com/rag/")
    monkeypatch.setenv("FIRECRAWL_API_URL", "http://firecrawl:3002")

    settings = load_settings()

    assert settings.public_url == "https://ingest.example.com/rag"
    assert settings.firecrawl_api_url == "http://firecrawl:3002"


def test_several_webhook_secrets_are_separated_by_commas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FIRECRAWL_WEBHOOK_SECRET", "new-é, old,")

    assert load_settings().firecrawl_secrets == ("new-é".encode(), b"old")


def test_secrets_of_firecrawl_do_not_show_in_the_settings_text(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("FIRECRAWL_API_KEY", "fc-hunter2")
    monkeypatch.setenv("FIRECRAWL_WEBHOOK_SECRET", "hunter2")

    assert "hunter2" not in repr(load_settings())
