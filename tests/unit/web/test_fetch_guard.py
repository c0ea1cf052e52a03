"""No request reaches an address that was not checked: by name, by redirect, by changing answers."""

from pathlib import Path

import pytest

from ingest.errors import Permanent
from tests.servers.web_server import redirect, response, web_server
from tests.support.fetchers import LOCAL, Names, fetcher

PUBLIC = "127.0.0.2"  # plays a public address: the tests allow it, and 127.0.0.1 not


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "::1",
        "172.20.0.1",
        "10.0.0.1",
        "100.64.0.1",
        "169.254.169.254",
        "::ffff:10.0.0.1",
        "64:ff9b::7f00:1",
        "fe80::1%eth0",
        "fd00:ec2::254",
        "0.0.0.0",
        "224.0.0.1",
    ],
)
async def test_a_name_with_a_private_address_is_refused(tmp_path: Path, address: str) -> None:
    names = Names(site_test=[[address]])
    async with web_server() as web, fetcher(allow=(), names=names) as fetch:
        with pytest.raises(Permanent) as caught:
            await fetch.get(web.url("/", host="site.test"), into=tmp_path / "page")

    assert caught.value.code == "fetch_blocked"
    assert address not in str(caught.value)
    assert web.connections == 0


async def test_one_private_address_among_public_ones_is_enough_to_refuse(tmp_path: Path) -> None:
    names = Names(site_test=[[PUBLIC, "127.0.0.1"]])
    async with (
        web_server() as inside,
        web_server(host=PUBLIC, port=inside.port) as outside,
        fetcher(allow=[PUBLIC], names=names) as fetch,
    ):
        with pytest.raises(Permanent) as caught:
            await fetch.get(inside.url("/", host="site.test"), into=tmp_path / "page")

    assert caught.value.code == "fetch_blocked"
    assert (inside.connections, outside.connections) == (0, 0)


async def test_a_name_is_resolved_once_and_what_was_checked_is_connected_to(
    tmp_path: Path,
) -> None:
    names = Names(site_test=[[PUBLIC], ["127.0.0.1"]])
    async with (
        web_server({"/": response(b"inside")}) as inside,
        web_server({"/": response(b"outside")}, host=PUBLIC, port=inside.port),
        fetcher(allow=[PUBLIC], names=names) as fetch,
    ):
        await fetch.get(inside.url("/", host="site.test"), into=tmp_path / "page")

    assert (tmp_path / "page").read_bytes() == b"outside"
    assert names.asked == ["site.test"]
    assert inside.connections == 0


async def test_a_name_that_turns_private_at_the_next_hop_is_refused_there(tmp_path: Path) -> None:
    names = Names(site_test=[[PUBLIC], ["127.0.0.1"]])
    closing = response(status=302, headers={"Location": "/secret", "Connection": "close"})
    async with (
        web_server({"/secret": response(b"inside")}) as inside,
        web_server({"/": closing}, host=PUBLIC, port=inside.port) as outside,
        fetcher(allow=[PUBLIC], names=names) as fetch,
    ):
        with pytest.raises(Permanent) as caught:
            await fetch.get(inside.url("/", host="site.test"), into=tmp_path / "page")

    assert caught.value.code == "fetch_blocked"
    assert outside.paths == ["/"]
    assert inside.connections == 0


@pytest.mark.parametrize(
    "location",
    [
        "http://169.254.169.254/latest/meta-data/",
        "//169.254.169.254/",
        "http://10.0.0.1/",
        "http://2130706433/",
        "http://[::ffff:10.0.0.1]/",
        "http://me:secret@127.0.0.1/",
        "http://inside.test/",
        "file:///etc/passwd",
        "http://[::1/",
    ],
)
async def test_a_redirect_to_a_refused_place_is_not_followed(tmp_path: Path, location: str) -> None:
    asked: list[str] = []

    async def on_hop(url: str) -> None:
        asked.append(url)

    names = Names(inside_test=[["10.0.0.1"]])
    async with web_server({"/": redirect(location)}) as web, fetcher(names=names) as fetch:
        with pytest.raises(Permanent) as caught:
            await fetch.get(web.url("/"), into=tmp_path / "page", on_hop=on_hop)

    assert caught.value.code == "fetch_blocked"
    assert asked in ([], ["http://inside.test/"])
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    "allow", ["127.0.0.1", "127.0.0.0/8", "wiki.intra.test", ".intra.test", "WIKI.intra.test"]
)
async def test_the_operator_may_open_a_private_network_or_host(tmp_path: Path, allow: str) -> None:
    names = Names(wiki_intra_test=[["127.0.0.1"]])
    async with (
        web_server({"/": response(b"wiki")}) as web,
        fetcher(allow=[allow], names=names) as fetch,
    ):
        fetched = await fetch.get(web.url("/", host="wiki.intra.test"), into=tmp_path / "page")

    assert (tmp_path / "page").read_bytes() == b"wiki"
    assert web.requests[0].headers["host"] == f"wiki.intra.test:{web.port}"
    assert fetched.url == web.url("/", host="wiki.intra.test")


async def test_an_allowed_host_does_not_lead_to_the_metadata_address(tmp_path: Path) -> None:
    names = Names(wiki_intra_test=[["169.254.169.254"]])
    async with fetcher(allow=[".intra.test", "0.0.0.0/0"], names=names) as fetch:
        with pytest.raises(Permanent) as caught:
            await fetch.get("http://wiki.intra.test/", into=tmp_path / "page")

    assert caught.value.code == "fetch_blocked"


async def test_proxies_of_the_environment_get_no_request(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with web_server() as proxy, web_server({"/": response(b"direct")}) as web:
        for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY", "https_proxy"):
            monkeypatch.setenv(name, proxy.url("/"))
        async with fetcher(allow=LOCAL) as fetch:
            await fetch.get(web.url("/"), into=tmp_path / "page")

    assert (tmp_path / "page").read_bytes() == b"direct"
    assert proxy.connections == 0
