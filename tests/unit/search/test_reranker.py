"""A reranking endpoint: both forms, and whatever is no answer."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from datetime import timedelta
from typing import Any, cast

import httpx
import pytest
import respx
from pydantic import SecretStr

from harness.patience import PATIENCE
from ingest.governor import Governor
from ingest.providers.rerank import Reranker, RerankFault
from ingest.runtime_parts import build_reranking
from ingest.settings.settings import Settings

URL = "http://rerank.test/v1/rerank"


def reranker(*, model: str | None = "m", timeout: float = PATIENCE) -> Reranker:
    return Reranker(URL, key="the-key", model=model, timeout=timedelta(seconds=timeout))


def results(*pairs: tuple[Any, Any], score: str = "relevance_score") -> list[dict[str, Any]]:
    return [{"index": index, score: value} for index, value in pairs]


@respx.mock
async def test_the_form_of_jina_and_cohere() -> None:
    route = respx.post(URL).respond(json={"results": results((1, 0.9), (0, 0.1))})

    scores = await reranker().scores("herons?", ["owls", "herons"])

    assert scores == [0.1, 0.9]
    request = route.calls.last.request
    assert json.loads(request.content) == {
        "model": "m",
        "query": "herons?",
        "documents": ["owls", "herons"],
    }
    assert request.headers["authorization"] == "Bearer the-key"


@respx.mock
async def test_the_form_of_tei() -> None:
    route = respx.post(URL).respond(json=results((0, 3), (1, -2.5), score="score"))

    assert await reranker(model=None).scores("herons?", ["a", "b"]) == [3.0, -2.5]
    assert json.loads(route.calls.last.request.content) == {
        "query": "herons?",
        "texts": ["a", "b"],
        "truncate": True,
    }


@pytest.mark.parametrize(
    "body",
    [
        {"results": results((0, 0.5))},
        {"results": results((0, 0.5), (1, 0.5), (1, 0.4))},
        {"results": results((0, 0.5), (2, 0.5))},
        {"results": results((0, 0.5), (-1, 0.5))},
        {"results": results((0, 0.5), (0, 0.5))},
        {"results": results((0, 0.5), (True, 0.5))},
        {"results": results((0, 0.5), ("1", 0.5))},
        {"results": results((0, 0.5), (1, "0.5"))},
        {"results": results((0, 0.5), (1, None))},
        {"results": results((0, 0.5), (1, True))},
        {"results": results((0, 0.5), (1, 10**400))},
        {"results": [1, 2]},
        {"results": "no"},
        {"error": "none"},
        [],
        "text",
        None,
    ],
)
@respx.mock
async def test_answers_that_score_no_text_are_faults(body: Any) -> None:
    respx.post(URL).respond(json=body)

    with pytest.raises(RerankFault) as caught:
        await reranker().scores("q", ["a", "b"])

    assert caught.value.code == "rerank_unavailable"


@pytest.mark.parametrize(
    "content",
    [
        b'{"results": [{"index": 0, "relevance_score": NaN}, {"index": 1, "relevance_score": 1}]}',
        b'{"results": [{"index": 0, "relevance_score": Infinity}, {"index": 1, "score": 1}]}',
        b"<html>Sign in</html>",
        b'{"results": [{"ind',
        b"[" * 100_000,
        b"\xff\xfe",
        b" " * 10_000_000,
        b"",
    ],
)
@respx.mock
async def test_content_that_is_no_answer_is_a_fault(content: bytes) -> None:
    respx.post(URL).respond(content=content)

    with pytest.raises(RerankFault):
        await reranker().scores("q", ["a", "b"])


@respx.mock
async def test_statuses_and_waits_are_kept_and_words_of_the_endpoint_are_not() -> None:
    respx.post(URL).mock(
        side_effect=[
            httpx.Response(429, headers={"Retry-After": "7"}, text="text of a document"),
            httpx.Response(500, text="text of a document"),
            httpx.Response(401),
            httpx.ConnectError("no route to the-key"),
        ]
    )
    faults = []
    for _ in range(4):
        with pytest.raises(RerankFault) as caught:
            await reranker().scores("q", ["a"])
        faults.append(caught.value)

    limited, broken, refused, unreachable = faults
    assert (limited.code, limited.retry_after) == ("rate_limited", timedelta(seconds=7))
    assert (broken.code, broken.status, str(broken)) == ("rerank_unavailable", 500, "HTTP 500")
    assert (refused.needs_operator, broken.needs_operator) == (True, False)
    assert str(unreachable) == "no response (ConnectError)"


async def test_an_endpoint_that_sends_a_byte_at_a_time_is_given_up() -> None:
    async def drip() -> AsyncIterator[bytes]:
        while True:
            yield b" "
            await asyncio.sleep(0)

    with respx.mock:
        respx.post(URL).mock(return_value=httpx.Response(200, content=drip()))
        async with asyncio.timeout(PATIENCE):
            with pytest.raises(RerankFault, match="no response"):
                await reranker(timeout=0.05).scores("q", ["a" * 10_000_000])


async def test_there_is_a_reranker_if_its_address_is_set() -> None:
    settings = Settings(
        rerank_url=URL, rerank_key=SecretStr("k"), rerank_candidates=7, data_dir="x"
    )
    async with AsyncExitStack() as stack:
        built = build_reranking(settings, cast(Governor, None), stack)
        assert built is not None
        assert built.candidates == 7
        assert build_reranking(Settings(data_dir="x"), cast(Governor, None), stack) is None
