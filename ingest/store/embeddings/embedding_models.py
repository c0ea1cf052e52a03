"""Embedding models: each is one vector space with its own HNSW index."""

from collections.abc import Mapping
from typing import Any

from psycopg import sql
from psycopg.types.json import Jsonb

from ingest.model import EmbeddingModel
from ingest.postgres.database import Connection, load_queries

_SQL = load_queries("embeddings/embedding_models.sql")


async def register(
    conn: Connection, model: EmbeddingModel, *, config: Mapping[str, Any] | None = None
) -> int:
    """Return the id of a model; on first use, insert it and create its HNSW index.

    config: the settings that build its embedder, without secrets.
    """
    identity = {"provider": model.provider, "name": model.name, "dimension": model.dimension}
    found = await (await conn.execute(_SQL["find"], identity)).fetchone()
    if found is not None:
        id, known = found
        if config is not None and config != known:
            await conn.execute(_SQL["set_config"], {"id": id, "config": Jsonb(config)})
        return int(id)
    # Otherwise two processes that start together would both build the index.
    await conn.execute(_SQL["lock_registration"])
    await conn.execute(_SQL["register"], {**identity, "config": Jsonb(config or {})})
    row = await (await conn.execute(_SQL["find"], identity)).fetchone()
    if row is None:
        raise RuntimeError("a registered model was not found")
    model_id = int(row[0])
    await conn.execute(
        sql.SQL(_SQL["create_index"].decode()).format(
            index=sql.Identifier(f"embeddings_hnsw_{model_id}"),
            dimension=sql.Literal(model.dimension),
            model_id=sql.Literal(model_id),
        )
    )
    return model_id


async def last_dimension(conn: Connection, provider: str, name: str) -> int | None:
    """The most recently registered dimension of a model; None: never registered."""
    identity = {"provider": provider, "name": name}
    row = await (await conn.execute(_SQL["last_dimension"], identity)).fetchone()
    return None if row is None else int(row[0])
