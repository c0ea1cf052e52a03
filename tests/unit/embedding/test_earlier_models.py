"""Embedders of models that were configured before."""

from pathlib import Path
from typing import Any

import pytest

from ingest.embedding.earlier_models import EarlierModels
from ingest.errors import SetupError, Transient
from ingest.providers.embedders.base import Embedder
from ingest.providers.embedders.factory import build_embedder
from ingest.providers.embedders.saved_settings import embedder_config, settings_of_model
from ingest.runtime_parts import rebuild_embedder
from ingest.settings.settings import Settings
from ingest.settings.types import InputTypes
from ingest.store.embeddings.model_changes import StoredModel
from tests.builders.make_onnx import write_model
from tests.support.fake_embedder import FakeEmbedder


@pytest.fixture(autouse=True)
def no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "INGEST_EMBEDDER"):
        monkeypatch.delenv(name, raising=False)


def stored(*, name: str = "fake", dimension: int = 8, provider: str = "local") -> StoredModel:
    return StoredModel(id=1, provider=provider, name=name, dimension=dimension, config={})


async def test_an_embedder_is_built_once_and_closed_at_the_end() -> None:
    built: list[FakeEmbedder] = []

    async def rebuild(model: StoredModel) -> Embedder:
        built.append(FakeEmbedder())
        return built[-1]

    models = EarlierModels(rebuild)
    vector = await models.embed_query(stored(), "question")
    await models.embed_query(stored(), "another")
    await models.close()

    assert vector.tolist() == built[0].vector("question").tolist()
    assert len(built) == 1
    assert built[0].closed


@pytest.mark.parametrize("failure", [SetupError("gone"), RuntimeError("broken")])
async def test_a_model_that_cannot_be_built_is_not_tried_for_every_search(
    failure: Exception,
) -> None:
    tries = 0

    async def rebuild(model: StoredModel) -> Embedder:
        nonlocal tries
        tries += 1
        raise failure

    models = EarlierModels(rebuild)
    for _ in range(3):
        with pytest.raises(Transient):
            await models.embed_query(stored(), "question")

    assert tries == 1


@pytest.mark.parametrize(
    "model", [stored(name="other"), stored(dimension=16), stored(provider="openai")]
)
async def test_an_embedder_of_another_vector_space_is_not_asked(model: StoredModel) -> None:
    embedder = FakeEmbedder()

    async def rebuild(model: StoredModel) -> Embedder:
        return embedder

    assert await EarlierModels(rebuild).service(model) is None
    assert embedder.closed


async def registered(settings: Settings) -> StoredModel:
    """What the database knows of the embedder of these settings."""
    embedder = await build_embedder(settings)
    await embedder.close()
    model = embedder.model
    return StoredModel(
        id=1,
        provider=model.provider,
        name=model.name,
        dimension=model.dimension,
        config=embedder_config(settings),
    )


async def test_each_kind_of_embedder_is_built_again_from_what_is_stored(tmp_path: Path) -> None:
    write_model(tmp_path / "e5-small")
    before: list[Any] = [
        Settings(),
        Settings(embedder="quantized"),
        Settings(embedder="static"),
        Settings(embedder="docs.examples.hashing_embedder:HashingEmbedder"),
        Settings(
            embedder="onnx",
            embedding_folder=tmp_path / "e5-small",
            embedding_passage_prefix="p: ",
        ),
        Settings(
            OPENAI_API_KEY="sk-old",
            embedding_model="e5",
            embedding_dimensions=64,
            embedding_passage_prefix="passage: ",
            embedding_input_types=InputTypes("task", "q", "p"),
        ),
    ]
    now = Settings(embedder="static", OPENAI_API_KEY="sk-new", embedding_query_prefix="other")

    for settings in before:
        model = await registered(settings)
        rebuilt = await rebuild_embedder(now, model)
        assert model.is_space_of(rebuilt.model), settings
        await rebuilt.close()


def test_what_is_stored_of_an_embedder_holds_no_secret() -> None:
    settings = Settings(
        OPENAI_API_KEY="sk-secret", OPENAI_BASE_URL="https://user:pw@models.test/v1"
    )

    assert embedder_config(settings) == {
        "embedder": "openai",
        "embedding_model": "text-embedding-3-small",
    }


def test_models_of_earlier_versions_are_known_by_their_provider() -> None:
    settings = settings_of_model(Settings(embedder="static"), provider="local", config={})

    assert settings.embedding_provider == "local"
    with pytest.raises(SetupError):
        settings_of_model(Settings(), provider="own", config={})
