"""The vocabularies of the three embedding models, read from installed files, never the network.

A layer below chunking and providers: both tokenise, but they must not import each other. Each
function imports its tokenizer library itself, so a parser process loads only one of them.
"""

import lzma
from base64 import b64decode
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from ingest.errors import SetupError
from ingest.tokens.pinned_files import check, read

if TYPE_CHECKING:
    import tiktoken
    import tokenizers

# NOTICE says where the files come from. The hash of cl100k_base is that of the unpacked file, which
# tiktoken names too.
_CL100K_SHA256 = "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7"
_MINILM_SHA256 = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"
_WORDLLAMA_SHA256 = "93248f2a9ec36c7b35f700a033d5f36228aae48db61aee31007fa49062cdeb68"
_CL100K_PATTERN = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"
    r"|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
)
MINILM_LONGEST_WORD = 100
WORDLLAMA = "wordllama==0.4.0.post1"
"""The only version whose files are known."""


def load_minilm() -> "tokenizers.Tokenizer":
    """WordPiece of all-MiniLM-L6-v2; adds [CLS] and [SEP] by default.

    Words above 100 characters, which the original reads as one [UNK], are read in pieces of 100:
    a line of 5 MB without a space must not count as one token.
    """
    from tokenizers import Tokenizer, pre_tokenizers

    loaded = Tokenizer.from_buffer(
        read(Path(__file__).with_name("minilm.json"), sha256=_MINILM_SHA256, package="rag-ingest")
    )
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

    file = wordllama_folder() / "tokenizers" / "l2_supercat_tokenizer_config.json"
    loaded = Tokenizer.from_buffer(read(file, sha256=_WORDLLAMA_SHA256, package=WORDLLAMA))
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

    file = Path(__file__).with_name("cl100k_base.tiktoken.xz")
    try:
        data = lzma.decompress(file.read_bytes())
    except (OSError, EOFError, lzma.LZMAError):
        data = b""  # which no hash accepts
    check(data, file, sha256=_CL100K_SHA256, package="rag-ingest")
    lines = (line.split() for line in data.splitlines())
    return tiktoken.Encoding(
        "cl100k_base",
        pat_str=_CL100K_PATTERN,
        mergeable_ranks={b64decode(token): int(rank) for token, rank in lines},
        special_tokens={},
    )
