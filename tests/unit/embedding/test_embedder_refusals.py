"""What an embeddings endpoint means when it refuses, and what of its words may be shown."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest
import respx

from ingest.errors import Transient
from ingest.providers.embedders.base import ProviderFault, Refused
from ingest.providers.embedders.openai import OpenAIEmbedder
from tests.unit.embedding.openai_embeddings import KEY, MODEL, URL


@pytest.fixture
def router() -> Iterator[respx.MockRouter]:
    with respx.mock(assert_all_called=False) as router:
        yield router


async def fault(openai_embedder: OpenAIEmbedder, *texts: str) -> ProviderFault:
    with pytest.raises(Transient) as caught:
        await openai_embedder.embed(texts or ["text"])
    assert isinstance(caught.value, ProviderFault)
    return caught.value


def says(status: int, error: Any) -> httpx.Response:
    return httpx.Response(status, json={"error": error})


@pytest.mark.parametrize(
    ("answer", "code", "said"),
    [
        (
            says(401, {"message": "Incorrect API key"}),
            "embedding_unauthorized",
            "Incorrect API key",
        ),
        (says(403, {"code": "no_access"}), "embedding_unauthorized", "HTTP 403 (no_access)"),
        (says(400, {"code": "invalid_api_key"}), "embedding_unauthorized", "key is not accepted"),
        (
            says(404, {"message": f"The model `{MODEL.name}` does not exist"}),
            "embedding_model_missing",
            f"The model `{MODEL.name}` does not exist",
        ),
        (says(404, "model not found, try pulling it"), "embedding_model_missing", "try pulling it"),
        (says(403, {"code": "model_not_found"}), "embedding_model_missing", "model does not exist"),
        (says(400, {"code": "model_not_found"}), "embedding_model_missing", "model does not exist"),
        (httpx.Response(404, text="404 page not found"), "embedding_model_missing", "HTTP 404"),
        (
            httpx.Response(405, json={"detail": "Method Not Allowed"}),
            "embedding_model_missing",
            "405",
        ),
        (httpx.Response(410), "embedding_model_missing", "HTTP 410"),
        (says(429, {"code": "insufficient_quota"}), "embedding_quota", "quota is used up"),
        (says(429, {"type": "insufficient_quota"}), "embedding_quota", "quota is used up"),
        (says(403, {"code": "billing_not_active"}), "embedding_quota", "HTTP 403"),
        (says(402, {"message": "Insufficient Balance"}), "embedding_quota", "Insufficient Balance"),
        (says(429, {"message": "Slow down"}), "rate_limited", "Slow down"),
        (
            httpx.Response(502, html="<title>502 Bad\n Gateway</title>"),
            "embedding_unavailable",
            "HTTP 502: 502 Bad Gateway",
        ),
        (httpx.Response(200, html="<p>Sign in"), "embedding_unavailable", "OPENAI_BASE_URL"),
        (httpx.Response(200, text='{"data": [{"ind'), "embedding_unavailable", "not JSON"),
    ],
)
async def test_each_refusal_has_its_code_status_and_words(
    openai_embedder: OpenAIEmbedder,
    router: respx.MockRouter,
    answer: httpx.Response,
    code: str,
    said: str,
) -> None:
    router.post(f"{URL}/embeddings").return_value = answer

    error = await fault(openai_embedder)

    assert (error.code, error.status) == (code, answer.status_code)
    assert said in str(error)


async def test_redirecting_endpoint_is_a_wrong_url(
    openai_embedder: OpenAIEmbedder, router: respx.MockRouter
) -> None:
    moved = httpx.Response(301, headers={"Location": "https://login.test/"})
    router.post(f"{URL}/embeddings").return_value = moved
    router.get("https://login.test/").return_value = httpx.Response(405)

    error = await fault(openai_embedder)

    assert error.code == "embedding_model_missing"
    assert "redirects to login.test" in str(error)


async def test_endlessly_redirecting_endpoint_is_a_wrong_url(
    openai_embedder: OpenAIEmbedder, router: respx.MockRouter
) -> None:
    loop = httpx.Response(307, headers={"Location": f"{URL}/embeddings"})
    router.post(f"{URL}/embeddings").return_value = loop

    assert (await fault(openai_embedder)).code == "embedding_model_missing"


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        (f"Bad key {KEY}", False),
        ("Bad key sk-proj-abcdef123456", False),
        ("Bad key sk-pro***********3456", False),
        ("Bad key: Bearer abcdefgh", False),
        ("Bad key " + "a1" * 20, False),
        ("cannot embed 'the harbour has nine lanterns'", False),
        ("You exceeded your current quota", True),
    ],
)
async def test_provider_message_is_shown_without_keys_and_texts(
    openai_embedder: OpenAIEmbedder, router: respx.MockRouter, message: str, shown: bool
) -> None:
    router.post(f"{URL}/embeddings").return_value = says(401, {"message": message})
    text = "In the old town the harbour has nine lanterns and a pier."

    said = str(await fault(openai_embedder, text, "some other text"))

    assert (message in said) is shown
    assert "lanterns" not in said
    for secret in (KEY, "abcdef", "a1a1", "pro*"):
        assert secret not in said


async def test_long_provider_message_is_cut(
    openai_embedder: OpenAIEmbedder, router: respx.MockRouter
) -> None:
    router.post(f"{URL}/embeddings").return_value = says(500, {"message": "no no " * 1000})

    assert len(str(await fault(openai_embedder))) < 300


async def test_refused_text_is_not_counted_as_provider_failure(
    openai_embedder: OpenAIEmbedder, router: respx.MockRouter
) -> None:
    router.post(f"{URL}/embeddings").return_value = says(400, {"code": "too_long"})

    with pytest.raises(Refused):
        await openai_embedder.embed(["text"])


async def why(base_url: str) -> ProviderFault:
    openai_embedder = OpenAIEmbedder(MODEL, api_key=KEY, base_url=base_url, dimensions=None)
    try:
        return await fault(openai_embedder)
    finally:
        await openai_embedder.close()


@contextmanager
def plain_server(answer: bytes) -> Iterator[int]:
    """Sends the same to everybody, whatever they say, and hangs up."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            while True:
                try:
                    client, _ = server.accept()
                except OSError:
                    return
                with client:
                    client.recv(65536)
                    client.sendall(answer)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield server.getsockname()[1]
        server.shutdown(socket.SHUT_RDWR)
        thread.join()


async def test_unknown_host_is_reported() -> None:
    error = await why("http://no-such-host.invalid/v1")

    assert error.code == "embedding_unavailable"
    assert "host name cannot be resolved" in str(error)


async def test_refused_connection_is_reported() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]

    assert "connection was refused" in str(await why(f"http://127.0.0.1:{port}/v1"))


async def test_plain_http_on_an_https_url_is_reported() -> None:
    with plain_server(b"HTTP/1.1 400 Bad Request\r\n\r\n") as port:
        assert "TLS failed" in str(await why(f"https://127.0.0.1:{port}/v1"))


async def test_broken_connection_is_reported() -> None:
    with plain_server(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{") as port:
        assert "connection was closed" in str(await why(f"http://127.0.0.1:{port}/v1"))


async def test_url_without_scheme_is_reported() -> None:
    error = await why("models.test/v1")

    assert error.code == "embedding_model_missing"
    assert "OPENAI_BASE_URL" in str(error)
