"""The guarded POST: the walls of the fetch, no redirects, and an answer that is only glanced at."""

import asyncio
from datetime import timedelta

import pytest

from harness.patience import PATIENCE
from ingest.errors import Permanent, Transient
from ingest.providers.fetch.fetcher import Fetcher, Posted
from tests.servers.web_server import Request, redirect, response, web_server
from tests.support.fetchers import LOCAL, Names, fetcher


async def post(fetch: Fetcher, url: str, *, seconds: float = PATIENCE) -> Posted:
    return await fetch.post(
        url,
        content=b"the body",
        headers={"Content-Type": "text/plain", "Webhook-Id": "7", "Host": "other.test"},
        within=timedelta(seconds=seconds),
        max_bytes=10,
    )


async def test_the_body_arrives_with_its_headers_and_the_answer_is_cut() -> None:
    answer = response(b"0123456789 and more", headers={"Retry-After": "7"}, status=503)
    async with web_server({"/hook": answer}) as web, fetcher() as fetch:
        posted = await post(fetch, web.url("/hook"))

    [request] = web.requests
    assert request.body == b"the body"
    assert (request.headers["content-type"], request.headers["webhook-id"]) == ("text/plain", "7")
    assert request.headers["host"] == f"127.0.0.1:{web.port}"
    assert request.headers["user-agent"] == "tests"
    assert (posted.status, posted.beginning) == (503, b"0123456789")
    assert posted.headers["retry-after"] == "7"


async def test_a_redirect_is_an_answer_and_is_not_followed() -> None:
    async with web_server({"/hook": redirect("/elsewhere")}) as web, fetcher() as fetch:
        posted = await post(fetch, web.url("/hook"))

    assert posted.status == 302
    assert web.paths == ["/hook"]


@pytest.mark.parametrize("url", ["http://127.0.0.1/", "http://[::ffff:10.0.0.1]/", "ftp://x.test"])
async def test_a_private_address_is_refused(url: str) -> None:
    async with fetcher(allow=()) as fetch:
        with pytest.raises(Permanent) as caught:
            await post(fetch, url)

    assert caught.value.code == "fetch_blocked"


async def test_host_resolving_to_a_private_address_is_refused_at_connect() -> None:
    names = Names(hook_test=[["127.0.0.1"]])
    async with web_server() as web, fetcher(allow=(), names=names) as fetch:
        with pytest.raises(Permanent, match="not public"):
            await post(fetch, web.url("/", host="hook.test"))

    assert web.connections == 0


async def test_every_post_has_a_connection_of_its_own_that_ends_with_it() -> None:
    async with web_server({"/hook": response(b"ok")}) as web, fetcher() as fetch:
        for _ in range(2):
            await post(fetch, web.url("/hook"))
        await web.until(lambda: web.open == 0)

    assert web.connections == 2


async def test_a_receiver_that_never_answers_is_given_up() -> None:
    async def silence(request: Request, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(60)

    async with web_server({"/hook": silence}) as web, fetcher(allow=LOCAL) as fetch:
        with pytest.raises(Transient, match="not complete"):
            await post(fetch, web.url("/hook"), seconds=0.2)


async def test_the_status_counts_even_if_the_answer_breaks_off() -> None:
    async def break_off(request: Request, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nok")

    async with web_server({"/hook": break_off}) as web, fetcher() as fetch:
        posted = await post(fetch, web.url("/hook"))

    assert (posted.status, posted.beginning) == (200, b"ok")
