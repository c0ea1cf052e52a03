"""Small sites for the stand-in of Firecrawl, drawn from a seed, and how their crawls must end."""

from dataclasses import dataclass
from functools import cached_property
from random import Random

from tests.servers.firecrawl_behaviour import Behaviour, Site, SitePage


@dataclass(frozen=True)
class RandomSite:
    """Three to seven pages, some of which cannot be had, and what befalls their crawl."""

    seed: int

    @property
    def url(self) -> str:
        return f"https://site-{self.seed}.test/"

    @cached_property
    def behaviour(self) -> Behaviour:
        return Behaviour.random(self.seed)

    @cached_property
    def pages(self) -> Site:
        rng = Random(-self.seed)
        site = {self.url: self._page(0)}
        for number in range(1, rng.randint(3, 7)):
            page = self._page(number)
            kind = rng.choices(
                ("good", "timeout", "404", "empty", "blocked", "raced", "moved"),
                weights=(60, 8, 8, 6, 6, 6, 6),
            )[0]
            match kind:
                case "timeout":
                    page = SitePage(error="The scrape operation timed out")
                case "404":
                    page = SitePage(markdown="# Not found", status=404)
                case "empty":
                    page = SitePage(markdown=" ")
                case "blocked":
                    page = SitePage(blocked=True)
                case "raced":
                    page = SitePage(markdown=page.markdown, redirects_to=self.url)
                case "moved":
                    moved = f"{self.url}moved-{number}"
                    page = SitePage(markdown=page.markdown, redirects_to=moved)
            site[f"{self.url}{number}"] = page
        return site

    @cached_property
    def documents(self) -> dict[str, str]:
        """Text by address of the pages that can be had."""
        return {
            page.redirects_to or url: page.markdown
            for url, page in self.pages.items()
            if page.redirects_to != self.url and not page.blocked and not self._fails(page)
        }

    def statuses(self, state: str) -> set[str]:
        """What may have become of the source; `state`: of the crawl, in the end."""
        if state == "failed":
            return {"failed"}
        if state == "cancelled" and not self.behaviour.stuck:
            return {"partial", "failed"}  # failed, if it was cancelled before its first page
        has_failed = self.behaviour.stuck or any(map(self._fails, self.pages.values()))
        return {"partial" if has_failed else "completed"}

    @staticmethod
    def _fails(page: SitePage) -> bool:
        return page.error is not None or page.status >= 400 or not page.markdown.strip()

    def _page(self, number: int) -> SitePage:
        name = f"room {number} of house {self.seed}"
        return SitePage(
            markdown=f"# About {name}\n\nIn {name} lives somebody who has a story to tell.",
            title=f"About {name}",
        )
