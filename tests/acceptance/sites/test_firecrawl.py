"""Crawls at Firecrawl, end to end: real processes, and a stand-in that fails by seed."""

import base64
import hashlib
import json
import os
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, Final

import httpx
import pytest

from harness.database import Database
from harness.patience import PATIENCE
from harness.service import Service, until
from tests.acceptance.sites.firecrawl_sites import RandomSite
from tests.servers.firecrawl_behaviour import Behaviour
from tests.servers.firecrawl_events import document, event, signature
from tests.servers.firecrawl_server import SECRET, FirecrawlServer, firecrawl_server

# The fewest that have every trouble. All 200 take a minute more: INGEST_FIRECRAWL_CRAWLS=200.
_CRAWLS: Final = int(os.environ.get("INGEST_FIRECRAWL_CRAWLS", "36"))
_BURST: Final = 1000
_PATH: Final = "/api/webhooks/firecrawl"
_SAMPLES: Final = "INGEST_FIRECRAWL_SAMPLES"
_OPEN_EVENTS: Final = "select count(*) from rag.webhook_events where processed_at is null"


@pytest.fixture
def firecrawl() -> Iterator[FirecrawlServer]:
    with firecrawl_server() as server:
        yield server


def _settings(firecrawl: FirecrawlServer) -> dict[str, str]:
    return {
        **firecrawl.env(),
        "INGEST_CRAWL_POLL": "0.5",
        "INGEST_CRAWL_SILENCE": "5",
        "INGEST_RESCRAPE": "off",
    }


def _crawl(api: Service, url: str) -> str:
    """Begin the crawl of a site; the id of its source."""
    answer = api.http.post("/upload/url", json={"url": url, "crawlLinks": True})
    assert answer.status_code == 202, answer.text
    return str(answer.json()["knowledgeSourceId"])


def test_random_firecrawl_faults_never_end_a_crawl_wrongly(
    database: Database, start: Callable[..., Service], firecrawl: FirecrawlServer
) -> None:
    sites = [RandomSite(seed) for seed in range(_CRAWLS)]
    firecrawl.sites = {site.url: site.pages for site in sites}
    firecrawl.behaviours = {site.url: site.behaviour for site in sites}
    api = start("api", **_settings(firecrawl)).wait_until_ready()
    for _ in range(2):
        start("worker", **_settings(firecrawl), INGEST_PUBLIC_URL=api.url)

    sources = {site: _crawl(api, site.url) for site in sites}
    api.wait_until_terminal(database.default_application())
    firecrawl.settle()
    until(lambda: database.count(_OPEN_EVENTS) == 0)

    found: dict[str, dict[str, str]] = {source: {} for source in sources.values()}
    for source, uri, text in database.rows(
        "select source_id::text, uri, text from rag.documents where deleted_at is null"
    ):
        found[source][uri] = text
    for site, source in sources.items():
        state, view = firecrawl.crawl_of(site.url).state, api.source(source)
        assert view["status"] in site.statuses(state), (site.seed, site.behaviour, view)
        assert found[source].items() <= site.documents.items(), (site.seed, site.behaviour)
        if site.behaviour.ends_whole:
            assert found[source] == site.documents, (site.seed, site.behaviour)
    # Each was started once, and every event that came was answered and understood.
    assert set(Counter(crawl.url for crawl in firecrawl.crawls).values()) == {1}
    assert {delivery.status for delivery in firecrawl.deliveries} == {200}
    verdicts = dict(
        database.rows("select coalesce(error, 'done'), count(*) from rag.webhook_events group by 1")
    )
    assert set(verdicts) <= {"done", "the run accepts no more pages"}


def test_no_event_that_was_answered_is_lost_when_the_api_is_killed_in_a_burst(
    database: Database, start: Callable[..., Service]
) -> None:
    api = start("api", FIRECRAWL_WEBHOOK_SECRET=SECRET).wait_until_ready()
    kept_at_a_kill = []

    with (
        httpx.Client(timeout=PATIENCE, trust_env=False) as client,
        ThreadPoolExecutor(16) as senders,
    ):
        send = partial(_send_until_taken, client, api.url)
        sending = [senders.submit(send, _event(number)) for number in range(_BURST)]
        for share in (0.2, 0.4, 0.6):
            until(partial(_are_done, sending, int(share * _BURST)), every=0.005)
            api.kill()
            taken = [sent.result() for sent in sending if sent.done()]
            kept_at_a_kill.append(set(taken) <= _kept(database).keys())
            api.restart()
            api.wait_until_ready()
    kept = _kept(database)

    assert kept_at_a_kill == [True, True, True]
    assert kept.keys() == {sent.result() for sent in sending}
    files = {f"{path.parent.name}/{path.name}" for path in (api.data / "blobs").glob("*-*/*")}
    large = {key for key in kept.values() if key is not None}
    assert len(large) == _BURST / 50
    assert large <= files


@pytest.mark.skipif(_SAMPLES not in os.environ, reason=f"{_SAMPLES} names no folder")
def test_captured_webhook_deliveries_are_accepted(
    database: Database, start: Callable[..., Service], firecrawl: FirecrawlServer
) -> None:
    """Each file of the folder: `body_base64`, `secret` and `signature` of one delivery."""
    samples = [json.loads(path.read_text()) for path in sorted(_samples().glob("*.json"))]
    bodies = [base64.b64decode(sample["body_base64"]) for sample in samples]
    secrets = {sample["secret"] for sample in samples if sample["secret"]}
    site = "https://example.com/"
    firecrawl.behaviours[site] = Behaviour(stuck=True, silent=True)
    settings = {
        **_settings(firecrawl),
        "INGEST_CRAWL_POLL": "60",
        "INGEST_CRAWL_SILENCE": "600",
        "FIRECRAWL_WEBHOOK_SECRET": ",".join(sorted(secrets)),
    }
    service = start("serve", **settings).wait_until_ready()
    source = _crawl(service, site)
    until(lambda: firecrawl.crawls)
    until(
        lambda: database.count(
            "select count(*) from rag.crawls where provider_active_at is not null"
        )
    )
    [crawl_id] = {id for body in bodies if (id := _crawl_id(body, "crawl."))}
    database.rows("update rag.crawls set provider_crawl_id = %s returning 1", crawl_id)

    answers = [
        _post(service.http, service.url, body, (sample["signature"] or "").encode())
        for sample, body in zip(samples, bodies, strict=True)
        for _ in range(2)  # every delivery may come twice
    ]
    until(lambda: database.count(_OPEN_EVENTS) == 0)
    pages = list(service.pages(f"/api/knowledge-sources/{source}/pages"))

    assert answers == [200 if sample["signature"] else 401 for sample in samples for _ in range(2)]
    verdicts = dict(
        database.rows(
            "select provider_crawl_id, string_agg(distinct error, '; ') "
            "from rag.webhook_events group by 1"
        )
    )
    assert verdicts[crawl_id] is None
    assert set(verdicts.values()) <= {None, "unknown crawl"}
    assert {page["uri"] for page in pages} == _addresses(samples, bodies, crawl_id)


def _send_until_taken(client: httpx.Client, url: str, body: bytes) -> bytes:
    """Send it as often as it takes; its digest."""
    signed = signature(body, SECRET.encode())
    while True:
        with suppress(httpx.TransportError):
            if _post(client, url, body, signed) == 200:
                return hashlib.sha256(body).digest()
        time.sleep(0.3)  # a start takes seconds, and refused connections take its CPU


def _kept(database: Database) -> dict[bytes, str | None]:
    """Blob key, or None, by digest of what is in the inbox."""
    rows = database.rows("select dedupe_key, blob_key from rag.webhook_events")
    return {bytes(digest): key for digest, key in rows}


def _are_done(futures: Sequence[Future[bytes]], count: int) -> bool:
    return sum(map(Future.done, futures)) >= count


def _post(client: httpx.Client, url: str, body: bytes, signed: bytes) -> int:
    headers = [(b"content-type", b"application/json"), (b"x-firecrawl-signature", signed)]
    return client.post(url + _PATH, content=body, headers=headers).status_code


def _event(number: int) -> bytes:
    text = f"# Page {number}" + " and so on" * (40_000 if number % 50 == 0 else 10)
    page = document(f"https://burst.test/{number}", text)
    return event("crawl.page", id="burst", data=[page])


def _samples() -> Path:
    return Path(os.environ[_SAMPLES])


def _crawl_id(body: bytes, type: str) -> str | None:
    said = json.loads(body)
    return said["id"] if said["type"].startswith(type) else None


def _addresses(samples: Sequence[Any], bodies: Sequence[bytes], crawl_id: str) -> set[str]:
    """Normalised addresses of the signed pages of one crawl, apart from lost races."""
    found = set()
    for sample, body in zip(samples, bodies, strict=True):
        said = json.loads(body)
        if sample["signature"] and said["id"] == crawl_id and "raced" not in sample["name"]:
            for page in said["data"]:
                metadata = page["metadata"]
                found.add((metadata.get("url") or metadata["sourceURL"]).rstrip("/"))
    return found
