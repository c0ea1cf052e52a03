from pathlib import Path
from typing import Any

import httpx
import pytest
import respx

from ingest.errors import SetupError
from ingest.model import EmbeddingModel
from ingest.providers.embedders.base import Prefixes
from ingest.providers.embedders.factory import build_embedder, chunk_settings, endpoint_model
from ingest.providers.embedders.onnx import OnnxEmbedder
from ingest.settings.settings import Settings
from ingest.tokens.tokenizers import load_tokenizer
from tests.builders.make_onnx import write_model

URL = "https://models.test/v1"


def settings(**values: Any) -> Settings:
    names = {"openai_api_key": "OPENAI_API_KEY", "openai_base_url": "OPENAI_BASE_URL"}
    return Settings(**{names.get(name, name): value for name, value in values.items()})


@pytest.fixture(autouse=True)
def no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "INGEST_EMBEDDER"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    ("values", "provider", "dimension"),
    [
        ({}, "local", 384),
        ({"embedder": "quantized"}, "quantized", 384),
        ({"embedder": "static"}, "static", 256),
        ({"openai_api_key": "sk-x"}, "openai", 1536),
        ({"openai_api_key": "sk-x", "embedding_model": "text-embedding-3-large"}, "openai", 3072),
        ({"openai_api_key": "sk-x", "embedding_dimensions": 256}, "openai", 256),
        ({"openai_base_url": URL, "embedding_dimensions": 77}, "openai", 77),
    ],
)
async def test_the_settings_name_the_model(
    values: dict[str, Any], provider: str, dimension: int
) -> None:
    embedder = await build_embedder(settings(**values))

    assert embedder.model.provider == provider
    assert embedder.model.dimension == dimension
    await embedder.close()


@respx.mock(base_url=URL)
async def test_dimension_of_an_unknown_model_is_probed(respx_mock: respx.MockRouter) -> None:
    answer = {"data": [{"index": 0, "embedding": [0.5] * 768}]}
    respx_mock.post("/embeddings").respond(json=answer)

    embedder = await build_embedder(settings(openai_base_url=URL, embedding_model="nomic"))

    assert embedder.model.dimension == 768
    await embedder.close()


@respx.mock(base_url=URL)
async def test_failed_dimension_probe_names_the_setting(respx_mock: respx.MockRouter) -> None:
    respx_mock.post("/embeddings").mock(side_effect=httpx.ConnectError)

    with pytest.raises(SetupError, match="INGEST_EMBEDDING_DIMENSIONS"):
        await build_embedder(settings(openai_base_url=URL, embedding_model="nomic"))


async def test_invalid_proxy_url_is_refused_without_showing_its_password(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://robot:hun/ter2@proxy.example:3128")

    with pytest.raises(SetupError) as refused:
        await build_embedder(settings(openai_base_url=URL))
    assert "proxy" in str(refused.value)
    assert "hun" not in str(refused.value)


async def test_openai_without_key_and_address_names_the_setting() -> None:
    with pytest.raises(SetupError, match="OPENAI_API_KEY"):
        await build_embedder(settings(embedder="openai"))


async def test_the_name_of_an_endpoint_model_says_what_changes_stored_vectors() -> None:
    def name(**values: Any) -> str:
        return endpoint_model(settings(**values))

    plain = name(embedding_model="e5")
    prefixed = name(embedding_model="e5", embedding_passage_prefix="passage: ")

    assert plain == name(embedding_model="e5", embedding_query_prefix="query: ") == "e5"
    assert prefixed.startswith("e5#")
    assert prefixed != name(embedding_model="e5", embedding_passage_prefix="p: ")
    assert prefixed != name(embedding_model="e5", embedding_input_types="query,document")
    # As released: another name would make all stored vectors useless.
    assert prefixed == "e5#9e0d0e9d"


async def test_a_prefix_of_passages_takes_its_tokens_from_the_limit() -> None:
    embedder = await build_embedder(
        settings(openai_api_key="sk-x", embedding_passage_prefix="passage: ")
    )

    assert embedder.model.max_tokens == 8191 - load_tokenizer("cl100k_base").count("passage: ")
    await embedder.close()


async def test_onnx_without_a_folder_names_the_setting() -> None:
    with pytest.raises(SetupError, match="INGEST_EMBEDDING_FOLDER"):
        await build_embedder(settings(embedder="onnx"))


async def test_a_folder_that_cannot_be_used_names_the_setting(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match=r"INGEST_EMBEDDING_FOLDER: .* has no model\.onnx"):
        await build_embedder(settings(embedder="onnx", embedding_folder=tmp_path))


async def test_a_folder_becomes_an_embedder_with_the_prefixes_of_the_settings(
    tmp_path: Path,
) -> None:
    write_model(tmp_path / "e5-small")

    embedder = await build_embedder(
        settings(embedder="onnx", embedding_folder=tmp_path / "e5-small", embedding_query_prefix="")
    )

    assert isinstance(embedder, OnnxEmbedder)
    assert embedder._files.prefixes == Prefixes(query="", passage="passage: ")
    assert load_tokenizer(embedder.model.tokenizer).count("two words") == 2
    await embedder.close()


@pytest.mark.parametrize(
    ("values", "max_tokens", "size", "overlap"),
    [
        ({}, 8191, 512, 64),
        ({}, 256, 256, 32),
        ({"chunk_tokens": 1000}, 256, 256, 32),
        ({"chunk_tokens": 100, "chunk_overlap": 0}, 256, 100, 0),
        ({"chunk_tokens": 1000, "chunk_overlap": 400}, 256, 256, 128),
    ],
)
def test_chunks_fit_the_model(
    values: dict[str, Any], max_tokens: int, size: int, overlap: int
) -> None:
    model = EmbeddingModel(
        provider="local", name="m", dimension=8, max_tokens=max_tokens, tokenizer="minilm"
    )

    chosen = chunk_settings(settings(**values), model)

    assert (chosen.tokenizer, chosen.size, chosen.overlap) == ("minilm", size, overlap)


@pytest.mark.parametrize("key", ["schlüssel", "sk-x\nHost: elsewhere"])
async def test_a_key_that_no_header_can_carry_stops_the_start(key: str) -> None:
    with pytest.raises(SetupError, match="OPENAI_API_KEY") as refused:
        await build_embedder(settings(openai_api_key=key))

    assert key not in str(refused.value)
