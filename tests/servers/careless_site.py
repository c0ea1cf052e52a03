"""A site with what users of crawlers complain of, and what a crawl should make of each address.

Answers are by path with query, as web_server.py wants them.
"""

import gzip
from itertools import pairwise
from typing import Final

from tests.builders.web_pages import (
    CONSENT_WALLS,
    LOGINS,
    NOT_FOUND,
    SHELLS,
    page,
)
from tests.servers.web_server import Answer, redirect, response

_MONTHS: Final = [f"{year}-{month:02d}" for year in range(2024, 2032) for month in range(1, 13)]
_TEXT: Final = "It is about gardens and the tools that they need in every season. " * 3


def _html(markup: str) -> bytes:
    return response(markup.encode(), headers={"Content-Type": "text/html; charset=utf-8"})


def _page(name: str, *links: str, head: str = "") -> bytes:
    anchors = "".join(f'<p><a href="{link}">{link[-9:]}</a></p>' for link in links)
    return _html(page(name, f"<p>This is the page {name}. {_TEXT}</p>{anchors}", head=head))


def _sent_to(target: str, head: str) -> bytes:
    return _html(page("Moved", f"<p>{target[1:4]}</p>", head=head))


_LINKS: Final = [
    "/dup", "/dup/", "/dup?", "/dup#x", "/dup?utm_source=a", "/#/route", "/#!/route",
    "/print?print=1", "/print", "/gone", "/old", "/moved", "/quoted", "/script", "/loop-a", "/away",
    "/stays", "/login-wall", "/konto", "/soft404/a", "/soft404/b", "/weg", "/kadonnut/sivu",
    "/shell", "/vue", "/consent", "/empty", "/cal/2024-01", "/diary/jan-2024", "/e?date=2099-1",
    "/q?q=", "/shop?&amp;p=2", "/s?sid=0123456789abcdef0123", "/feed.xml", "/glossary/api",
    "/blog/2024/01", "/blog/2024/02", "/blog/2024/03",
]  # fmt: skip

ANSWERS: Final[dict[str, Answer]] = {
    "/robots.txt": response(b"User-agent: *\nAllow: /\nSitemap: /sitemap.xml.gz\n"),
    "/": _page("Home", *_LINKS),
    "/dup": _page("dup"),
    "/dup/": _page("dup"),
    "/dup?": _page("dup"),
    "/print": _page("print"),
    "/print?print=1": _page("print"),
    "/old": redirect("/new", status=308),
    "/new": _page("new"),
    "/moved": _sent_to("/here", '<meta http-equiv="refresh" content="0; url=/here">'),
    "/here": _page("here", "/behind-refresh"),
    "/behind-refresh": _page("behind"),
    "/quoted": _sent_to("/there", """<meta http-equiv=Refresh content="5;URL='/there'">"""),
    "/there": _page("there"),
    "/script": _html("<script>location.replace('/by-script')</script>"),
    "/by-script": _page("by script"),
    "/loop-a": _sent_to("/loop-b", '<meta http-equiv="refresh" content="0;url=/loop-b">'),
    "/loop-b": _sent_to("/loop-a", '<meta http-equiv="refresh" content="0;url=/loop-a">'),
    "/away": _sent_to("/away", '<meta http-equiv="refresh" content="0;url=http://other.example/">'),
    "/stays": _page("stays", head='<meta http-equiv="refresh" content="300">'),
    "/login-wall": redirect("/login?next=%2Flogin-wall"),
    "/login?next=%2Flogin-wall": _html(LOGINS["english"]),
    "/konto": _html(LOGINS["german account"]),
    "/soft404/a": _html(NOT_FOUND["english"]),
    "/soft404/b": _html(NOT_FOUND["english"]),
    "/weg": _html(NOT_FOUND["german"]),
    "/shell": _html(SHELLS["react"]),
    "/vue": _html(SHELLS["vue sorry"]),
    "/consent": _html(CONSENT_WALLS["german"]),
    "/empty": _html(""),
    "/s": _page("session"),
    "/q?q=": _page("query", "/q?q=&q="),
    "/shop?&p=2": _page("shop, part two", "/shop?&p=2&amp;amp%3Bp=2", "/shop?&p=2&amp;amp;p=3"),
    "/shop?&p=3": _page("shop, part three", "/shop?&p=3&amp;amp%3Bp=2"),
    "/feed.xml": response(b"<rss/>", headers={"Content-Type": "application/rss+xml"}),
    "/glossary/api": _html(page("API", "<p>Application programming interface.</p>")),
    "/sitemap.xml.gz": response(
        gzip.compress(b"<urlset><url><loc>\n /orphan?a=1&amp;b=2 </loc></url></urlset>")
    ),
    "/orphan?a=1&b=2": _page("orphan"),
    **{
        f"/cal/{month}": _page(f"of {month}, no events", f"/cal/{after}")
        for month, after in pairwise(_MONTHS)
    },
    "/diary/jan-2024": _page("diary of January 2024", "/diary/feb-2024"),
    "/diary/feb-2024": _page("diary of February 2024: it snowed"),
    **{
        f"/blog/2024/0{n}": _html(page(f"Posts of 0{n}/2024", f"<p>{title}</p>"))
        for n, title in enumerate(("The mill reopens", "Ducks", "No posts"), start=1)
    },
}

EXPECTED: Final[dict[str, tuple[str, str | None]]] = {
    **dict.fromkeys(
        ["/", "/dup", "/print", "/new", "/here", "/behind-refresh", "/there", "/by-script",
         "/stays", "/q?q=", "/shop?p=2", "/shop?p=3", "/s", "/glossary/api", "/orphan?a=1&b=2",
         "/diary/jan-2024", "/diary/feb-2024", "/blog/2024/01", "/blog/2024/02", "/blog/2024/03",
         "/cal/2024-01"],
        ("new", None),
    ),
    **dict.fromkeys(
        ["/print?print=1", "/old", "/moved", "/quoted", "/script"], ("duplicate", None)
    ),
    **dict.fromkeys(["/login-wall", "/konto"], ("skipped", "login_page")),
    **dict.fromkeys(["/soft404/a", "/soft404/b", "/weg"], ("skipped", "soft_404")),
    **dict.fromkeys(["/shell", "/vue"], ("skipped", "needs_javascript")),
    **dict.fromkeys([f"/cal/{month}" for month in _MONTHS[1:14]], ("skipped", "near_duplicate")),
    "/consent": ("skipped", "consent_wall"),
    "/away": ("skipped", "off_site"),
    "/empty": ("failed", "empty_content"),
    "/gone": ("failed", "fetch_status"),
    "/loop-a": ("failed", "redirect_loop"),
    "/kadonnut/sivu": ("skipped", "soft_404"),
}  # fmt: skip
"""Status and code of each page of the crawl, by its normalised address."""
