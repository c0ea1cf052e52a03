"""Bodies: any size, any compression, any framing; the file never grows beyond the limit."""

import asyncio
import gzip
import hashlib
import os
import zlib
from pathlib import Path

import pytest

from ingest.errors import Permanent, Transient
from ingest.providers.fetch.body import BodyWriter
from tests.servers.web_server import Behaviour, Request, response, web_server
from tests.support.fetchers import MIB, fetcher

TEXT = b"All work and no play makes Jack a dull boy. " * 20_000  # 880 kB


def raw_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packer.compress(data) + packer.flush()


def encoded(body: bytes, coding: str) -> bytes:
    return response(body, headers={"Content-Encoding": coding})


@pytest.mark.parametrize(
    "answer",
    [
        response(TEXT),
        encoded(gzip.compress(TEXT), "gzip"),
        encoded(gzip.compress(TEXT), " X-GZIP "),
        encoded(gzip.compress(TEXT), "identity, gzip"),
        encoded(gzip.compress(TEXT[:99]) + gzip.compress(TEXT[99:]), "gzip"),
        encoded(gzip.compress(TEXT) + bytes(512), "gzip"),
        encoded(zlib.compress(TEXT), "deflate"),
        encoded(raw_deflate(TEXT), "deflate"),
        encoded(TEXT, "identity"),
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        + b"".join(
            b"%x\r\n%b\r\n" % (len(part), part)
            for part in (TEXT[:1], TEXT[1:70_000], TEXT[70_000:], b"")
        ),
    ],
)
async def test_a_body_is_written_decoded_with_its_size_and_hash(
    tmp_path: Path, answer: bytes
) -> None:
    async with web_server({"/": answer}) as web, fetcher() as fetch:
        fetched = await fetch.get(web.url("/"), into=tmp_path / "page")

    assert (tmp_path / "page").read_bytes() == TEXT
    assert fetched.size == len(TEXT)
    assert fetched.sha256 == hashlib.sha256(TEXT).digest()


@pytest.mark.parametrize("coding", ["", "gzip", "deflate"])
async def test_an_empty_body_is_an_empty_file(tmp_path: Path, coding: str) -> None:
    (tmp_path / "page").write_bytes(b"of another time")
    async with web_server({"/": encoded(b"", coding)}) as web, fetcher() as fetch:
        fetched = await fetch.get(web.url("/"), into=tmp_path / "page")

    assert (tmp_path / "page").read_bytes() == b""
    assert fetched.sha256 == hashlib.sha256().digest()


async def test_a_body_of_exactly_the_limit_is_not_too_large(tmp_path: Path) -> None:
    async with web_server({"/": response(bytes(MIB))}) as web, fetcher() as fetch:
        fetched = await fetch.get(web.url("/"), into=tmp_path / "page")

    assert fetched.size == MIB


async def test_decoder_is_flushed_at_the_end_of_the_body(tmp_path: Path) -> None:
    data = bytes(MIB + 8)  # zlib returns a mebibyte, has read everything and owes eight bytes
    answer = encoded(raw_deflate(data), "deflate")
    async with web_server({"/": answer}) as web, fetcher(max_bytes=2 * MIB) as fetch:
        fetched = await fetch.get(web.url("/"), into=tmp_path / "page")

    assert fetched.size == len(data)


async def endless(request: Request, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n")
    for _ in range(160):  # 10 MB
        writer.write(bytes(64 * 1024))
        await writer.drain()


async def endless_behind_gzip(request: Request, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n" + gzip.compress(b"page"))
    for _ in range(160):
        writer.write(bytes(64 * 1024))
        await writer.drain()


@pytest.mark.parametrize("answer", [endless, endless_behind_gzip])
async def test_a_page_that_announces_no_length_is_cut_off_at_the_limit(
    tmp_path: Path, answer: Behaviour
) -> None:
    async with web_server({"/": answer}) as web, fetcher() as fetch:
        with pytest.raises(Permanent) as caught:
            await fetch.get(web.url("/"), into=tmp_path / "page")
        await web.until(lambda: web.open == 0)

    assert caught.value.code == "too_large"
    assert (tmp_path / "page").stat().st_size <= MIB


async def test_a_page_that_announces_too_much_is_not_read(tmp_path: Path) -> None:
    async def announce(request: Request, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1048577\r\n\r\n")
        await writer.drain()
        await asyncio.sleep(60)

    async with web_server({"/": announce}) as web, fetcher() as fetch:
        with pytest.raises(Permanent) as caught:
            await fetch.get(web.url("/"), into=tmp_path / "page")

    assert caught.value.code == "too_large"


async def test_a_call_can_lower_the_limit_and_not_raise_it(tmp_path: Path) -> None:
    answers = {"/small": response(bytes(2000)), "/large": response(bytes(MIB + 1))}
    async with web_server(answers) as web, fetcher() as fetch:
        with pytest.raises(Permanent, match="1999 bytes"):
            await fetch.get(web.url("/small"), into=tmp_path / "page", max_bytes=1999)
        with pytest.raises(Permanent, match=f"{MIB} bytes"):
            await fetch.get(web.url("/large"), into=tmp_path / "page", max_bytes=10 * MIB)


@pytest.mark.parametrize(
    "bomb",
    [
        encoded(gzip.compress(bytes(32 * MIB), 9), "gzip"),
        encoded(zlib.compress(bytes(32 * MIB), 9), "deflate"),
        encoded(gzip.compress(bytes(1000)) * 9000, "gzip"),
    ],
    ids=["gzip", "deflate", "many members"],
)
async def test_a_decompression_bomb_stops_at_the_limit(tmp_path: Path, bomb: bytes) -> None:
    assert len(bomb) < MIB
    async with web_server({"/": bomb}) as web, fetcher() as fetch:
        with pytest.raises(Permanent) as caught:
            await fetch.get(web.url("/"), into=tmp_path / "page")

    assert caught.value.code == "too_large"
    assert (tmp_path / "page").stat().st_size <= MIB


@pytest.mark.parametrize(
    "answer",
    [
        encoded(gzip.compress(TEXT)[:-9], "gzip"),
        encoded(gzip.compress(TEXT)[:-8] + b"12345678", "gzip"),
        encoded(TEXT, "gzip"),
        encoded(b"\x78", "deflate"),
        encoded(zlib.compress(TEXT)[:500], "deflate"),
    ],
    ids=["cut off", "wrong checksum", "not compressed", "one byte", "deflate cut off"],
)
async def test_broken_compression_is_transient(tmp_path: Path, answer: bytes) -> None:
    async with web_server({"/": answer}) as web, fetcher() as fetch:
        with pytest.raises(Transient, match="compressed") as caught:
            await fetch.get(web.url("/"), into=tmp_path / "page")

    assert caught.value.code == "fetch_failed"


@pytest.mark.parametrize(
    "answer",
    [
        encoded(b"x", "br"),
        encoded(gzip.compress(gzip.compress(b"x")), "gzip, gzip"),
        encoded(gzip.compress(b"") * 10_001, "gzip"),
    ],
    ids=["unknown", "twice", "in ten thousand pieces"],
)
async def test_unrequested_content_encoding_is_refused(tmp_path: Path, answer: bytes) -> None:
    async with web_server({"/": answer}) as web, fetcher() as fetch:
        with pytest.raises(Permanent) as caught:
            await fetch.get(web.url("/"), into=tmp_path / "page")

    assert caught.value.code == "fetch_failed"


@pytest.mark.parametrize(
    "cut",
    [
        b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly this",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Len",
        b"",
        b"SSH-2.0-OpenSSH_9.2\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!",
        b"HTTP/1.1 200 OK\r\nX: " + 200_000 * b"x" + b"\r\n\r\n",
    ],
    ids=["length", "chunked", "head", "nothing", "SSH", "chunk size", "two lengths", "huge head"],
)
async def test_truncated_or_invalid_http_answer_is_refused(tmp_path: Path, cut: bytes) -> None:
    async def end_early(request: Request, writer: asyncio.StreamWriter) -> None:
        writer.write(cut)
        await writer.drain()

    async with web_server({"/": end_early}) as web, fetcher() as fetch:
        with pytest.raises(Transient) as caught:
            await fetch.get(web.url("/"), into=tmp_path / "page")

    assert caught.value.code == "fetch_failed"


async def test_headers_of_any_bytes_are_kept(tmp_path: Path) -> None:
    answer = (
        b"HTTP/1.1 200 \xfc\r\nContent-Length: 2\r\nX-Name: M\xfcller \xff\r\nX-NAME: \x01\r\n"
        b"Set-Cookie: a=1\r\nSet-Cookie: b=2\r\nEmpty:\r\n\r\nok"
    )
    async with web_server({"/": answer}) as web, fetcher() as fetch:
        fetched = await fetch.get(web.url("/"), into=tmp_path / "page")

    assert fetched.headers["x-name"] == "M\xfcller \xff, \x01"
    assert fetched.headers["set-cookie"] == "a=1, b=2"
    assert fetched.headers["empty"] == ""


@pytest.mark.parametrize("status", [404, 410, 429, 500, 503])
async def test_any_status_is_returned_and_its_body_is_not_written(
    tmp_path: Path, status: int
) -> None:
    answer = response(b"no", status=status, headers={"Retry-After": "7"})
    async with web_server({"/": answer}) as web, fetcher() as fetch:
        fetched = await fetch.get(web.url("/"), into=tmp_path / "page")

    assert fetched.status == status
    assert fetched.headers["retry-after"] == "7"
    assert (tmp_path / "page").read_bytes() == b""


async def test_local_write_error_is_not_reported_as_site_error(
    tmp_path: Path,
) -> None:
    async with web_server({"/": response(TEXT)}) as web, fetcher() as fetch:
        with pytest.raises(FileNotFoundError):
            await fetch.get(web.url("/"), into=tmp_path / "missing" / "page")


async def test_cancelled_write_closes_the_file_before_the_cancellation_returns(
    tmp_path: Path,
) -> None:
    os.mkfifo(tmp_path / "page")  # opening it blocks until somebody reads
    writing = asyncio.create_task(BodyWriter(tmp_path / "page", coding="", cap=MIB).finish())
    await asyncio.sleep(0)
    writing.cancel()
    for _ in range(50):
        await asyncio.sleep(0)
    done_while_writing = writing.done()
    await asyncio.to_thread((tmp_path / "page").read_bytes)
    await asyncio.wait([writing])

    assert not done_while_writing
    assert writing.cancelled()
