"""Each refusal of an OpenAI-compatible endpoint becomes the error that says what to do."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import httpx
import numpy as np
import pytest
import respx

from ingest.embedding.service import EmbeddingService
from ingest.errors import Permanent, Transient
from ingest.providers.embedders.base import Refused
from ingest.providers.embedders.openai import OpenAIEmbedder
from ingest.providers.retry_after import retry_after
from tests.unit.embedding.openai_embeddings import KEY, echo, numbers, sent


@pytest.mark.parametrize(
    "data",
    [
        [{"index": 0, "embedding": [1, 0, 0, 0]}],
        [{"index": 0, "embedding": [1, 0, 0, 0]}] * 2,
        [{"index": index, "embedding": [1, 0, 0, 0]} for index in (0, 2)],
        [{"index": index, "embedding": [1, 0, 0]} for index in (0, 1)],
        [{"index": 0, "embedding": [1, 0, 0, 0]}, {"index": 1, "embedding": [1, 0]}],
        [{"index": index, "embedding": [0, 0, 0, 0]} for index in (0, 1)],
        [{"index": index, "embedding": [None, 0, 0, 1]} for index in (0, 1)],
        [{"index": index, "embedding": "not base64!"} for index in (0, 1)],
        [{"index": index} for index in (0, 1)],
        ["a", "b"],
        None,
    ],
    ids=[
        "too few",
        "one index twice",
        "an index too high",
        "other dimension",
        "two dimensions",
        "zeros",
        "not a number",
        "not base64",
        "no vector",
        "no objects",
        "no data",
    ],
)
async def test_vectors_that_do_not_fit_the_texts_are_permanent(
    openai_embedder: OpenAIEmbedder, endpoint: respx.Route, data: Any
) -> None:
    endpoint.return_value = httpx.Response(200, json={"data": data})

    with pytest.raises(Permanent) as caught:
        await openai_embedder.embed(["text", "text"])

    assert caught.value.code == "embedding_mismatch"


@pytest.mark.parametrize(
    ("header", "wait"),
    [("3", timedelta(seconds=3)), ("0.5", timedelta(seconds=0.5)), (None, None), ("soon", None)],
)
async def test_retry_after_of_a_429_is_obeyed(
    openai_embedder: OpenAIEmbedder,
    endpoint: respx.Route,
    header: str | None,
    wait: timedelta | None,
) -> None:
    endpoint.return_value = httpx.Response(429, headers={"Retry-After": header} if header else {})

    with pytest.raises(Transient) as caught:
        await openai_embedder.embed(["text"])

    assert caught.value.code == "rate_limited"
    assert caught.value.retry_after == wait
    assert endpoint.call_count == 1  # retries are the queue's


async def test_a_429_with_a_date_waits_until_then(
    openai_embedder: OpenAIEmbedder, endpoint: respx.Route
) -> None:
    now = datetime(2026, 3, 1, 12, tzinfo=UTC)
    until = now + timedelta(seconds=90)
    endpoint.return_value = httpx.Response(
        429,
        headers={
            "Retry-After": format_datetime(until, usegmt=True),
            "Date": format_datetime(now, usegmt=True),
        },
    )

    with pytest.raises(Transient) as caught:
        await openai_embedder.embed(["text"])

    assert caught.value.retry_after == timedelta(seconds=90)


def test_retry_after_date_without_server_date_uses_our_clock() -> None:
    until = datetime.now(UTC) + timedelta(minutes=5)

    wait = retry_after({"retry-after": format_datetime(until, usegmt=True)})

    assert wait is not None
    assert timedelta(minutes=4) < wait <= timedelta(minutes=5)


def test_retry_after_date_in_the_past_means_no_wait() -> None:
    assert retry_after({"retry-after": "Mon, 01 Jan 2024 00:00:00 GMT"}) == timedelta(0)


@pytest.mark.parametrize(
    "value",
    [
        *(
            "Mon, 01 Jan 99999999999999999999 00:00:00 GMT",
            "soon",
            "-",
            "1e999",
            "nan",
            "",
            "9" * 24,
        ),
        "Mon, 01 Jan 2024 00:00:00 +99999999999999999",
    ],
)
def test_invalid_retry_after_is_ignored_or_bounded(value: str) -> None:
    wait = retry_after({"retry-after": value})

    assert wait is None or wait <= timedelta.max


async def test_a_used_up_quota_waits_for_the_operator(
    openai_embedder: OpenAIEmbedder, endpoint: respx.Route
) -> None:
    endpoint.return_value = httpx.Response(429, json={"error": {"code": "insufficient_quota"}})

    with pytest.raises(Transient, match="insufficient_quota") as caught:
        await openai_embedder.embed(["text"])

    assert caught.value.code == "embedding_quota"


@pytest.mark.parametrize("status", [500, 502, 503, 504, 529, 408])
async def test_server_errors_are_transient(
    openai_embedder: OpenAIEmbedder, endpoint: respx.Route, status: int
) -> None:
    endpoint.return_value = httpx.Response(status, headers={"Retry-After": "7"})

    with pytest.raises(Transient) as caught:
        await openai_embedder.embed(["text"])

    assert caught.value.code == "embedding_unavailable"
    assert caught.value.retry_after == timedelta(seconds=7)


@pytest.mark.parametrize("error", [httpx.ReadTimeout, httpx.ConnectError])
async def test_no_answer_is_transient(
    openai_embedder: OpenAIEmbedder, endpoint: respx.Route, error: type[Exception]
) -> None:
    endpoint.side_effect = error

    with pytest.raises(Transient) as caught:
        await openai_embedder.embed(["text"])

    assert caught.value.code == "embedding_unavailable"


async def test_a_page_instead_of_json_is_transient(
    openai_embedder: OpenAIEmbedder, endpoint: respx.Route
) -> None:
    endpoint.return_value = httpx.Response(200, html="<h1>Log in to the network</h1>")

    with pytest.raises(Transient, match="not JSON"):
        await openai_embedder.embed(["text"])


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (401, "embedding_unauthorized"),
        (403, "embedding_unauthorized"),
        (404, "embedding_model_missing"),
    ],
)
async def test_a_wrong_key_or_model_waits_and_names_neither_key_nor_text(
    openai_embedder: OpenAIEmbedder, endpoint: respx.Route, status: int, expected: str
) -> None:
    body = {"error": {"message": f"bad key {KEY} for 'my text'", "code": f"Bad {KEY}"}}
    endpoint.return_value = httpx.Response(status, json=body)

    with pytest.raises(Transient) as caught:
        await openai_embedder.embed(["my text"])

    assert caught.value.code == expected
    assert KEY not in str(caught.value)
    assert "my text" not in str(caught.value)


@pytest.mark.parametrize("status", [400, 413, 422])
async def test_a_refused_request_names_its_code_but_not_the_text(
    openai_embedder: OpenAIEmbedder, endpoint: respx.Route, status: int
) -> None:
    body = {"error": {"message": "invalid: 'my text'", "code": "invalid_input"}}
    endpoint.return_value = httpx.Response(status, json=body)

    with pytest.raises(Refused) as caught:
        await openai_embedder.embed(["my text"])

    assert str(caught.value) == f"HTTP {status} (invalid_input)"


def refuse(bad: str) -> Callable[[httpx.Request], httpx.Response]:
    def respond(request: httpx.Request) -> httpx.Response:
        return httpx.Response(400) if bad in sent(request)["input"] else echo(request)

    return respond


async def test_one_bad_text_among_a_hundred_is_found_by_halving(
    openai_embedder: OpenAIEmbedder, endpoint: respx.Route
) -> None:
    endpoint.side_effect = refuse("text 57")
    texts = [f"text {number}" for number in range(100)]

    embedded = await EmbeddingService(openai_embedder).embed(texts, [2] * 100)

    assert embedded.refused == {57: "HTTP 400"}
    assert np.allclose(embedded.vectors[56], numbers("text 56"), atol=1e-6)
    assert np.allclose(embedded.vectors[58], numbers("text 58"), atol=1e-6)
    assert endpoint.call_count <= 15
