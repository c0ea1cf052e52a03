"""Sites for the stand-in of Firecrawl, whose events come twice, in any order, late or never."""

from random import Random

from tests.chaos.contents import Mark, paragraph
from tests.servers.firecrawl_behaviour import Behaviour, Site, SitePage


def address(seed: int, application: int) -> str:
    return f"https://site-{seed}-{application}.test/"


def pages(seed: int, application: int) -> Site:
    start = address(seed, application)
    count = Random(f"{seed}/{application}").randint(4, 9)
    return {
        start if page == 0 else f"{start}{page}": SitePage(
            markdown=f"# Page {page}\n\n{paragraph(Mark(application, 'w', seed, 1, page))}",
            title=f"Page {page}",
        )
        for page in range(count)
    }


def marks(seed: int, application: int) -> set[Mark]:
    return {Mark(application, "w", seed, 1, page) for page in range(len(pages(seed, application)))}


def behaviour(seed: int, application: int) -> Behaviour:
    """Troubles with which a crawl still ends whole."""
    rng = Random(f"behaviour/{seed}/{application}")
    return Behaviour(
        seed=rng.randrange(1_000_000),
        refused_starts=rng.choice((0, 0, 1)),
        start_seconds=rng.choice((0, 0.3, 1.5)),
        unknown_reads=rng.choice((0, 1)),
        page_seconds=rng.choice((0.05, 0.3)),
        event_seconds=rng.choice((0.3, 1.5)),
        drop=rng.choice((0, 0.3)),
        duplicate=rng.choice((0.5, 1)),
        rerun=rng.choice((0, 0.5)),
        completed_first=rng.random() < 0.3,
        late=rng.choice((0.2, 0.5)),
        late_seconds=rng.choice((1, 3)),
        part=rng.choice((100, 3)),
    )
