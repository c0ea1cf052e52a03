"""Which links belong to a crawl: same site, wanted, no trap, not too deep."""

from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.web.scope import Scope, build_scope

SEED = "https://www.example.org/docs/"


def scope(
    seed: str = SEED, include: Iterable[str] = (), exclude: Iterable[str] = (), max_depth: int = 3
) -> Scope:
    return build_scope(seed=seed, max_depth=max_depth, include=include, exclude=exclude)


@pytest.mark.parametrize(
    "url",
    [
        "https://www.example.org/docs/a",
        "https://example.org/docs/a",
        "http://www.example.org/docs/a",
        "http://example.org:80/docs/a",
        "HTTPS://EXAMPLE.ORG:443/docs/a#x",
    ],
)
def test_twins_of_the_site_are_written_as_the_seed_is(url: str) -> None:
    assert scope().adopt(url) == "https://www.example.org/docs/a"
    assert scope().refusal(url, depth=1) is None


def test_the_twin_of_a_bare_seed_is_the_one_with_www() -> None:
    bare = scope("http://example.org:8080/")

    assert bare.adopt("http://www.example.org:8080/a/?x=1") == "http://example.org:8080/a/?x=1"


@pytest.mark.parametrize(
    "url",
    [
        "https://other.org/docs/a",
        "https://docs.example.org/a",
        "https://example.org.evil.example/",
        "https://www.www.example.org/a",
        "https://example.org:8443/a",
        "https://evil.example/https://www.example.org/docs/",
        "https://evil.example/?u=www.example.org",
    ],
)
def test_other_hosts_and_ports_are_off_site(url: str) -> None:
    assert scope().adopt(url) == url
    assert scope().refusal(url, depth=1) == "off_site"


def test_the_seed_is_never_refused() -> None:
    narrow = scope(include=["^/only/"], exclude=["docs"], max_depth=0)

    assert narrow.refusal(SEED, depth=9) is None
    assert narrow.refusal("http://example.org/docs?utm_source=x#y", depth=9) is None


def test_seed_that_looks_like_a_trap_is_accepted() -> None:
    seed = "https://example.org/a/a/a/a.zip"

    assert scope(seed).refusal(seed, depth=0) is None
    assert scope(seed).refusal(seed + "?x=1", depth=0) == "not_a_page"


def test_pages_below_the_last_level_are_too_deep() -> None:
    page = "https://www.example.org/docs/a"

    assert scope(max_depth=2).refusal(page, depth=2) is None
    assert scope(max_depth=2).refusal(page, depth=3) == "too_deep"


@pytest.mark.parametrize(
    ("include", "exclude", "path", "refused"),
    [
        (["^/blog/"], [], "/blog/a", False),
        (["^/blog/"], [], "/docs/blog/a", True),
        (["^/blog/", "^/news/"], [], "/news/a", False),
        (["^/blog/"], ["draft"], "/blog/draft-1", True),
        ([], [r"\?.*sort="], "/list?page=2&sort=up", True),
        ([], [r"\?.*sort="], "/list?page=2", False),
        ([], ["/$"], "/blog/", True),
        ([], ["/$"], "/blog", False),
        (["^/größe/"], [], "/gr%C3%B6%C3%9Fe/a", False),
        (["^/gr%C3%B6"], [], "/größe/a", False),
        ([], ["example"], "/a", False),
        (["(?i)^/BLOG"], [], "/blog/a", False),
    ],
)
def test_patterns_are_searched_in_path_and_query(
    include: list[str], exclude: list[str], path: str, refused: bool
) -> None:
    found = scope(include=include, exclude=exclude).refusal(
        f"https://www.example.org{path}", depth=1
    )

    assert found == ("excluded" if refused else None)


@pytest.mark.parametrize(
    "pattern", ["(", "[a", "(?=a)", r"(a)\1", "*", "a{9999}", "\ud800", r"\pL{999}"]
)
def test_a_pattern_that_cannot_be_used_is_named(pattern: str) -> None:
    with pytest.raises(ValueError, match="pattern") as caught:
        scope(exclude=["^/fine/", pattern])

    assert repr(pattern) in str(caught.value)


def test_patterns_are_bounded() -> None:
    with pytest.raises(ValueError, match="longer than 1000"):
        scope(include=["a" * 1001])
    with pytest.raises(ValueError, match="more than 50"):
        scope(include=["a"] * 51)


def test_catastrophic_backtracking_pattern_runs_in_linear_time() -> None:
    hostile = scope(exclude=["(a+)+$", "(a|aa)*b$", "(.*a){20}c"])

    assert hostile.refusal(f"https://www.example.org/{'a' * 900}!", depth=1) is None


@pytest.mark.parametrize(
    "path",
    ["a.PNG", "a.css", "a.js?v=3", "a.woff2", "a.mp4", "a.tar.gz", "a.exe", "feed.xml", "a%2Ezip",
     "a.json", "feed.rss", "feed.atom"],
)  # fmt: skip
def test_files_without_readable_text_are_not_crawled(path: str) -> None:
    assert scope().refusal(f"https://www.example.org/{path}", depth=1) == "not_a_page"


@pytest.mark.parametrize(
    "path", ["a.pdf", "a.docx", "a.csv", "a.txt", "a.md", "a.php", "a.html", "v1.2", "zip", "png/"]
)
def test_documents_are_pages(path: str) -> None:
    assert scope().refusal(f"https://www.example.org/{path}", depth=1) is None


@pytest.mark.parametrize("url", ["", "nonsense", "mailto:a@b.example", "http://[::1", "\ud800"])
def test_invalid_urls_are_not_pages(url: str) -> None:
    assert scope().adopt(url) == url
    assert scope().refusal(url, depth=1) == "not_a_page"


@pytest.mark.parametrize(
    ("fine", "trap"),
    [
        ("/a/b/a/b", "/a/b/a/b/a/b"),
        ("/" + "/".join(map(str, range(20))), "/" + "/".join(map(str, range(21)))),
        (
            "/?" + "&".join(f"p{n}=1" for n in range(10)),
            "/?" + "&".join(f"p{n}" for n in range(11)),
        ),
        ("/" + "a" * 970, "/" + "a" * 980),
    ],
)
def test_endless_addresses_are_traps(fine: str, trap: str) -> None:
    assert scope().refusal(f"https://www.example.org{fine}", depth=1) is None
    assert scope().refusal(f"https://www.example.org{trap}", depth=1) == "trap"


@pytest.mark.parametrize("seed", ["example.org", "ftp://example.org/", "http://user@example.org/"])
def test_a_seed_has_to_be_a_web_address(seed: str) -> None:
    with pytest.raises(ValueError, match="address"):
        scope(seed)


@given(st.text(max_size=60), st.integers())
def test_any_url_has_a_scope_decision(url: str, depth: int) -> None:
    adopted = scope().adopt(url)

    assert scope().adopt(adopted) == adopted
    assert scope().refusal(url, depth=depth) in ("off_site", "not_a_page", None, "too_deep")
