"""What the files of sentence-transformers beside an ONNX model say about its use.

modules.json                        the steps: Transformer, Pooling, Normalize
1_Pooling/config.json               how token vectors become one vector
sentence_bert_config.json           tokens that fit, lower case
config_sentence_transformers.json   prompts: what to put before questions and passages
"""

import hashlib
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, get_args

from ingest.errors import SetupError
from ingest.providers.embedders.base import Prefixes
from ingest.tokens.json_files import tokenizer_file

Pooling = Literal["cls", "mean", "max", "lasttoken"]

_MODELS: Final = ("model.onnx", "onnx/model.onnx")
_MOST_TOKENS: Final = 8192
_DEFAULT_TOKENS: Final = 512
_NO_LIMIT: Final = 1_000_000
# The square root of the length scales a vector, which is made a unit vector anyway.
_POOLINGS: Final[dict[str, Pooling]] = {
    "pooling_mode_cls_token": "cls",
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_mean_sqrt_len_tokens": "mean",
    "pooling_mode_max_tokens": "max",
    "pooling_mode_lasttoken": "lasttoken",
}
_STEPS: Final = ("Transformer", "Pooling", "Normalize")
_QUERY_PROMPTS: Final = ("query", "search_query", "retrieval.query")
_PASSAGE_PROMPTS: Final = ("passage", "document", "search_document", "retrieval.passage")
# The first versions of E5 name their prefixes only in prose. E5-Mistral and others with
# instructions carry prompts.
_IS_E5: Final = re.compile(r"(^|[/_-])e5-(small|base|large)([_.-]|$)", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFolder:
    name: str
    """Name of the folder and a digest of all that decides the vectors of passages."""
    model: Path
    tokenizer: str
    """Its name for load_tokenizer()."""
    pooling: Pooling
    prefixes: Prefixes
    max_tokens: int
    """Tokens that the model reads, with the special ones and those of a prefix."""
    pad_id: int
    lowercase: bool


def read_folder(folder: Path, *, query: str | None, passage: str | None) -> ModelFolder:
    """Read a folder; `query` and `passage` replace the prefixes that its files name.

    Raises SetupError, in one line, if a file is missing or asks for what we cannot do.
    """
    folder = folder.absolute()
    model = next((folder / name for name in _MODELS if (folder / name).is_file()), None)
    if model is None:
        raise SetupError(f"{folder} has no model.onnx")
    tokenizer = tokenizer_file(folder / "tokenizer.json")
    own = _prefixes(folder)
    prefixes = Prefixes(
        query=own.query if query is None else query,
        passage=own.passage if passage is None else passage,
    )
    pooling = _pooling(folder, has_prefix=bool(prefixes.query or prefixes.passage))
    sentence = _json(folder / "sentence_bert_config.json")
    max_tokens = _max_tokens(folder, sentence)
    lowercase = bool(sentence.get("do_lower_case"))
    # Not the prefix of questions: their vectors are not stored.
    decisive = [tokenizer.digest, pooling, prefixes.passage, max_tokens, lowercase, _digest(model)]
    digest = hashlib.sha256(json.dumps(decisive).encode()).hexdigest()
    return ModelFolder(
        name=f"{folder.name}#{digest[:8]}",
        model=model,
        tokenizer=tokenizer.name,
        pooling=pooling,
        prefixes=prefixes,
        max_tokens=max_tokens,
        pad_id=_integer(_json(folder / "config.json").get("pad_token_id")) or 0,
        lowercase=lowercase,
    )


def _digest(model: Path) -> str:
    """Digest of the weights; above 2 GB they are in files beside the model."""
    digest = hashlib.sha256()
    for file in sorted(model.parent.glob("model.onnx*")):
        with file.open("rb") as stream:
            digest.update(hashlib.file_digest(stream, "sha256").digest())
    return digest.hexdigest()


def _pooling(folder: Path, *, has_prefix: bool) -> Pooling:
    steps = _json(folder / "modules.json", default=[])
    kinds = [str(step.get("type", "")).rpartition(".")[2] for step in steps]
    if other := [kind for kind in kinds if kind not in _STEPS]:
        raise SetupError(f"{folder}/modules.json has the step {other[0]}, which is not supported")
    paths = [step["path"] for step, kind in zip(steps, kinds, strict=True) if kind == "Pooling"]
    file = folder / (paths[0] if paths else "1_Pooling") / "config.json"
    config = _json(file)
    chosen = {pooling for name, pooling in _POOLINGS.items() if config.get(name) is True}
    if config.get("pooling_mode") in get_args(Pooling):
        chosen.add(config["pooling_mode"])
    if len(chosen) != 1 or (has_prefix and config.get("include_prompt") is False):
        raise SetupError(f"{file} must name one of the poolings {', '.join(get_args(Pooling))}")
    return chosen.pop()


def _prefixes(folder: Path) -> Prefixes:
    prompts = _json(folder / "config_sentence_transformers.json").get("prompts")
    if isinstance(prompts, dict) and any(prompts.values()):
        return Prefixes(
            query=next((prompts[name] for name in _QUERY_PROMPTS if prompts.get(name)), ""),
            passage=next((prompts[name] for name in _PASSAGE_PROMPTS if prompts.get(name)), ""),
        )
    names = (folder.name, str(_json(folder / "config.json").get("_name_or_path", "")))
    if any(_IS_E5.search(name) for name in names):
        return Prefixes(query="query: ", passage="passage: ")
    return Prefixes()


def _max_tokens(folder: Path, sentence: dict[str, Any]) -> int:
    truncation = _json(folder / "tokenizer.json").get("truncation") or {}
    candidates = (
        sentence.get("max_seq_length"),
        _json(folder / "tokenizer_config.json").get("model_max_length"),
        truncation.get("max_length"),
    )
    # Tokenizers without a limit name an enormous one.
    known = (_integer(value) for value in candidates)
    limit = next((value for value in known if value and value < _NO_LIMIT), _DEFAULT_TOKENS)
    return min(limit, _MOST_TOKENS)


def _integer(value: Any) -> int | None:
    return int(value) if isinstance(value, int | float) and value >= 0 else None


def _json(file: Path, *, default: Any = None) -> Any:
    """The content of a file; an empty dictionary, or `default`, if there is none."""
    kind = dict if default is None else type(default)
    try:
        content = json.loads(file.read_bytes())
    except FileNotFoundError:
        return kind()
    except (OSError, ValueError):
        content = None
    if not isinstance(content, kind):
        raise SetupError(f"{file} cannot be read")
    return content
