import hashlib
import zlib
from collections.abc import AsyncIterator
from dataclasses import replace

import httpx
import numpy as np
import pytest
import respx

from ingest.errors import Transient
from ingest.providers.embedders.base import Prefixes
from ingest.providers.embedders.openai import OpenAIEmbedder
from ingest.settings.types import InputTypes
from tests.unit.embedding.openai_embeddings import KEY, MODEL, URL, answer, echo, numbers, sent


async def test_texts_are_sent_in_one_request_and_vectors_returned(
    openai_embedder: OpenAIEmbedder, endpoint: respx.Route
) -> None:
    endpoint.side_effect = echo

    vectors = await openai_embedder.embed(["text 0.5", "text 1"])

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
    openai_embedder = OpenAIEmbedder(
        MODEL,
        api_key=KEY,
        base_url=URL,
        dimensions=None,
        name="voyage-3",
        prefixes=Prefixes(query="query: ", passage="passage: "),
        input_types=InputTypes("input_type", "query", "document"),
    )

    await openai_embedder.embed(["text 1"])
    await openai_embedder.embed_queries(["text 1"])
    await openai_embedder.close()

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
    openai_embedder = OpenAIEmbedder(
        MODEL, api_key=KEY, base_url=URL, dimensions=None, input_types=types
    )

    await openai_embedder.embed_queries(["text"])
    await openai_embedder.close()

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
    openai_embedder: OpenAIEmbedder, endpoint: respx.Route, zipped: bool
) -> None:
    endpoint.side_effect = lambda _: endless(zipped=zipped)

    with pytest.raises(Transient, match="larger than any answer can be") as caught:
        await openai_embedder.embed(["text 1"])

    assert caught.value.code == "embedding_unavailable"


async def test_the_longest_answer_is_read(endpoint: respx.Route) -> None:
    count, dimension = 1024, 64
    row = ",\n          ".join(["-0.123456789012345678901"] * dimension)  # text, in lines
    items = (f'{{"index": {number}, "embedding": [{row}]}}' for number in range(count))
    endpoint.return_value = httpx.Response(200, text=f'{{"data": [{",".join(items)}]}}')
    model = replace(MODEL, dimension=dimension)
    openai_embedder = OpenAIEmbedder(model, api_key=KEY, base_url=URL, dimensions=None)

    vectors = await openai_embedder.embed(["text 1"] * count)
    await openai_embedder.close()

    assert vectors.shape == (count, dimension)


async def test_dimensions_are_sent_only_when_set(endpoint: respx.Route) -> None:
    endpoint.side_effect = echo
    openai_embedder = OpenAIEmbedder(MODEL, api_key=KEY, base_url=URL, dimensions=4)

    await openai_embedder.embed(["text 1"])

    assert sent(endpoint.calls.last.request)["dimensions"] == 4
    await openai_embedder.close()


async def test_vectors_as_plain_numbers_are_as_good_and_become_units(
    openai_embedder: OpenAIEmbedder, endpoint: respx.Route
) -> None:
    endpoint.return_value = answer([3, 0, 4, 0])

    vectors = await openai_embedder.embed(["text"])

    assert vectors.tolist() == [pytest.approx([0.6, 0, 0.8, 0])]


async def test_numbers_are_requested_if_the_endpoint_lacks_base64(
    openai_embedder: OpenAIEmbedder, endpoint: respx.Route
) -> None:
    complaint = {"error": {"message": "encoding_format base64 is not supported"}}
    endpoint.side_effect = [httpx.Response(400, json=complaint), answer([1, 0, 0, 0])]

    await openai_embedder.embed(["text"])

    assert sent(endpoint.calls.last.request)["encoding_format"] == "float"


async def test_vectors_are_put_in_the_order_of_their_index(
    openai_embedder: OpenAIEmbedder, endpoint: respx.Route
) -> None:
    data = [
        {"index": 1, "embedding": numbers("text 1")},
        {"index": 0, "embedding": numbers("text 0.5")},
    ]
    endpoint.return_value = httpx.Response(200, json={"data": data})

    vectors = await openai_embedder.embed(["text 0.5", "text 1"])

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
    ("name", "is_narrow"),
    [
        ("text-embedding-3-small", False),
        ("text-embedding-ada-002", True),
        ("intfloat/multilingual-e5-large", True),
        ("e5-mistral-7b-instruct", False),
    ],
)
async def test_models_with_high_cosines_are_known_by_name(name: str, is_narrow: bool) -> None:
    openai_embedder = OpenAIEmbedder(MODEL, api_key="k", base_url=None, dimensions=None, name=name)

    assert (openai_embedder.unrelated > 0.5) is is_narrow
    await openai_embedder.close()
