"""Addresses: one identity per page, and a request that is what the page asked for."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ingest.web.urls import (
    fetchable,
    file_name,
    join,
    normalise,
    origin,
)

PIECES = [
    "http://", "https://", "HTTP:", "//", "/", "\\", "?", "#", "&", "=", ";", ":", "@", "%", "%2e",
    "%2F", "%41", "%e4", "..", ".", "example.org", "www.", "münchen.example", "[::1]", ":80",
    ":99999", "index.html", "index.php", "default.aspx", ";jsessionid=", "utm_x", "PHPSESSID=1",
    "b=2", "a=1", "+", " ", "\t", "\0", "\ud800", "ß", "。", "\uff11\uff12\uff17", "[", "]",
    "|", "{", "xn--",
]  # fmt: skip
ANY_URL = st.one_of(
    st.text(max_size=40),
    st.lists(st.sampled_from(PIECES), max_size=12).map("".join),
    st.lists(st.sampled_from(PIECES), max_size=12).map(
        lambda all_: "http://h.example/" + "".join(all_)
    ),
)


@pytest.mark.parametrize(
    "spelling",
    [
        "https://example.org/docs/guide",
        "https://example.org/docs/guide/",
        "https://example.org/docs/guide#part-2",
        "https://example.org/docs/guide?",
        "HTTPS://Example.ORG/docs/guide",
        "https://example.org:443/docs/guide",
        "https://example.org:/docs/guide",
        "https://example.org./docs/guide",
        "https://example.org/docs/./old/../guide",
        "https://example.org/docs/%2e/old/%2E%2E/guide",
        "https://example.org/d%6Fcs/guide",
        "https://example.org/docs/guide/index.html",
        "https://example.org/docs/guide/index.htm",
        "https://example.org/docs/guide/index.php/",
        "https://example.org/docs/guide/Default.aspx",
        "https://example.org/docs/guide/index.html/index.html",
        "https://example.org/docs/guide?utm_source=x&utm_medium=y",
        "https://example.org/docs/guide?gclid=1#top",
        "https://example.org/docs/guide?fbclid=1&&PHPSESSID=ab",
        "https://example.org/docs/guide?%75tm_source=1",
        "https://example.org/docs/guide;jsessionid=0A1B2C",
        "https://example.org/docs/guide/index.php;JSESSIONID=0A1B2C?ref_src=twsrc",
        "https:\\\\example.org\\docs\\guide",
        "  https://example.org/docs/guide\n",
    ],
)
def test_spellings_of_one_page_are_one_page(spelling: str) -> None:
    assert normalise(spelling) == "https://example.org/docs/guide"


@pytest.mark.parametrize(
    ("url", "identity"),
    [
        ("http://example.org", "http://example.org/"),
        ("http://example.org/index.html", "http://example.org/"),
        ("http://example.org/?b=2&a=1&b=1", "http://example.org/?a=1&b=2&b=1"),
        ("http://example.org/?a=%c3%a4&b=ä", "http://example.org/?a=%C3%A4&b=%C3%A4"),
        ("http://example.org/größe", "http://example.org/gr%C3%B6%C3%9Fe"),
        ("http://example.org/100%", "http://example.org/100%25"),
        ("http://example.org/a%2Fb", "http://example.org/a%2Fb"),
        ("http://example.org/a%252Fb", "http://example.org/a%252Fb"),
        ("http://example.org/?a[]=1", "http://example.org/?a%5B%5D=1"),
        ("http://example.org/%7Educk", "http://example.org/~duck"),
        ("http://example.org:8080/", "http://example.org:8080/"),
        ("https://example.org:80/", "https://example.org:80/"),
        ("http://Bücher.example/", "http://xn--bcher-kva.example/"),
        ("http://xn--bcher-kva.example/", "http://xn--bcher-kva.example/"),
        ("http://faß.example/", "http://xn--fa-hia.example/"),
        ("http://[2001:DB8::0:1]:80/", "http://[2001:db8::1]/"),
        ("http://my_site.example/", "http://my_site.example/"),
        ("http://example.org/../..", "http://example.org/"),
        ("http://example.org//a//", "http://example.org//a"),
    ],
)
def test_normalise_returns_the_identity_of_a_url(url: str, identity: str) -> None:
    assert normalise(url) == identity


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("http://example.org/a", "https://example.org/a"),
        ("http://example.org/a", "http://www.example.org/a"),
        ("http://example.org/a", "http://example.org/A"),
        ("http://example.org/a?x=1", "http://example.org/a?x=2"),
        ("http://example.org/a?x=1", "http://example.org/a"),
        ("http://example.org/index.html.bak", "http://example.org/"),
        ("http://example.org/myindex.html", "http://example.org/"),
        ("http://example.org/?utmost=1", "http://example.org/"),
    ],
)
def test_different_pages_have_different_urls(one: str, other: str) -> None:
    assert normalise(one) != normalise(other)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "example.com/x",
        "//example.com/x",
        "/x",
        "mailto:a@example.com",
        "javascript:alert(1)",
        "ftp://example.com/",
        "data:text/html,x",
        "http:",
        "http://",
        "http:///x",
        "http:example.com",
        "http://?x",
        "http://user@example.com/",
        "http://user:secret@example.com/",
        "http://exa mple.com/",
        "http://exa%6dple.com/",
        "http://example..com/",
        "http://.example.com/",
        "http://-a\u200b\u3002.example/",
        "http://example.com:0/",
        "http://example.com:65536/",
        "http://example.com:999999999999999999/",
        "http://example.com:\u0661/",
        "http://[::1/",
        "http://[::1]x/",
        "http://[fe80::1%25eth0]/",
        "http://[1.2.3.4]/",
        f"http://{'a' * 64}.example/",
        f"http://{'a.' * 127}a/",
        f"http://{'ü' * 1000}.example/",
        "http://example.com/\0",
        "http://example.com/a\nb",
        "http://example.com/\ud800",
        "http://example.com/" + "a" * 2048,
        "http://example.com/#" + "a" * 2048,
    ],
)
def test_invalid_url_is_refused_with_a_message(text: str) -> None:
    for read in (normalise, fetchable):
        with pytest.raises(ValueError, match=r"^(A|The) [^@]*\.$"):
            read(text)


def test_url_with_password_is_refused_without_quoting_it() -> None:
    with pytest.raises(ValueError, match="user name") as caught:
        normalise("http://user:secret@example.com/")

    assert "secret" not in str(caught.value)


def test_a_backslash_ends_the_host_as_it_does_in_browsers() -> None:
    assert (
        normalise("http://good.example\\@evil.example/x") == "http://good.example/@evil.example/x"
    )


@pytest.mark.parametrize("space", [" ", "\u00a0", "\u3000"])
def test_white_space_is_escaped_in_links_and_refused_in_what_people_write(space: str) -> None:
    url = f"http://example.org/a{space}b"

    with pytest.raises(ValueError, match="white space"):
        normalise(url)
    assert normalise(fetchable(url)) == fetchable(url)


@pytest.mark.parametrize(
    ("found", "requested"),
    [
        ("http://Example.org", "http://example.org/"),
        ("http://example.org/docs/", "http://example.org/docs/"),
        ("http://example.org/index.html#top", "http://example.org/index.html"),
        ("http://example.org/?b=2&a=1&utm_source=x", "http://example.org/?b=2&a=1"),
        ("http://example.org/?%55tm_source=x&b=2", "http://example.org/?b=2"),
        ("http://example.org/a b/ü?q=x y|z", "http://example.org/a%20b/%C3%BC?q=x%20y%7Cz"),
        ("http://example.org/%7e%c3?a[]=1", "http://example.org/%7e%c3?a[]=1"),
        ("http://example.org/a/%2e%2e/b", "http://example.org/b"),
        ("http://example.org/5%/", "http://example.org/5%25/"),
    ],
)
def test_a_request_is_the_address_as_found(found: str, requested: str) -> None:
    assert fetchable(found) == requested


@pytest.mark.parametrize(
    ("reference", "meant"),
    [
        ("next", "http://example.org/a/next"),
        ("../up/", "http://example.org/up/"),
        ("/root", "http://example.org/root"),
        ("//cdn.example/x", "http://cdn.example/x"),
        ("?page=2", "http://example.org/a/b?page=2"),
        ("#part", "http://example.org/a/b?x=1"),
        ("\\windows\\page", "http://example.org/windows/page"),
        (" \n/spaced\t/line\r\nbreak ", "http://example.org/spaced/linebreak"),
        ("https://other.example", "https://other.example/"),
    ],
)
def test_relative_references_resolve_as_in_browsers(reference: str, meant: str) -> None:
    assert join("http://example.org/a/b?x=1", reference) == meant


@pytest.mark.parametrize(
    "reference", ["mailto:a@b.example", "javascript:void(0)", "tel:1", "data:,x"]
)
def test_references_to_other_things_than_pages_are_refused(reference: str) -> None:
    with pytest.raises(ValueError, match="http"):
        join("http://example.org/", reference)


def test_the_origin_is_scheme_host_and_a_port_of_its_own() -> None:
    assert origin("HTTPS://Example.org:443/a?b") == "https://example.org"
    assert origin("http://example.org:8080/a b") == "http://example.org:8080"


@given(ANY_URL)
@example("http://h.example/;jsessionid=;jsessionid=/index.html;jsessionid=1/")
def test_url_normalisation_is_idempotent(url: str) -> None:
    try:
        once = normalise(url)
    except ValueError:
        return

    assert normalise(once) == once
    assert fetchable(once) == once


@given(ANY_URL)
def test_request_urls_are_stable(url: str) -> None:
    try:
        once = fetchable(url)
    except ValueError:
        return

    assert fetchable(once) == once
    assert once.isascii()
    assert " " not in once
    assert normalise(once).startswith(origin(once))
    assert file_name(once)


@given(ANY_URL, ANY_URL)
def test_any_reference_resolves_or_is_a_value_error(base: str, reference: str) -> None:
    try:
        found = join(base, reference)
    except ValueError:
        return

    assert fetchable(found) == found
