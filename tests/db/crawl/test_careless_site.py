"""What a crawl makes of a site full of logins, shells, calendars and pages that are not there."""

from uuid import UUID

from ingest.postgres.database import Pool
from tests.builders.web_pages import CONTENT, LOGINS, NOT_FOUND, SHELLS, page
from tests.servers import careless_site
from tests.servers.web_server import Answer, Request, redirect, response
from tests.support.crawl.crawl_fixtures import SiteHouse, html, site_house

_LONG = " ".join(f"Sentence number {n} of the long story." for n in range(60))


def _served(markup: str) -> bytes:
    return response(markup.encode(), headers={"Content-Type": "text/html; charset=utf-8"})


class _SoftFolder(dict[str, Answer]):
    """Answers any address below `/kadonnut/` with the same words, which no list of ours has."""

    def get(self, path: str, default: Answer) -> Answer:  # type: ignore[override]
        if path.startswith("/kadonnut/"):
            return _served(page("Voi ei", f"<p>Polkua {path} emme tunne, kokeile hakua.</p>"))
        return super().get(path, default)


async def _ends(house: SiteHouse, run: object) -> dict[str, tuple[str, str | None]]:
    pages = await house.pages(run)  # type: ignore[arg-type]
    return {path: (row["status"], row["error_code"]) for path, row in pages.items()}


async def test_every_address_is_stored_once_or_skipped_with_its_reason(
    pool: Pool, application_id: UUID
) -> None:
    async with site_house(pool, {}) as house:
        house.web.answers = _SoftFolder(careless_site.ANSWERS)
        robots = f"User-agent: *\nAllow: /\nSitemap: {house.web.url('/sitemap.xml.gz')}\n"
        house.web.answers["/robots.txt"] = response(robots.encode())
        run = await house.start(application_id)
        await house.run_all()
        ends = await _ends(house, run)
        crawl, stored = await house.crawl(run), await house.documents(run)
        asked = len(house.web.requests)
        again, _, _ = await house.again(application_id, run.source_id)
        ends_again = await _ends(house, again)

        assert ends == careless_site.EXPECTED
        assert stored == {path for path, (end, _) in ends.items() if end == "new"}
        assert await house.documents(again) == stored
    assert crawl["skipped"]["trap"] == 2  # a date too far ahead, and the end of the calendar
    assert crawl["digest"]["skipped"] == sum(end == "skipped" for end, _ in ends.values())
    assert asked < 80
    assert {end for end, _ in ends_again.values()} == {
        "unchanged", "duplicate", "skipped", "failed",
    }  # fmt: skip


async def test_pages_with_content_are_all_stored(pool: Pool, application_id: UUID) -> None:
    names = {f"/{n}": markup for n, markup in enumerate(CONTENT.values()) if "meta" not in markup}
    site: dict[str, Answer] = {path: _served(markup) for path, markup in names.items()}
    async with site_house(pool, {"/": html("Home.", *site), **site}) as house:
        run = await house.start(application_id)
        await house.run_all()

        assert await house.documents(run) == {"/", *site}


async def test_a_site_of_shells_only_has_failed_and_says_why(
    pool: Pool, application_id: UUID
) -> None:
    shell = SHELLS["navigation only"]
    site = {"/": _served(shell), "/a": _served(SHELLS["vue"])}
    async with site_house(pool, site) as house:
        run = await house.start(application_id)
        await house.run_all()
        source, ends = await house.source(run), await _ends(house, run)

        assert await house.documents(run) == set()
    assert ends == dict.fromkeys(["/", "/a"], ("skipped", "needs_javascript"))
    assert (source["status"], source["error_code"]) == ("failed", "needs_javascript")
    assert "firecrawl" in source["error_message"]


async def test_a_single_page_that_is_a_login_has_failed_and_says_why(
    pool: Pool, application_id: UUID
) -> None:
    site = {"/a": redirect("/in"), "/in": _served(LOGINS["german"])}
    async with site_house(pool, site) as house:
        run = await house.start(application_id, "/a", type="url")
        await house.run_all()
        source = await house.source(run)

    assert (source["status"], source["error_code"]) == ("failed", "login_page")


async def test_a_login_that_hides_pages_removes_none_of_them(
    pool: Pool, application_id: UUID
) -> None:
    site = {
        "/": html("Home.", "/hub"),
        "/hub": html("A list of links.", "/a", head='<meta name=robots content="noindex">'),
        "/a": html("The text of a."),
    }
    async with site_house(pool, site) as house:
        run = await house.start(application_id)
        await house.run_all()
        house.web.answers["/hub"] = redirect("https://sso.example/login?to=hub")
        run, _, _ = await house.again(application_id, run.source_id)
        ends, crawl = await _ends(house, run), await house.crawl(run)

        assert await house.documents(run) == {"/", "/a"}
    assert ends["/hub"] == ("skipped", "login_page")
    assert crawl["is_complete"] is False


async def test_a_single_page_follows_a_refresh(pool: Pool, application_id: UUID) -> None:
    refresh = '<meta http-equiv=refresh content="0;url=/b">'
    site = {"/a": _served(page("Moved", "", head=refresh)), "/b": html("The text of b.")}
    async with site_house(pool, site) as house:
        run = await house.start(application_id, "/a", type="url")
        await house.run_all()

        assert await house.documents(run) == {"/a"}
        assert await house.texts(run) == {"The text of b."}


async def test_a_refresh_into_a_private_network_is_not_followed(
    pool: Pool, application_id: UUID
) -> None:
    refresh = '<meta http-equiv=refresh content="0;url=http://169.254.169.254/key">'
    async with site_house(pool, {"/a": _served(page("M", "", head=refresh))}) as house:
        run = await house.start(application_id, "/a", type="url")
        await house.run_all()
        source = await house.source(run)

    assert (source["status"], source["error_code"]) == ("failed", "fetch_blocked")


async def test_pages_that_turn_into_placeholders_keep_their_last_good_version(
    pool: Pool, application_id: UUID
) -> None:
    site = {
        "/": html("Home.", "/a", "/b", "/c"),
        "/a": html("Short text of a.", "/behind"),
        "/b": html(_LONG),
        "/c": html("The text of c."),
        "/behind": html("Behind a."),
    }
    async with site_house(pool, site) as house:
        run = await house.start(application_id)
        await house.run_all()
        before = await house.texts(run)
        house.web.answers |= {
            "/a": redirect("/login"),
            "/login": _served(LOGINS["english"]),
            "/b": _served(NOT_FOUND["german"]),
            "/c": _served(SHELLS["react"]),
        }
        run, _, _ = await house.again(application_id, run.source_id)
        ends, crawl = await _ends(house, run), await house.crawl(run)
        assert await house.texts(run) == before
        house.removal_threshold = 1.0
        lossy, _, _ = await house.again(application_id, run.source_id, accept_losses=True)

        assert await house.documents(lossy) == {"/"}
    assert ends == {
        "/": ("unchanged", None),
        "/a": ("kept", "login_page"),
        "/b": ("kept", "soft_404"),
        "/c": ("kept", "needs_javascript"),
        "/behind": ("unchanged", None),
    }
    assert crawl["digest"]["kept"] == 3


async def test_a_page_is_compared_with_a_missing_one_only_while_it_may_be_missing(
    pool: Pool, application_id: UUID
) -> None:
    async def broken(request: Request, writer: object) -> None:
        """Hang up."""

    asked: list[str] = []

    class Site(dict[str, Answer]):
        def get(self, path: str, default: Answer) -> Answer:  # type: ignore[override]
            if path not in self and len(path) > 30:
                asked.append(path)
                return broken
            return super().get(path, default)

    names = [f"/d/{n}" for n in range(5)]
    async with site_house(pool, {}) as house:
        house.web.answers = Site(
            {"/": html("Home.", *names), **{name: html(f"Page {name}.") for name in names}}
        )
        run = await house.start(application_id)
        await house.run_all()

        assert await house.documents(run) == {"/", *names}
    assert len(set(asked)) == 1  # requested again after the server hung up
