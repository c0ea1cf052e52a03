import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from ingest.errors import SetupError
from ingest.model import Vectors
from ingest.providers.embedders.static import StaticEmbedder

TEXTS = ["a cat sat", "A  kitten,\n\nsitting  ", "Aktienmärkte 中文 😀", "x"]


@pytest.fixture(scope="module")
def embedder() -> StaticEmbedder:
    return StaticEmbedder()


@pytest.fixture(scope="module")
def expected() -> Vectors:
    """By the package, in a process of its own: importing it sets up logging."""
    code = (
        "import sys; from pathlib import Path; import wordllama; from wordllama import WordLlama;"
        "model = WordLlama.load(cache_dir=Path(wordllama.__file__).parent, disable_download=True);"
        f"sys.stdout.buffer.write(model.embed({TEXTS!r}, norm=True).tobytes())"
    )
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    return np.frombuffer(printed.stdout, np.float32).reshape(len(TEXTS), -1)


async def test_vectors_are_those_of_the_package(
    embedder: StaticEmbedder, expected: Vectors
) -> None:
    vectors = await embedder.embed(TEXTS)

    assert vectors.shape == (4, embedder.model.dimension)
    assert ((vectors * expected).sum(axis=1) > 0.999999).all()


async def test_only_long_or_many_texts_leave_the_event_loop(
    embedder: StaticEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads = []
    embed = embedder._embed

    def noted(texts: Sequence[str]) -> Vectors:
        threads.append(threading.current_thread())
        return embed(texts)

    monkeypatch.setattr(embedder, "_embed", noted)

    await embedder.embed(["how to empty the pipes"])
    await embedder.embed(["word " * 60, "word " * 60])
    await embedder.embed(["x"] * 400)

    assert [one is threading.main_thread() for one in threads] == [True, False, False]


async def test_the_package_itself_is_not_imported(embedder: StaticEmbedder) -> None:
    await embedder.embed(["text"])

    assert "wordllama" not in sys.modules


def test_without_the_extra_the_message_names_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ingest.tokens.vocabularies.find_spec", lambda name: None)

    with pytest.raises(SetupError, match=r'pip install "rag-ingest\[static\]"'):
        StaticEmbedder()


def test_weights_that_are_not_the_tested_ones_raise_a_setup_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (weights := tmp_path / "weights").mkdir()
    (weights / "l2_supercat_256.safetensors").write_bytes(b"other weights")
    monkeypatch.setattr("ingest.providers.embedders.static.wordllama_folder", lambda: tmp_path)

    with pytest.raises(SetupError, match=r"reinstall wordllama==0\.4\.0\.post1"):
        StaticEmbedder()
