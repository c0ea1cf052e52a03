"""What people write when they name a page or a site."""

import pytest

from ingest.errors import Permanent
from ingest.providers.fetch.user_urls import check_patterns, read_address


@pytest.mark.parametrize(
    ("text", "uri"),
    [
        ("https://Site.example/a/", "https://site.example/a"),
        ("http://site.example", "http://site.example/"),
        ("site.example", "https://site.example/"),
        (" site.example/a?b=1#c ", "https://site.example/a?b=1"),
        ("//site.example/a", "https://site.example/a"),
        ("site.example:8443/a", "https://site.example:8443/a"),
        ("site.example:8080/a", "http://site.example:8080/a"),
        ("93.184.216.34", "http://93.184.216.34/"),
        ("site.example/?to=http://other.example", "https://site.example/?to=http://other.example"),
    ],
)
def test_an_address_is_kept_in_one_form(text: str, uri: str) -> None:
    assert read_address(text, allow=()).uri == uri


@pytest.mark.parametrize(
    "text",
    [
        "",
        "https://",
        "ftp://site.example/",
        "file:///etc/passwd",
        "javascript:alert(1)",
        "mailto:a@site.example",
        "https://user:secret@site.example/",
        "user:123@site.example",
        "https://site.example/a b",
        "https://site.example/\na",
        "https://site.example/" + "a" * 3000,
    ],
)
def test_invalid_url_is_refused_with_a_reason(text: str) -> None:
    with pytest.raises(ValueError, match="web address") as error:
        read_address(text, allow=())

    assert "secret" not in str(error.value)


@pytest.mark.parametrize(
    "text",
    [
        "http://127.0.0.1/",
        "localhost:8000",
        "http://2130706433/",
        "http://0x7f.1/",
        "http://[::ffff:10.0.0.1]/",
        "http://169.254.169.254/latest",
        "http://\uff11\uff12\uff17.0.0.1/",
    ],
)
def test_an_address_that_is_never_fetched_is_refused(text: str) -> None:
    with pytest.raises(Permanent) as error:
        read_address(text, allow=())

    assert error.value.code == "fetch_blocked"


def test_address_allowed_by_the_operator_is_accepted() -> None:
    assert read_address("127.0.0.1:8000/a", allow=["127.0.0.0/8"]).name == "127.0.0.1:8000/a"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("https://site.example/", "site.example"),
        ("https://site.example/docs/?page=2", "site.example/docs?page=2"),
        ("https://site.example/" + "a" * 400, ("site.example/" + "a" * 400)[:300]),
    ],
)
def test_the_name_is_the_address_without_its_scheme(text: str, name: str) -> None:
    assert read_address(text, allow=()).name == name


def test_patterns_that_need_look_around_are_refused_by_name() -> None:
    check_patterns(["^/docs/", r"\.html$"])

    with pytest.raises(ValueError, match="look-around"):
        check_patterns(["^/docs/", "(?!x)y"])
