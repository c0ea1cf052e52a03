"""Redirects: followed by hand, a few of them, with nothing that was meant for somebody else."""

from pathlib import Path

import pytest

from ingest.errors import Permanent
from tests.servers.web_server import redirect, response, web_server
from tests.support.fetchers import Names, fetcher


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_redirect_is_followed_to_its_end(tmp_path: Path, status: int) -> None:
    answers = {"/a": redirect("b?x=1", status=status), "/b?x=1": response(b"here")}
    async with web_server(answers) as web, fetcher() as fetch:
        fetched = await fetch.get(web.url("/a#part"), into=tmp_path / "page")

    assert (tmp_path / "page").read_bytes() == b"here"
    assert fetched.url == web.url("/b?x=1")
    assert fetched.hops == (web.url("/a"),)


async def test_redirect_callback_runs_before_each_hop(tmp_path: Path) -> None:
    answers = {"/1": redirect("/2"), "/2": redirect("/3#x"), "/3": response(b"3")}
    asked: list[tuple[str, int]] = []
    async with web_server(answers) as web, fetcher() as fetch:

        async def on_hop(url: str) -> None:
            asked.append((url, len(web.requests)))

        fetched = await fetch.get(web.url("/1"), into=tmp_path / "page", on_hop=on_hop)

    assert asked == [(web.url("/2"), 1), (web.url("/3"), 2)]
    assert fetched.hops == (web.url("/1"), web.url("/2"))


async def test_redirect_callback_errors_pass_through(tmp_path: Path) -> None:
    async def on_hop(url: str) -> None:
        raise TimeoutError("of the caller")

    async with web_server({"/": redirect("/next")}) as web, fetcher() as fetch:
        with pytest.raises(TimeoutError, match="of the caller"):
            await fetch.get(web.url("/"), into=tmp_path / "page", on_hop=on_hop)

    assert web.paths == ["/"]


async def test_a_fetch_inside_a_hop_uses_the_connection_of_the_redirect(tmp_path: Path) -> None:
    answers = {"/": redirect("/next"), "/next": response(b"n"), "/robots.txt": response(b"r")}
    async with web_server(answers) as web, fetcher() as fetch:

        async def on_hop(url: str) -> None:
            await fetch.get(web.url("/robots.txt"), into=tmp_path / "robots")

        await fetch.get(web.url("/"), into=tmp_path / "page", on_hop=on_hop)

    assert web.paths == ["/", "/robots.txt", "/next"]
    assert web.connections == 1


@pytest.mark.parametrize(
    ("answers", "requests"),
    [
        ({"/": redirect("/")}, 1),
        ({"/": redirect("#top")}, 1),
        ({"/": redirect("/b"), "/b": redirect("/")}, 2),
        ({"/": redirect("/1")} | {f"/{n}": redirect(f"/{n + 1}") for n in range(1, 40)}, 4),
    ],
    ids=["itself", "its fragment", "circle", "endless"],
)
async def test_redirects_that_do_not_end_are_an_error(
    tmp_path: Path, answers: dict[str, bytes], requests: int
) -> None:
    async with web_server(answers) as web, fetcher() as fetch:
        with pytest.raises(Permanent) as caught:
            await fetch.get(web.url("/"), into=tmp_path / "page", max_hops=3)

    assert caught.value.code == "redirect_loop"
    assert len(web.requests) == requests


async def test_as_many_hops_as_allowed_are_followed(tmp_path: Path) -> None:
    answers = {f"/{n}": redirect(f"/{n + 1}") for n in range(5)}
    async with web_server({**answers, "/5": response(b"end")}) as web, fetcher() as fetch:
        fetched = await fetch.get(web.url("/0"), into=tmp_path / "page")

    assert len(fetched.hops) == 5
    assert fetched.size == 3


@pytest.mark.parametrize(
    "answer",
    [
        response(b"moved", status=301),
        response(status=304, headers={"ETag": '"v1"'}).replace(b"Content-Length: 0\r\n", b""),
        response(b"choose", status=300, headers={"Location": "/other"}),
    ],
)
async def test_redirect_without_location_is_returned(tmp_path: Path, answer: bytes) -> None:
    async with web_server({"/": answer}) as web, fetcher() as fetch:
        fetched = await fetch.get(web.url("/"), into=tmp_path / "page")

    assert str(fetched.status) in answer.decode()
    assert (fetched.size, fetched.hops) == (0, ())
    assert (tmp_path / "page").read_bytes() == b""


PRIVATE = {"If-None-Match": '"v1"', "Authorization": "Bearer x", "Cookie": "a=b", "X-Key": "k"}


async def test_another_origin_gets_no_header_that_was_not_meant_for_it(tmp_path: Path) -> None:
    async with web_server({"/": response(b"new")}) as other:
        answers = {"/": redirect("/here"), "/here": redirect(other.url("/"))}
        async with web_server(answers) as web, fetcher() as fetch:
            headers = {**PRIVATE, "Accept": "text/html"}
            await fetch.get(web.url("/"), into=tmp_path / "page", headers=headers)

    same, elsewhere = web.requests[1].headers, other.requests[0].headers
    assert {name.lower() for name in PRIVATE} <= same.keys()
    assert not {name.lower() for name in PRIVATE} & elsewhere.keys()
    assert elsewhere["accept"] == "text/html"


async def test_redirect_back_does_not_restore_stripped_headers(tmp_path: Path) -> None:
    async with (
        web_server({"/end": response(b"end")}) as web,
        web_server({"/": redirect(web.url("/end"))}) as other,
        fetcher() as fetch,
    ):
        web.answers["/"] = redirect(other.url("/"))
        await fetch.get(web.url("/"), into=tmp_path / "page", headers=PRIVATE)

    assert "authorization" in web.requests[0].headers
    assert "authorization" not in web.requests[1].headers


async def test_connection_headers_cannot_be_overridden(tmp_path: Path) -> None:
    async with web_server({"/": response(b"x")}) as web, fetcher() as fetch:
        headers = {"Host": "other.test", "Accept-Encoding": "br", "Connection": "close"}
        headers |= {"Content-Length": "5", "If-None-Match": 'W/"\xe4"'}
        await fetch.get(web.url("/"), into=tmp_path / "page", headers=headers)

    sent = web.requests[0].headers
    assert sent["host"] == f"127.0.0.1:{web.port}"
    assert sent["accept-encoding"] == "gzip, deflate"
    assert sent["if-none-match"] == 'W/"\xe4"'
    assert sent["user-agent"] == "tests"
    assert not {"connection", "content-length"} & sent.keys()


async def test_a_location_in_other_than_ascii_is_sent_encoded(tmp_path: Path) -> None:
    answers = {"/": redirect("/größe und mehr"), "/gr%C3%B6%C3%9Fe%20und%20mehr": response(b"x")}
    async with web_server(answers) as web, fetcher() as fetch:
        fetched = await fetch.get(web.url("/"), into=tmp_path / "page")

    assert fetched.status == 200
    assert fetched.url == web.url("/gr%C3%B6%C3%9Fe%20und%20mehr")


async def test_an_international_host_is_looked_up_by_its_ascii_name(tmp_path: Path) -> None:
    names = Names(**{"xn--bcher-kva_test": [["127.0.0.1"]]})
    async with web_server({"/": response(b"x")}) as web, fetcher(names=names) as fetch:
        fetched = await fetch.get(web.url("/", host="B\xdcCHER.test"), into=tmp_path / "page")

    assert fetched.url == web.url("/", host="xn--bcher-kva.test")
    assert web.requests[0].headers["host"] == f"xn--bcher-kva.test:{web.port}"
