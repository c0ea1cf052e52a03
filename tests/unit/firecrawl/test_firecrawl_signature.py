"""A delivery is believed only if one of our secrets signed exactly its bytes."""

import pytest

from ingest.providers.firecrawl.signature import Signature
from tests.servers.firecrawl_events import signature

SECRET = "gehéim".encode()
BODY = b'{"success":true,"note":"\xe2\x9c\x93"}'


def matches(body: bytes, header: bytes | None, *secrets: bytes) -> bool:
    given = Signature(secrets)
    given.feed(body)
    return given.matches(header)


def test_a_known_signature_matches() -> None:
    header = b"sha256=f7bc83f430538424b13298e6aa6fb143ef4d59a14946175997479dbc2d1a3cd8"

    assert matches(b"The quick brown fox jumps over the lazy dog", header, b"key")


def test_a_body_may_come_in_pieces() -> None:
    given = Signature([SECRET])
    for at in range(0, len(BODY), 5):
        given.feed(BODY[at : at + 5])

    assert given.matches(signature(BODY, SECRET))


def test_any_of_several_secrets_may_have_signed() -> None:
    secrets = (b"new", SECRET, b"older")

    assert all(matches(BODY, signature(BODY, secret), *secrets) for secret in secrets)
    assert not matches(BODY, signature(BODY, b"another"), *secrets)


def test_one_changed_byte_does_not_match() -> None:
    assert not matches(BODY + b" ", signature(BODY, SECRET), SECRET)


@pytest.mark.parametrize(
    "header",
    [
        None,
        b"",
        b"sha256=",
        b"sha256=" + b"0" * 64,
        b"sha1=" + b"0" * 40,
        b"sha256=" + "é".encode() * 32,
        b"sha256=\xff\xfe\x00",
        signature(BODY, SECRET).removeprefix(b"sha256="),
        signature(BODY, SECRET) + b"00",
        signature(BODY, SECRET)[:-1],
    ],
)
def test_anything_else_in_the_header_does_not_match(header: bytes | None) -> None:
    assert not matches(BODY, header, SECRET)


def test_upper_case_and_blanks_around_the_digits_are_forgiven() -> None:
    digits = signature(BODY, SECRET).removeprefix(b"sha256=").upper()

    assert matches(BODY, b"sha256= " + digits + b" ", SECRET)


def test_nothing_matches_without_a_secret() -> None:
    assert not matches(BODY, signature(BODY, b""))


def test_an_empty_secret_is_refused() -> None:
    with pytest.raises(ValueError, match="empty"):
        Signature([b"good", b""])
