import base64
import hashlib
import json
import zlib
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import httpx
import numpy as np
import pytest
import respx

from ingest.embedding.service import EmbeddingService
from ingest.errors import Permanent, Transient
from ingest.model import EmbeddingModel
from ingest.providers.embedders.base import Prefixes, Refused
from ingest.providers.embedders.openai import OpenAIEmbedder
from ingest.providers.retry_after import retry_after
from ingest.settings.types import InputTypes

URL = "https://models.test/v1"
KEY = "sk-secret-key"
MODEL = EmbeddingModel(
    provider="openai",
    name="text-embedding-3-small",
    dimension=4,
    max_tokens=8191,
    tokenizer="cl100k_base",
)


@pytest.fixture
async def embedder() -> AsyncIterator[OpenAIEmbedder]:
    opened = OpenAIEmbedder(MODEL, api_key=KEY, base_url=URL, dimensions=None)
    yield opened
    await opened.close()


@pytest.fixture
def endpoint() -> Iterator[respx.Route]:
    with respx.mock(base_url=URL) as router:
        yield router.post("/embeddings")


def numbers(text: str) -> list[float]:
    """Some vector of length 1 that tells texts apart."""
    angle = float(text.split()[-1])
    return [float(np.cos(angle)), float(np.sin(angle)), 0.0, 0.0]


def encoded(text: str) -> str:
    return base64.b64encode(np.array(numbers(text), "<f4").tobytes()).decode()


def answer(*embeddings: Any) -> httpx.Response:
    data = [
        {"object": "embedding", "index": index, "embedding": embedding}
        for index, embedding in enumerate(embeddings)
    ]
    return httpx.Response(200, json={"object": "list", "data": data})


def echo(request: httpx.Request) -> httpx.Response:
    return answer(*(encoded(text) for text in sent(request)["input"]))


def sent(request: httpx.Request) -> dict[str, Any]:
    body: dict[str, Any] = json.loads(request.content)
    return body


async def test_texts_are_sent_in_one_request_and_vectors_returned(
    embedder: OpenAIEmbedder, endpoint: respx.Route
) -> None:
    endpoint.side_effect = echo

    vectors = await embedder.embed(["text 0.5", "text 1"])

    assert vectors.dtype == np.float32
    assert np.allclose(vectors, [numbers("text 0.5"), numbers("text 1")])
    [call] = endpoint.calls
    assert sent(call.request) == {
        "input": ["text 0.5", "text 1"],
        "model": "text-embedding-3-small",
        "encoding_format": "base64",
    }
    assert call.request.headers["authorization"] == f"Bearer {KEY}"


async def test_prefixes_and_input_types_tell_questions_from_passages(
    endpoint: respx.Route,
) -> None:
    endpoint.side_effect = echo
    embedder = OpenAIEmbedder(
        MODEL,
        api_key=KEY,
        base_url=URL,
        dimensions=None,
        name="voyage-3",
        prefixes=Prefixes(query="query: ", passage="passage: "),
        input_types=InputTypes("input_type", "query", "document"),
    )

    await embedder.embed(["text 1"])
    await embedder.embed_queries(["text 1"])
    await embedder.close()

    passage, query = [sent(call.request) for call in endpoint.calls]
    assert passage["input"] == ["passage: text 1"]
    assert passage["input_type"] == "document"
    assert query["input"] == ["query: text 1"]
    assert query["input_type"] == "query"
    assert passage["model"] == query["model"] == "voyage-3"


async def test_an_endpoint_without_base64_still_gets_the_input_type(endpoint: respx.Route) -> None:
    refused = httpx.Response(400, json={"error": {"message": "encoding_format is unknown"}})
    endpoint.side_effect = [refused, answer([1.0, 0, 0, 0])]
    types = InputTypes("task", "retrieval.query", "retrieval.passage")
    embedder = OpenAIEmbedder(MODEL, api_key=KEY, base_url=URL, dimensions=None, input_types=types)

    await embedder.embed_queries(["text"])
    await embedder.close()

    assert [sent(call.request)["task"] for call in endpoint.calls] == ["retrieval.query"] * 2


def endless(*, zipped: bool) -> httpx.Response:
    """A body that fills the memory of whoever reads it to its end."""
    part = b" " * 1_000_000
    headers = {"content-encoding": "gzip"} if zipped else {}

    async def body() -> AsyncIterator[bytes]:
        packer = zlib.compressobj(wbits=31)
        while True:
            yield packer.compress(part) + packer.flush(zlib.Z_SYNC_FLUSH) if zipped else part

    return httpx.Response(200, headers=headers, content=body())


@pytest.mark.parametrize("zipped", [False, True])
async def test_an_endless_answer_is_cut_off_and_counts_as_a_failing_provider(
    embedder: OpenAIEmbedder, endpoint: respx.Route, zipped: bool
) -> None:
    endpoint.side_effect = lambda _: endless(zipped=zipped)

    with pytest.raises(Transient, match="larger than any answer can be") as caught:
        await embedder.embed(["text 1"])

    assert caught.value.code == "embedding_unavailable"


async def test_the_longest_answer_is_read(endpoint: respx.Route) -> None:
    count, dimension = 1024, 64
    row = ",\n          ".join(["-0.123456789012345678901"] * dimension)  # text, in lines
    items = (f'{{"index": {number}, "embedding": [{row}]}}' for number in range(count))
    endpoint.return_value = httpx.Response(200, text=f'{{"data": [{",".join(items)}]}}')
    model = replace(MODEL, dimension=dimension)
    embedder = OpenAIEmbedder(model, api_key=KEY, base_url=URL, dimensions=None)

    vectors = await embedder.embed(["text 1"] * count)
    await embedder.close()

    assert vectors.shape == (count, dimension)


async def test_dimensions_are_sent_only_when_set(endpoint: respx.Route) -> None:
    endpoint.side_effect = echo
    embedder = OpenAIEmbedder(MODEL, api_key=KEY, base_url=URL, dimensions=4)

    await embedder.embed(["text 1"])

    assert sent(endpoint.calls.last.request)["dimensions"] == 4
    await embedder.close()


async def test_vectors_as_plain_numbers_are_as_good_and_become_units(
    embedder: OpenAIEmbedder, endpoint: respx.Route
) -> None:
    endpoint.return_value = answer([3, 0, 4, 0])

    vectors = await embedder.embed(["text"])

    assert vectors.tolist() == [pytest.approx([0.6, 0, 0.8, 0])]


async def test_numbers_are_requested_if_the_endpoint_lacks_base64(
    embedder: OpenAIEmbedder, endpoint: respx.Route
) -> None:
    complaint = {"error": {"message": "encoding_format base64 is not supported"}}
    endpoint.side_effect = [httpx.Response(400, json=complaint), answer([1, 0, 0, 0])]

    await embedder.embed(["text"])

    assert sent(endpoint.calls.last.request)["encoding_format"] == "float"


async def test_vectors_are_put_in_the_order_of_their_index(
    embedder: OpenAIEmbedder, endpoint: respx.Route
) -> None:
    data = [
        {"index": 1, "embedding": numbers("text 1")},
        {"index": 0, "embedding": numbers("text 0.5")},
    ]
    endpoint.return_value = httpx.Response(200, json={"data": data})

    vectors = await embedder.embed(["text 0.5", "text 1"])

    assert np.allclose(vectors, [numbers("text 0.5"), numbers("text 1")])


async def test_lane_identifies_model_key_and_endpoint_without_revealing_the_key() -> None:
    key = hashlib.sha256(KEY.encode()).hexdigest()[:8]
    url = hashlib.sha256(URL.encode()).hexdigest()[:8]
    lanes = [
        OpenAIEmbedder(MODEL, api_key=KEY, base_url=where, dimensions=None).lane
        for where in (None, URL)
    ]

    assert lanes == [f"openai/{MODEL.name}#{key}", f"openai/{MODEL.name}#{key}@{url}"]


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
    embedder: OpenAIEmbedder, endpoint: respx.Route, data: Any
) -> None:
    endpoint.return_value = httpx.Response(200, json={"data": data})

    with pytest.raises(Permanent) as caught:
        await embedder.embed(["text", "text"])

    assert caught.value.code == "embedding_mismatch"


@pytest.mark.parametrize(
    ("header", "wait"),
    [("3", timedelta(seconds=3)), ("0.5", timedelta(seconds=0.5)), (None, None), ("soon", None)],
)
async def test_retry_after_of_a_429_is_obeyed(
    embedder: OpenAIEmbedder, endpoint: respx.Route, header: str | None, wait: timedelta | None
) -> None:
    endpoint.return_value = httpx.Response(429, headers={"Retry-After": header} if header else {})

    with pytest.raises(Transient) as caught:
        await embedder.embed(["text"])

    assert caught.value.code == "rate_limited"
    assert caught.value.retry_after == wait
    assert endpoint.call_count == 1  # retries are the queue's


async def test_a_429_with_a_date_waits_until_then(
    embedder: OpenAIEmbedder, endpoint: respx.Route
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
        await embedder.embed(["text"])

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
    embedder: OpenAIEmbedder, endpoint: respx.Route
) -> None:
    endpoint.return_value = httpx.Response(429, json={"error": {"code": "insufficient_quota"}})

    with pytest.raises(Transient, match="insufficient_quota") as caught:
        await embedder.embed(["text"])

    assert caught.value.code == "embedding_quota"


@pytest.mark.parametrize("status", [500, 502, 503, 504, 529, 408])
async def test_server_errors_are_transient(
    embedder: OpenAIEmbedder, endpoint: respx.Route, status: int
) -> None:
    endpoint.return_value = httpx.Response(status, headers={"Retry-After": "7"})

    with pytest.raises(Transient) as caught:
        await embedder.embed(["text"])

    assert caught.value.code == "embedding_unavailable"
    assert caught.value.retry_after == timedelta(seconds=7)


@pytest.mark.parametrize("error", [httpx.ReadTimeout, httpx.ConnectError])
async def test_no_answer_is_transient(
    embedder: OpenAIEmbedder, endpoint: respx.Route, error: type[Exception]
) -> None:
    endpoint.side_effect = error

    with pytest.raises(Transient) as caught:
        await embedder.embed(["text"])

    assert caught.value.code == "embedding_unavailable"


async def test_a_page_instead_of_json_is_transient(
    embedder: OpenAIEmbedder, endpoint: respx.Route
) -> None:
    endpoint.return_value = httpx.Response(200, html="<h1>Log in to the network</h1>")

    with pytest.raises(Transient, match="not JSON"):
        await embedder.embed(["text"])


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (401, "embedding_unauthorized"),
        (403, "embedding_unauthorized"),
        (404, "embedding_model_missing"),
    ],
)
async def test_a_wrong_key_or_model_waits_and_names_neither_key_nor_text(
    embedder: OpenAIEmbedder, endpoint: respx.Route, status: int, expected: str
) -> None:
    body = {"error": {"message": f"bad key {KEY} for 'my text'", "code": f"Bad {KEY}"}}
    endpoint.return_value = httpx.Response(status, json=body)

    with pytest.raises(Transient) as caught:
        await embedder.embed(["my text"])

    assert caught.value.code == expected
    assert KEY not in str(caught.value)
    assert "my text" not in str(caught.value)


@pytest.mark.parametrize("status", [400, 413, 422])
async def test_a_refused_request_names_its_code_but_not_the_text(
    embedder: OpenAIEmbedder, endpoint: respx.Route, status: int
) -> None:
    body = {"error": {"message": "invalid: 'my text'", "code": "invalid_input"}}
    endpoint.return_value = httpx.Response(status, json=body)

    with pytest.raises(Refused) as caught:
        await embedder.embed(["my text"])

    assert str(caught.value) == f"HTTP {status} (invalid_input)"


def refuse(bad: str) -> Callable[[httpx.Request], httpx.Response]:
    def respond(request: httpx.Request) -> httpx.Response:
        return httpx.Response(400) if bad in sent(request)["input"] else echo(request)

    return respond


async def test_one_bad_text_among_a_hundred_is_found_by_halving(
    embedder: OpenAIEmbedder, endpoint: respx.Route
) -> None:
    endpoint.side_effect = refuse("text 57")
    texts = [f"text {number}" for number in range(100)]

    embedded = await EmbeddingService(embedder).embed(texts, [2] * 100)

    assert embedded.refused == {57: "HTTP 400"}
    assert np.allclose(embedded.vectors[56], numbers("text 56"), atol=1e-6)
    assert np.allclose(embedded.vectors[58], numbers("text 58"), atol=1e-6)
    assert endpoint.call_count <= 15


@pytest.mark.parametrize(
    ("name", "is_narrow"),
    [
        ("text-embedding-3-small", False),
        ("text-embedding-ada-002", True),
        ("intfloat/multilingual-e5-large", True),
        ("e5-mistral-7b-instruct", False),
    ],
)
async def test_models_with_high_cosines_are_known_by_name(name: str, is_narrow: bool) -> None:
    embedder = OpenAIEmbedder(MODEL, api_key="k", base_url=None, dimensions=None, name=name)

    assert (embedder.unrelated > 0.5) is is_narrow
    await embedder.close()
