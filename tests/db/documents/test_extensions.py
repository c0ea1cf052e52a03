"""A file of an extension's format, embedded by an extension: from upload to search."""

import ctypes
import sys
from pathlib import Path
from uuid import UUID

import pytest

from ingest.formats import catalog
from ingest.postgres.database import Connection, new_id, transaction
from ingest.runtime import open_runtime
from ingest.settings.settings import Settings
from ingest.store.sources import uploads
from ingest.store.sources.upload_verdicts import UploadedFile, UploadRequest
from tests.support.running_worker import until_status

EXAMPLES = Path(__file__).parents[3] / "docs/examples"


def is_dumpable() -> bool:
    """Whether other processes of the user may read this one's memory and environment."""
    return bool(ctypes.CDLL(None).prctl(3, 0, 0, 0, 0))  # PR_GET_DUMPABLE


async def test_a_file_is_read_and_embedded_by_extensions(
    conn: Connection,
    dsn: str,
    application_id: UUID,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.syspath_prepend(EXAMPLES)
    settings = Settings(
        data_dir=tmp_path, embedder="hashing_embedder:HashingEmbedder", formats=("textile",)
    )
    try:
        async with open_runtime(settings, dsn, work=True, serve=False) as runtime:
            assert sys.platform != "linux" or not is_dumpable()
            staged = runtime.blobs.stage(f"{application_id}/{new_id()}")
            await staged.write(b"h1. Opening hours\n\nAugust is closed.")
            await runtime.blobs.commit([staged])
            file = UploadedFile(
                path="hours.textile", size=37, sha256=bytes(32), blob_key=staged.key
            )
            request = UploadRequest(
                application_id=application_id, batch_id=None, model_id=runtime.model_id
            )
            async with transaction(runtime.pool) as tx:
                _, [verdict] = await uploads.register(tx, request, [file])
            await until_status(conn, verdict.job_id, "completed", "failed")
    finally:
        catalog._EXTENSIONS.clear()
        catalog.forget()

    cursor = await conn.execute(
        "select d.media_type, d.text, m.provider, m.name, m.dimension"
        "  from rag.documents d, rag.embedding_models m where m.id = %s",
        [runtime.model_id],
    )
    assert await cursor.fetchall() == [
        (
            "text/x-textile",
            "# Opening hours\n\nAugust is closed.",
            "example",
            "hashed-words-1",
            512,
        )
    ]
    count = await conn.execute("select count(*) from rag.embeddings")
    assert await count.fetchone() == (1,)
