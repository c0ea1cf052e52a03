"""What robots.txt allows: ours before everybody's, hostile files included."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.web.robots import Robots, read

SITE = "https://example.org"


def robots(text: str, *, agent: str = "rag-ingest") -> Robots:
    return read(text.encode(), agent=agent)


def test_an_empty_file_allows_everything() -> None:
    rules = robots("")

    assert rules.allows(f"{SITE}/a")
    assert (rules.delay, rules.sitemaps) == (None, ())


def test_the_longest_rule_decides() -> None:
    rules = robots("User-agent: *\nDisallow: /private\nAllow: /private/open\nDisallow: /*.pdf$")

    assert rules.allows(f"{SITE}/")
    assert not rules.allows(f"{SITE}/private/a")
    assert rules.allows(f"{SITE}/private/open/a")
    assert not rules.allows(f"{SITE}/a/b.pdf")
    assert rules.allows(f"{SITE}/a/b.pdf?x=1")


@pytest.mark.parametrize("name", ["rag-ingest", "RAG-Ingest", "rag-ingest/1.0", "rag-ingest*"])
def test_a_group_of_our_own_replaces_the_one_of_everybody(name: str) -> None:
    rules = robots(f"User-agent: *\nDisallow: /\n\nUser-agent: {name}\nDisallow: /mine\n")

    assert rules.allows(f"{SITE}/a")
    assert not rules.allows(f"{SITE}/mine")


def test_groups_of_other_robots_do_not_matter() -> None:
    text = "User-agent: other\nUser-agent: rag\nUser-agent: ingest\nDisallow: /\nCrawl-delay: 9\n"

    assert robots(text).allows(f"{SITE}/a")
    assert robots(text).delay is None


def test_robots_that_share_a_group_share_its_rules() -> None:
    rules = robots("User-agent: other\nUser-agent: rag-ingest\nUser-agent: third\nDisallow: /a")

    assert not rules.allows(f"{SITE}/a")


def test_robots_agent_name_excludes_the_version() -> None:
    rules = robots("User-agent: rag-ingest\nDisallow: /a", agent="rag-ingest/0.1 (+https://x)")

    assert not rules.allows(f"{SITE}/a")


def test_percent_encoding_and_tracking_do_not_bypass_robots_rules() -> None:
    rules = robots("User-agent: *\nDisallow: /größe\nDisallow: /private\n")

    assert not rules.allows(f"{SITE}/gr%c3%b6%C3%9Fe")
    assert not rules.allows(f"{SITE}/%70rivate")
    assert not rules.allows(f"{SITE}/open/../private?utm_source=x")


def test_robots_refuses_invalid_urls() -> None:
    assert not robots("").allows("mailto:a@example.org")
    assert not robots("").allows("http://[")


@pytest.mark.parametrize(
    ("stated", "delay"),
    [("5", 5.0), ("0.5", 0.5), ("0", 0.0), ("86400", 30.0), ("-1", None), ("nan", None),
     ("inf", None), ("soon", None), ("", None)],
)  # fmt: skip
def test_the_delay_is_bounded(stated: str, delay: float | None) -> None:
    assert robots(f"User-agent: *\nCrawl-delay: {stated}\nDisallow: /x").delay == delay


def test_sitemaps_are_absolute_and_each_comes_once() -> None:
    text = (
        "Sitemap: https://example.org/s.xml\nUser-agent: other\nDisallow: /\n"
        "sitemap:https://example.org/s.xml\nSitemap: /relative.xml\nSitemap: ftp://x/s.xml\n"
        "Sitemap: https://other.example/s.xml.gz # here\n"
    )

    assert robots(text).sitemaps == (
        "https://example.org/s.xml",
        "https://other.example/s.xml.gz",
    )


def test_sitemaps_are_bounded() -> None:
    text = "\n".join(f"Sitemap: https://example.org/{number}.xml" for number in range(80))

    assert len(robots(text).sitemaps) == 50


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "iso-8859-1"])
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_encodings_and_line_ends_do_not_hide_rules(encoding: str, newline: str) -> None:
    text = newline.join(["User-agent: *", "# für alle", "Disallow: /a"])

    assert not read(text.encode(encoding), agent="rag-ingest").allows(f"{SITE}/a")


def test_only_the_first_500_kibibytes_count() -> None:
    filler = "#" * 1000 + "\n"

    assert not robots(filler * 500 + "User-agent: *\nDisallow: /a").allows(f"{SITE}/a")
    assert robots(filler * 520 + "User-agent: *\nDisallow: /a").allows(f"{SITE}/a")


def test_a_page_in_place_of_the_file_allows_everything() -> None:
    page = "<!DOCTYPE html><html><title>Not found</title><p>Disallow: /</p></html>"

    assert robots(page).allows(f"{SITE}/a")


def test_thousands_of_robots_with_thousands_of_rules_take_no_more_than_one_group() -> None:
    agents = "".join(f"User agent{' :'[n % 2]} bot{n}\n" for n in range(4000))
    rules = "".join(f"Disallow: /{n}$x\n" for n in range(4000))

    found = robots(f"{agents}{rules}User-agent: *\nDisallow: /a\n")

    assert not found.allows(f"{SITE}/a")
    assert found.allows(f"{SITE}/1$x")
    assert len(found._rules._user_agents) == 2


@pytest.mark.parametrize(
    "pattern", ["/*a*a*a*a*a*b", "/" + "*a" * 5000 + "b$", "/" + "*" * 9999 + "b"]
)
def test_patterns_of_many_wildcards_are_matched_in_one_go(pattern: str) -> None:
    assert robots(f"User-agent: *\nDisallow: {pattern}").allows(f"{SITE}/{'a' * 2000}")


PIECES = ["User-agent", ":", "*", "\n", "Disallow", "Allow", "/", "$", "%", "%zz", "#", "Sitemap: ",
          "https://[", "Crawl-delay: ", "1e999", " ", "\0", "\u2028", "ä", "http://a/"]  # fmt: skip


@given(
    st.one_of(
        st.binary(), st.lists(st.sampled_from(PIECES)).map(lambda all_: "".join(all_).encode())
    )
)
def test_any_robots_txt_is_parsed(body: bytes) -> None:
    rules = read(body, agent="rag-ingest")

    assert rules.allows(f"{SITE}/robots.txt")
    assert isinstance(rules.allows(f"{SITE}/a?b=%zz&c={'*'}#d"), bool)
    assert rules.delay is None or 0 <= rules.delay <= 30
