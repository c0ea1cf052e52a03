"""Builds the embedder named by the settings, and chunk settings that fit its model."""

import asyncio
import hashlib
import json
from typing import TYPE_CHECKING

from ingest.errors import IngestError, SetupError
from ingest.model import ChunkSettings, EmbeddingModel
from ingest.providers.embedders.base import Embedder, Prefixes, Refused
from ingest.settings.extensions import import_extension, one_line
from ingest.settings.settings import Settings
from ingest.tokens.tokenizers import load_tokenizer

if TYPE_CHECKING:
    from ingest.providers.embedders.openai import OpenAIEmbedder

_DEFAULT_CHUNK_TOKENS = 512
_OPENAI_MAX_TOKENS = 8191
_PROBE_SECONDS = 20
_OPENAI_DIMENSIONS = {
    "text-embedding-3-small": 1536,
    "text-embedding-3-large": 3072,
    "text-embedding-ada-002": 1536,
}


async def build_embedder(settings: Settings, *, known_dimension: int | None = None) -> Embedder:
    """Build the embedder, loaded and ready. Raises SetupError if it cannot work.

    `known_dimension`: the stored dimension of an OpenAI-compatible model, used if the endpoint does
    not answer now.

    Libraries are imported here, because only one is used.
    """
    if settings.embedding_provider == "local":
        from ingest.providers.embedders.local import LocalEmbedder

        return await asyncio.to_thread(LocalEmbedder)
    if settings.embedding_provider == "quantized":
        from ingest.providers.embedders.local import QuantizedEmbedder

        return await asyncio.to_thread(QuantizedEmbedder)
    if settings.embedding_provider == "multilingual":
        from ingest.providers.embedders.multilingual import MultilingualEmbedder

        embedder = await asyncio.to_thread(MultilingualEmbedder)
        await embedder.start()
        return embedder
    if settings.embedding_provider == "onnx":
        return await asyncio.to_thread(_build_onnx, settings)
    if settings.embedding_provider == "static":
        from ingest.providers.embedders.static import StaticEmbedder

        return await asyncio.to_thread(StaticEmbedder)
    if settings.embedding_provider == "openai":
        return await _build_openai(settings, known_dimension)
    return await asyncio.to_thread(_build_extension, settings.embedding_provider)


def chunk_settings(settings: Settings, model: EmbeddingModel) -> ChunkSettings:
    """512 tokens or as configured, at most the model's limit; overlap is 1/8 by default."""
    size = min(settings.chunk_tokens or _DEFAULT_CHUNK_TOKENS, model.max_tokens)
    overlap = size // 8 if settings.chunk_overlap is None else settings.chunk_overlap
    return ChunkSettings(tokenizer=model.tokenizer, size=size, overlap=min(overlap, size // 2))


def _build_extension(name: str) -> Embedder:
    """Call the factory `module:function` of the operator."""
    module, _, function = name.partition(":")
    factory = getattr(import_extension(module, setting="INGEST_EMBEDDER"), function, None)
    if not callable(factory):
        raise SetupError(f"INGEST_EMBEDDER: {module} has no function {function}")
    try:
        embedder = factory()
        if not isinstance(embedder, Embedder) or not isinstance(embedder.model, EmbeddingModel):
            raise SetupError("the function does not return an Embedder")
        load_tokenizer(embedder.model.tokenizer)
    except SetupError as error:
        raise SetupError(f"INGEST_EMBEDDER: {name}: {error}") from error
    except Exception as error:
        raise SetupError(f"INGEST_EMBEDDER: {name}: {one_line(error)}") from error
    return embedder


def _build_onnx(settings: Settings) -> Embedder:
    from ingest.providers.embedders.onnx import OnnxEmbedder

    if settings.embedding_folder is None:
        raise SetupError("INGEST_EMBEDDING_FOLDER: needed by INGEST_EMBEDDER=onnx")
    try:
        return OnnxEmbedder(
            settings.embedding_folder,
            query_prefix=settings.embedding_query_prefix,
            passage_prefix=settings.embedding_passage_prefix,
        )
    except SetupError as error:
        raise SetupError(f"INGEST_EMBEDDING_FOLDER: {error}") from None


def endpoint_model(settings: Settings) -> str:
    """Name of the vector space: the endpoint's model, and a digest of what else changes vectors.

    Not what only marks questions: their vectors are not stored.
    """
    types = settings.embedding_input_types
    marks = [
        settings.embedding_passage_prefix or "",
        *((types.field, types.passage) if types else ()),
    ]
    if not any(marks):
        return settings.embedding_model
    digest = hashlib.sha256(json.dumps(marks).encode()).hexdigest()
    return f"{settings.embedding_model}#{digest[:8]}"


async def _build_openai(settings: Settings, known_dimension: int | None) -> Embedder:
    import httpx

    from ingest.providers.embedders.openai import OpenAIEmbedder

    if settings.openai_api_key is None and settings.openai_base_url is None:
        raise SetupError("OPENAI_API_KEY: needed by INGEST_EMBEDDER=openai")
    # Self-hosted endpoints rarely need a key, but some refuse a request without any.
    key = settings.openai_api_key.get_secret_value() if settings.openai_api_key else "none"
    if not (key.isascii() and key.isprintable()):
        raise SetupError("OPENAI_API_KEY: contains characters that an HTTP header cannot carry")

    prefixes = Prefixes(
        query=settings.embedding_query_prefix or "",
        passage=settings.embedding_passage_prefix or "",
    )

    def embedder(dimension: int) -> OpenAIEmbedder:
        tokenizer = "cl100k_base"
        model = EmbeddingModel(
            provider="openai",
            name=endpoint_model(settings),
            dimension=dimension,
            max_tokens=_OPENAI_MAX_TOKENS - load_tokenizer(tokenizer).count(prefixes.passage),
            tokenizer=tokenizer,
        )
        return OpenAIEmbedder(
            model,
            api_key=key,
            base_url=settings.openai_base_url,
            dimensions=settings.embedding_dimensions,
            name=settings.embedding_model,
            prefixes=prefixes,
            input_types=settings.embedding_input_types,
        )

    known = settings.embedding_dimensions or _OPENAI_DIMENSIONS.get(settings.embedding_model)
    try:
        return embedder(known or await _probe(embedder(1), known_dimension))
    except httpx.InvalidURL:
        # The error quotes a part of the URL, which may contain a password.
        raise SetupError(
            "OPENAI_BASE_URL, or a proxy in the environment, is not a valid URL"
        ) from None


async def _probe(embedder: "OpenAIEmbedder", known: int | None) -> int:
    """Request one vector to learn the dimension of an unknown model."""
    try:
        async with asyncio.timeout(_PROBE_SECONDS):
            [vector] = await embedder.raw_vectors(["dimension"])
        return len(vector)
    except (IngestError, Refused, TimeoutError) as error:
        if known is not None:
            return known  # an unreachable provider must not prevent the start
        name, why = embedder.model.name, str(error) or "the response timed out"
        raise SetupError(
            "INGEST_EMBEDDING_DIMENSIONS: set it, as the dimension of"
            f" {name} could not be determined: {why}"
        ) from None
    finally:
        await embedder.close()
