"""Connections: kept when they can be, closed whatever happens, never held for long; TLS."""

import asyncio
import socket
import ssl
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from harness.patience import PATIENCE
from ingest.errors import Transient
from ingest.providers.fetch import connect
from ingest.providers.fetch.fetcher import Fetcher
from tests.servers.web_server import Request, redirect, response, web_server
from tests.support.fetchers import MIB, Names, fetcher
from tests.support.movable_clock import MovableClock

HEAD = b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n"


async def drip(request: Request, writer: asyncio.StreamWriter) -> None:
    """Sends a byte now and then, for ever."""
    status = b"404 Not Found" if request.path == "/missing" else b"200 OK"
    writer.write(HEAD.replace(b"200 OK", status))
    while True:
        writer.write(b"x")
        await writer.drain()
        await asyncio.sleep(0.01)


async def test_one_connection_serves_many_requests_of_an_origin(tmp_path: Path) -> None:
    answers = {"/a": response(b"a"), "/b": redirect("/a"), "/c": response(b"c", status=500)}
    async with web_server(answers) as web, fetcher() as fetch:
        for path in ("/a", "/b", "/c", "/missing", "/a"):
            await fetch.get(web.url(path), into=tmp_path / "page")

    assert web.connections == 1
    assert len(web.requests) == 6


async def test_closed_keep_alive_connection_causes_no_failure(
    tmp_path: Path,
) -> None:
    async def once(request: Request, writer: asyncio.StreamWriter) -> None:
        writer.write(response(b"once"))  # and closes, without having said so
        await writer.drain()

    async with web_server({"/": once}) as web, fetcher() as fetch:
        for _ in range(5):
            fetched = await fetch.get(web.url("/"), into=tmp_path / "page")
            assert fetched.status == 200

    assert web.connections == 5


async def test_a_server_that_ends_kept_connections_instead_of_answering_is_asked_again(
    tmp_path: Path,
) -> None:
    async def hang_up(request: Request, writer: asyncio.StreamWriter) -> None:
        if len(web.requests) > 2:
            writer.write(response(b"at last"))

    async with web_server({"/": response(b"x"), "/tired": hang_up}) as web, fetcher() as fetch:
        await fetch.get(web.url("/"), into=tmp_path / "page")
        fetched = await fetch.get(web.url("/tired"), into=tmp_path / "page")

    assert fetched.size == len(b"at last")
    assert web.paths == ["/", "/tired", "/tired"]


async def test_closing_the_fetcher_closes_what_it_kept(tmp_path: Path) -> None:
    async with web_server({"/": response(b"x")}) as web:
        async with fetcher() as fetch:
            await fetch.get(web.url("/"), into=tmp_path / "page")
            assert web.open == 1
        await web.until(lambda: web.open == 0)


async def test_slow_dripping_server_is_disconnected(tmp_path: Path) -> None:
    async with web_server({"/": drip}) as web, fetcher(seconds=0.2) as fetch:
        with pytest.raises(Transient, match=r"not complete after 0\.2 seconds") as caught:
            await fetch.get(web.url("/"), into=tmp_path / "page")
        await web.until(lambda: web.open == 0)

    assert caught.value.code == "fetch_failed"


async def test_a_server_that_never_answers_and_a_dns_that_never_does_are_given_up(
    tmp_path: Path,
) -> None:
    async def silence(request: Request, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(60)

    async def no_answer(host: str, port: int) -> list[str]:
        await asyncio.sleep(60)
        return []

    slow = Fetcher(
        user_agent="tests", timeout=timedelta(seconds=0.1), max_bytes=MIB, _resolve=no_answer
    )
    async with web_server({"/": silence}) as web, fetcher(seconds=0.2) as fetch:
        with pytest.raises(Transient, match="not complete"):
            await fetch.get(web.url("/"), into=tmp_path / "page")
    with pytest.raises(Transient, match="not complete"):
        await slow.get("http://site.test/", into=tmp_path / "page")
    await slow.close()


async def test_the_time_covers_all_hops_together(
    tmp_path: Path, movable_clock: MovableClock
) -> None:
    async def late(request: Request, writer: asyncio.StreamWriter) -> None:
        movable_clock.forward(0.4 * PATIENCE)
        writer.write(redirect(request.path + "x"))

    answers = {"/" + "x" * n: late for n in range(20)}
    async with web_server(answers) as web, fetcher(seconds=PATIENCE) as fetch:
        with pytest.raises(Transient, match="not complete"):
            await fetch.get(web.url("/"), into=tmp_path / "page", max_hops=20)


async def test_redirect_callback_time_is_not_counted(
    tmp_path: Path, movable_clock: MovableClock
) -> None:
    async def robots(url: str) -> None:
        movable_clock.forward(2 * PATIENCE)

    answers = {"/": redirect("/end"), "/end": response(b"x")}
    async with web_server(answers) as web, fetcher(seconds=PATIENCE) as fetch:
        fetched = await fetch.get(web.url("/"), into=tmp_path / "page", on_hop=robots)

    assert fetched.status == 200


async def test_the_body_of_an_error_is_not_waited_for(tmp_path: Path) -> None:
    async with web_server({"/missing": drip}) as web, fetcher() as fetch:
        fetched = await fetch.get(web.url("/missing"), into=tmp_path / "page")
        await web.until(lambda: web.open == 0)

    assert fetched.status == 404


async def test_a_cancelled_fetch_closes_its_connection(tmp_path: Path) -> None:
    async with web_server({"/": drip}) as web, fetcher() as fetch:
        task = asyncio.create_task(fetch.get(web.url("/"), into=tmp_path / "page"))
        await web.until(lambda: len(web.requests) == 1)
        task.cancel()
        await asyncio.wait([task])
        await web.until(lambda: web.open == 0)

    assert task.cancelled()


async def test_fetches_cancelled_at_any_moment_leave_nothing_open_and_nothing_used_up(
    tmp_path: Path,
) -> None:
    async with web_server({"/": redirect("/end"), "/end": response(bytes(99))}) as web:
        async with fetcher() as fetch:
            for moment in range(120):
                task = asyncio.create_task(fetch.get(web.url("/"), into=tmp_path / "page"))
                for _ in range(moment % 60):
                    await asyncio.sleep(0)
                task.cancel()
                with suppress(asyncio.CancelledError):
                    await task
            fetched = await fetch.get(web.url("/"), into=tmp_path / "page")
        await web.until(lambda: web.open == 0)

    assert fetched.size == 99


async def test_a_closed_port_and_an_unknown_name_may_work_next_time(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        async with fetcher() as fetch:
            with pytest.raises(Transient, match="refuses connections") as refused:
                await fetch.get(f"http://127.0.0.1:{port}/", into=tmp_path / "page")
            with pytest.raises(Transient, match="cannot be resolved") as unknown:
                await fetch.get("http://site.test/", into=tmp_path / "page")

    assert (refused.value.code, unknown.value.code) == ("fetch_failed", "fetch_failed")


async def test_an_address_that_refuses_is_followed_by_the_next_one(tmp_path: Path) -> None:
    names = Names(site_test=[["127.0.0.3", "127.0.0.1"]])
    async with web_server({"/": response(b"x")}) as web, fetcher(names=names) as fetch:
        fetched = await fetch.get(web.url("/", host="site.test"), into=tmp_path / "page")

    assert fetched.status == 200


async def test_the_machines_own_resolver_is_asked_and_checked(tmp_path: Path) -> None:
    twenty = timedelta(seconds=20)
    made = Fetcher(allow=["localhost"], user_agent="tests", timeout=twenty, max_bytes=MIB)
    async with web_server({"/": response(b"x")}) as web:
        fetched = await made.get(web.url("/", host="localhost"), into=tmp_path / "page")
        await made.close()

    assert fetched.status == 200


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Key and self-signed certificate of site.test, in one file."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "site.test")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("site.test")]), critical=False)
        .sign(key, hashes.SHA256())
    )
    path = tmp_path_factory.mktemp("tls") / "site.pem"
    private = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    path.write_bytes(private + made.public_bytes(serialization.Encoding.PEM))
    return path


def tls(certificate: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    return context


async def test_tls_is_for_the_name_of_the_url_at_the_address_that_was_checked(
    tmp_path: Path, certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    monkeypatch.setattr(connect, "tls_context", connect.tls_context.__wrapped__)
    asked: list[str | None] = []
    server = tls(certificate)
    server.sni_callback = lambda _socket, name, _context: asked.append(name)
    names = Names(site_test=[["127.0.0.1"]], other_test=[["127.0.0.1"]])
    async with (
        web_server({"/": response(b"safe")}, tls=server) as web,
        fetcher(names=names) as fetch,
    ):
        url = web.url("/", host="site.test", scheme="https")
        for _ in range(2):
            fetched = await fetch.get(url, into=tmp_path / "page")
        with pytest.raises(Transient, match="certificate is not valid"):
            await fetch.get(url.replace("site", "other"), into=tmp_path / "page")

    assert fetched.size == len(b"safe")
    assert asked == ["site.test", "other.test"]


async def test_untrusted_certificate_is_refused(tmp_path: Path, certificate: Path) -> None:
    names = Names(site_test=[["127.0.0.1"]])
    async with (
        web_server({"/": response(b"x")}, tls=tls(certificate)) as web,
        fetcher(names=names) as fetch,
    ):
        with pytest.raises(Transient, match="certificate is not valid") as caught:
            await fetch.get(web.url("/", host="site.test", scheme="https"), into=tmp_path / "p")
        await web.until(lambda: web.open == 0)

    assert caught.value.code == "fetch_failed"
    assert web.requests == []


async def test_a_server_that_speaks_no_tls_fails_an_https_url(tmp_path: Path) -> None:
    async def greet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"220 mail.test ESMTP\r\n")
        writer.close()

    server = await asyncio.start_server(greet, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with server, fetcher() as fetch:
        with pytest.raises(Transient, match="TLS connection to"):
            await fetch.get(f"https://127.0.0.1:{port}/", into=tmp_path / "page")
