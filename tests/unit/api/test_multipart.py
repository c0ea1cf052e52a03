"""The multipart reader: every way in which clients write a part, at every split of the bytes."""

from collections.abc import AsyncIterator, Iterable

import pytest

from api.problems import Malformed, UnsupportedMedia
from api.upload import multipart
from api.upload.multipart import PartEnd, PartHead

TYPE = "multipart/form-data; boundary=frontier"


async def read(*pieces: bytes, content_type: str = TYPE) -> list[tuple[PartHead, bytes]]:
    """Parts with their bytes; every part must have ended."""
    parts: list[tuple[PartHead, bytes]] = []
    is_open = False
    async for token in multipart.read(content_type, stream(pieces)):
        if isinstance(token, PartHead):
            assert not is_open
            parts.append((token, b""))
            is_open = True
        elif isinstance(token, PartEnd):
            is_open = False
        else:
            parts[-1] = (parts[-1][0], parts[-1][1] + token)
    assert not is_open
    return parts


async def stream(pieces: Iterable[bytes]) -> AsyncIterator[bytes]:
    for piece in pieces:
        yield piece


def body(disposition: str, data: bytes = b"x") -> bytes:
    head = f"--frontier\r\nContent-Disposition: {disposition}\r\n\r\n".encode()
    return head + data + b"\r\n--frontier--\r\n"


async def filename(disposition: str) -> bytes | None:
    ((part, _),) = await read(body(f'form-data; name="files"; {disposition}'))
    return part.filename


async def test_bytes_come_through_unchanged_at_every_split() -> None:
    data = b"\r\n--frontie\r\n--frontierx\r\n-- \r\n--"
    whole = body('form-data; name="files"; filename="a"', data)

    for split in range(len(whole)):
        ((part, got),) = await read(whole[:split], whole[split:])
        assert (part.name, part.filename, got) == ("files", b"a", data)


async def test_one_byte_at_a_time_is_enough() -> None:
    whole = body('form-data; name="files"; filename="a"', b"data")

    ((_, got),) = await read(*(whole[n : n + 1] for n in range(len(whole))))
    assert got == b"data"


@pytest.mark.parametrize(
    ("disposition", "expected"),
    [
        ('filename="a.txt"', b"a.txt"),
        ("filename=a.txt", b"a.txt"),
        ('FileName = "a.txt"', b"a.txt"),
        ('filename="grün/ñ.txt"', "grün/ñ.txt".encode()),
        # browsers
        ('filename="say %22hi%22.txt"', b'say "hi".txt'),
        ('filename="two%0D%0Alines"', b"two\r\nlines"),
        ('filename="100%25.txt"', b"100%25.txt"),
        ('filename="C:\\dir\\a.txt"', b"C:\\dir\\a.txt"),
        # older clients
        ('filename="say \\"hi\\".txt"', b'say "hi".txt'),
        ('filename="a;b=c.txt"', b"a;b=c.txt"),
        ('filename="dir\\"', b"dir\\"),
        # RFC 5987
        ("filename*=UTF-8''na%C3%AFve%20x.txt", "naïve x.txt".encode()),
        ("filename=\"x\"; filename*=utf-8'en'y%22%25.txt", b'y"%.txt'),
        ("filename*=iso-8859-1''na%EFve.txt", "naïve.txt".encode()),
        ('filename*=broken; filename="x"', b"x"),
        ('filename=""', b""),
        ("other=x", None),
    ],
)
async def test_file_name_is_read_in_every_notation(
    disposition: str, expected: bytes | None
) -> None:
    assert await filename(disposition) == expected


async def test_a_form_without_parts_is_empty() -> None:
    assert await read(b"--frontier--\r\n") == []


async def test_a_quoted_boundary_is_understood() -> None:
    parts = await read(
        body('form-data; name="a"'), content_type='Multipart/Form-Data; Boundary="frontier"'
    )

    assert len(parts) == 1


@pytest.mark.parametrize(
    "broken",
    [
        b"",
        b"no boundary at all",
        b'{"json": true}',
        body('form-data; name="files"; filename="a"')[:-6],
        body('form-data; name="files"; filename="a"')[:20],
        body("form-data"),
        body('attachment; name="files"'),
        b"--frontier\r\n\r\nno headers\r\n--frontier--\r\n",
        b"--frontier\r\nBad Header: x\r\n\r\nx\r\n--frontier--\r\n",
        b'--frontier\nContent-Disposition: form-data; name="a"\n\nx\n--frontier--\n',
        body('form-data; name="files"; filename="' + "x" * 70_000 + '"'),
        b"--frontier\r\n" + b"X-A: b\r\n" * 50 + b"\r\nx\r\n--frontier--\r\n",
    ],
)
async def test_invalid_multipart_is_refused_with_one_code(broken: bytes) -> None:
    with pytest.raises(Malformed) as caught:
        await read(broken)

    assert caught.value.code == "invalid_multipart"


@pytest.mark.parametrize(
    "content_type",
    [
        "multipart/form-data",
        "multipart/form-data; boundary=",
        f"multipart/form-data; boundary={'x' * 300}",
        "multipart/form-data; boundary=\u20ac",
    ],
)
async def test_a_content_type_without_a_usable_boundary_is_refused(content_type: str) -> None:
    with pytest.raises(Malformed):
        await read(b"--frontier--\r\n", content_type=content_type)


@pytest.mark.parametrize("content_type", ["", "application/json", "multipart/mixed; boundary=x"])
async def test_another_content_type_is_refused(content_type: str) -> None:
    with pytest.raises(UnsupportedMedia):
        await read(b"--frontier--\r\n", content_type=content_type)
