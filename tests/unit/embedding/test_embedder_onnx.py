import json
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ingest.errors import SetupError
from ingest.model import ChunkSettings, Vectors
from ingest.providers.embedders.base import UNRELATED, mean_cosine
from ingest.providers.embedders.onnx import OnnxEmbedder, pool
from ingest.store.documents.chunking_json import chunking_json
from ingest.tokens.tokenizers import load_tokenizer
from ingest.tokens.vocabularies import load_minilm
from tests.builders.make_onnx import write, write_model


def expected(table: Vectors, text: str, *, pooling: str = "mean") -> Vectors:
    ids = load_minilm().encode(text).ids
    vector: Vectors = table[ids].mean(axis=0) if pooling == "mean" else table[ids[0]]
    return vector / np.linalg.norm(vector)


@pytest.mark.parametrize("pooling", ["mean", "cls"])
async def test_pooling_is_that_of_the_folder(tmp_path: Path, pooling: str) -> None:
    table = write_model(tmp_path / "bge-small", pooling=pooling)
    embedder = OnnxEmbedder(tmp_path / "bge-small")

    found = await embedder.embed(["a longer text of many words", "short"])

    assert np.allclose(
        found[0], expected(table, "a longer text of many words", pooling=pooling), atol=1e-5
    )
    assert np.allclose(found[1], expected(table, "short", pooling=pooling), atol=1e-5)
    assert embedder.model.dimension == 4
    await embedder.close()


async def test_the_cosine_of_unrelated_texts_is_measured(tmp_path: Path) -> None:
    table = write_model(tmp_path / "e5-small")
    embedder = OnnxEmbedder(tmp_path / "e5-small")

    asked = [expected(table, "query: " + text) for text in UNRELATED]
    pairs = [one @ other for one, other in permutations(asked, 2)]
    assert embedder.unrelated == pytest.approx(np.mean(pairs), abs=1e-4)
    await embedder.close()


def test_the_cosine_of_unrelated_texts_has_limits() -> None:
    assert mean_cosine(np.ones((3, 2), np.float32)) == 0.9
    assert mean_cosine(np.array([[1, 0], [-1, 0]], np.float32)) == 0
    assert mean_cosine(np.full((3, 2), np.nan, np.float32)) == 0


@pytest.mark.parametrize(
    ("name", "prompts", "query", "passage"),
    [
        ("multilingual-e5-small", None, "query: ", "passage: "),
        ("e5-base-v2", {}, "query: ", "passage: "),
        ("gte-small", None, "", ""),
        ("e5-mistral-7b-instruct", None, "", ""),
        ("any", {"query": "find: ", "passage": ""}, "find: ", ""),
        ("snowflake", {"query": "q ", "document": "d "}, "q ", "d "),
        ("e5-small", {"query": "q ", "document": "d "}, "q ", "d "),
    ],
)
async def test_prefixes_are_those_of_the_model(
    tmp_path: Path, name: str, prompts: dict[str, str] | None, query: str, passage: str
) -> None:
    table = write_model(tmp_path / name, prompts=prompts)
    embedder = OnnxEmbedder(tmp_path / name)

    [asked] = await embedder.embed_queries(["oil of the pump"])
    [stored] = await embedder.embed(["oil of the pump"])

    assert np.allclose(asked, expected(table, query + "oil of the pump"), atol=1e-5)
    assert np.allclose(stored, expected(table, passage + "oil of the pump"), atol=1e-5)


async def test_settings_replace_the_prefixes(tmp_path: Path) -> None:
    table = write_model(tmp_path / "e5-small")
    embedder = OnnxEmbedder(tmp_path / "e5-small", query_prefix="ask: ", passage_prefix="")

    [asked] = await embedder.embed_queries(["pump"])
    [stored] = await embedder.embed(["pump"])

    assert np.allclose(asked, expected(table, "ask: pump"), atol=1e-5)
    assert np.allclose(stored, expected(table, "pump"), atol=1e-5)


async def test_a_chunk_of_the_largest_size_is_read_whole_with_its_prefix(tmp_path: Path) -> None:
    table = write_model(tmp_path / "e5-small", max_tokens=40)
    embedder = OnnxEmbedder(tmp_path / "e5-small")
    tokenizer = load_tokenizer(embedder.model.tokenizer)
    words = "oil " * (embedder.model.max_tokens - tokenizer.special_tokens - 1) + "pump"

    [vector] = await embedder.embed([words])
    [longer] = await embedder.embed([words + " cut"])

    assert tokenizer.count(words) + tokenizer.special_tokens == embedder.model.max_tokens == 38
    assert np.allclose(vector, expected(table, "passage: " + words), atol=1e-5)
    assert np.allclose(longer, vector, atol=1e-5)


async def test_the_name_tells_models_apart_that_make_other_vectors(tmp_path: Path) -> None:
    write_model(tmp_path / "a" / "e5-small")
    write_model(tmp_path / "b" / "e5-small")
    base = OnnxEmbedder(tmp_path / "a" / "e5-small").model.name
    write_model(tmp_path / "c" / "e5-small", pooling="cls")

    assert base.startswith("e5-small#")
    assert OnnxEmbedder(tmp_path / "b" / "e5-small").model.name == base
    assert OnnxEmbedder(tmp_path / "b" / "e5-small", query_prefix="q").model.name == base
    assert OnnxEmbedder(tmp_path / "b" / "e5-small", passage_prefix="p").model.name != base
    assert OnnxEmbedder(tmp_path / "c" / "e5-small").model.name != base


def test_the_place_of_a_tokenizer_is_not_stored_with_documents(tmp_path: Path) -> None:
    write_model(tmp_path)
    model = OnnxEmbedder(tmp_path).model

    stored = chunking_json(ChunkSettings(tokenizer=model.tokenizer, size=64, overlap=8))

    assert str(tmp_path) in model.tokenizer
    assert str(tmp_path) not in str(stored)
    assert len(stored["tokenizer"]) == 16


def broken(tmp_path: Path, file: str, content: Any) -> Path:
    write_model(tmp_path)
    if content is None:
        (tmp_path / file).unlink()
    elif isinstance(content, bytes):
        (tmp_path / file).write_bytes(content)
    else:
        write(tmp_path / file, content)
    return tmp_path


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("model.onnx", None, "has no model.onnx"),
        ("model.onnx", b"no model", "cannot be loaded"),
        ("tokenizer.json", None, "tokenizer.json cannot be read"),
        ("tokenizer.json", b"{}", "is not a tokenizer"),
        ("1_Pooling/config.json", None, "must name one of the poolings"),
        ("1_Pooling/config.json", {"pooling_mode_weightedmean_tokens": True}, "must name one"),
        ("1_Pooling/config.json", [], "cannot be read"),
        ("modules.json", [{"path": "3", "type": "x.Dense"}], "step Dense, which is not supported"),
        ("sentence_bert_config.json", {"max_seq_length": 16}, "too few"),
    ],
)
def test_a_folder_that_cannot_be_used_is_a_setup_error_in_one_line(
    tmp_path: Path, file: str, content: Any, message: str
) -> None:
    with pytest.raises(SetupError, match=message) as refused:
        OnnxEmbedder(broken(tmp_path, file, content))
    assert "\n" not in str(refused.value)


def test_a_model_with_other_inputs_is_refused(tmp_path: Path) -> None:
    write_model(tmp_path, inputs=("input_ids", "pixel_values"))

    with pytest.raises(SetupError, match="pixel_values"):
        OnnxEmbedder(tmp_path)


def test_a_tokenizer_that_changed_after_the_start_is_not_used(tmp_path: Path) -> None:
    write_model(tmp_path)
    name = OnnxEmbedder(tmp_path).model.tokenizer
    content = json.loads((tmp_path / "tokenizer.json").read_text())
    write(tmp_path / "tokenizer.json", {**content, "version": "1.1"})

    load_tokenizer.cache_clear()
    with pytest.raises(SetupError, match="restart the service"):
        load_tokenizer(name)


def test_pooling_leaves_out_padding_on_either_side() -> None:
    tokens = np.arange(12, dtype=np.float32).reshape(2, 3, 2)
    mask = np.array([[1, 1, 0], [0, 1, 1]])

    assert pool(tokens, mask, "cls").tolist() == [[0, 1], [8, 9]]
    assert pool(tokens, mask, "lasttoken").tolist() == [[2, 3], [10, 11]]
    assert pool(tokens, mask, "max").tolist() == [[2, 3], [10, 11]]
    assert pool(tokens, mask, "mean").tolist() == [[2, 4], [18, 20]]
