"""Encoded bytes make no chunks."""

import base64
import io
import json
import random

import pytest

from ingest.formats.encoded_data import without_encoded
from ingest.formats.registry import extract

BYTES = random.Random(1).randbytes(6000)
BASE64 = base64.b64encode(BYTES).decode()
URI = f"data:image/png;base64,{BASE64}"


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.html", f"<p>Before A duck</p><img src='{URI}'><p>After {URI}</p>"),
        ("a.md", f"Before\n\n![A duck]({URI})\n\nAfter\n"),
        ("a.json", json.dumps({"Before": "A duck", "icon": URI, "After": 1})),
        ("a.csv", f"Before,icon\nA duck,{URI}\nAfter,{URI}\n"),
        ("a.txt", f"Before A duck {URI} After"),
        ("b.txt", f"Before A duck\n{BASE64}\nAfter"),
        ("c.txt", f"Before A duck\n{base64.encodebytes(BYTES).decode()}\nAfter"),
        ("d.txt", f"Before A duck\n{BYTES.hex()}\nAfter"),
        ("e.css", f".Before {{ background: url({URI}) }} /* A duck After */"),
        ("f.xml", f"<a><Before>A duck</Before><icon>{BASE64}</icon><b>After</b></a>"),
    ],
)
def test_encoded_bytes_are_left_out(name: str, data: str) -> None:
    document = extract(io.BytesIO(data.encode()), name=name)

    assert len(document.text) < 400
    assert all(word in document.text for word in ("Before", "A duck", "After"))


@pytest.mark.parametrize(
    "text",
    [
        "data:text/plain;base64,SGVsbG8=",
        "GATTACA" * 300,
        "\n".join(["ACGTTGCA" * 8] * 40),
        "3141592653589793" * 100,
        "=" * 3000,
        "\n".join([BYTES[n : n + 32].hex() for n in range(0, 3200, 32)]),
        "https://example.org/" + "path-2/To/" * 60,
        "\u4e2d\u6587" * 2000,
        "word " * 1000,
    ],
)
def test_other_long_runs_are_kept(text: str) -> None:
    assert without_encoded(text) == (text, 0)


@pytest.mark.parametrize("before", range(0, 1000, 125))
def test_a_run_is_found_wherever_it_begins(before: int) -> None:
    text = f"{'word ' * (before // 5)}{BASE64[:1000]}{' word' * 100}"

    assert without_encoded(text)[1] == 1000 - 33


def test_a_data_uri_keeps_its_type() -> None:
    assert without_encoded(f"x {URI} y") == ("x data:image/png;base64,… y", len(BASE64) - 1)
