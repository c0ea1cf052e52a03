"""How the installation is configured and what it runs on. No secret is in it."""

import asyncio
import platform
from importlib.metadata import version
from typing import Literal

from api.authenticated_route import KeyedRouter
from api.dependencies import Operator, PoolDep, RuntimeDep
from ingest.postgres.database import transaction
from ingest.postgres.migrations import load_migrations
from ingest.providers.ocr import factory as ocr_engines
from ingest.runtime import Runtime
from ingest.settings.effective import effective_settings, without_credentials
from ingest.store.limits import usage
from ingest.store.limits.usage import InstallationUsage
from ingest.store.overview import installation
from ingest.store.view import View

router = KeyedRouter(prefix="/api/settings", tags=["management"])


class SettingView(View):
    name: str
    """Of the environment variable."""
    value: str | None
    """As the variable is written. Null: a secret, or not set and without a default. Addresses are
    shown without user, password and query."""
    is_set: bool
    """False: `value` is the default."""
    is_secret: bool


class EmbeddingView(View):
    provider: str
    model: str
    dimension: int
    max_tokens: int
    """Longest text that the model accepts."""
    chunk_tokens: int
    """Size of a chunk, unless an application or a source has a setting of its own."""
    chunk_overlap: int


class OcrView(View):
    engine: str
    """With its version."""
    languages: list[str]
    """Empty: all that the engine has."""


class StorageView(View):
    kind: Literal["folder", "bucket"]
    location: str
    used_bytes: int
    """Files and texts of all applications, and files that wait or have failed."""
    free_bytes: int | None
    """On the disk of the folder; null for a bucket."""
    reserve_bytes: int
    """With less free space, uploads are refused (INGEST_DISK_RESERVE)."""


class DatabaseView(View):
    is_embedded: bool
    version: str
    pgvector_version: str | None
    size_bytes: int | None
    """Null: the role may not ask."""
    migration: int | None
    """Number of the newest migration that was applied."""
    expected_migration: int
    """Number of the newest migration of this version of the service."""


class InstallationView(View):
    version: str
    python_version: str
    settings: list[SettingView]
    embedding: EmbeddingView
    ocr: OcrView | None
    """Null: no text is read in pictures."""
    storage: StorageView
    database: DatabaseView


@router.get("")
async def get_settings(runtime: RuntimeDep, pool: PoolDep, key: Operator) -> InstallationView:
    """The effective settings of the process that answers, and what the installation runs on."""
    settings = runtime.settings
    async with transaction(pool) as conn:
        database = await installation.database(conn)
        used = await usage.of_installation(conn, settings.quotas)
    return InstallationView(
        version=version("rag-ingest"),
        python_version=platform.python_version(),
        settings=[SettingView.model_validate(each) for each in effective_settings(settings)],
        embedding=_embedding(runtime),
        ocr=await _ocr(runtime),
        storage=await _storage(runtime, used),
        database=DatabaseView(
            is_embedded=settings.database_url is None,
            version=database.version,
            pgvector_version=database.pgvector_version,
            size_bytes=database.size_bytes,
            migration=database.migration,
            expected_migration=max(migration.version for migration in load_migrations()),
        ),
    )


def _embedding(runtime: Runtime) -> EmbeddingView:
    model, chunking = runtime.model, runtime.chunking.chunking
    return EmbeddingView(
        provider=model.provider,
        model=model.name,
        dimension=model.dimension,
        max_tokens=model.max_tokens,
        chunk_tokens=chunking.size,
        chunk_overlap=chunking.overlap,
    )


async def _ocr(runtime: Runtime) -> OcrView | None:
    if runtime.ocr is None:
        return None
    engine = await asyncio.to_thread(ocr_engines.available, runtime.ocr)
    return OcrView(engine=engine or runtime.ocr.engine, languages=list(runtime.ocr.languages))


async def _storage(runtime: Runtime, used: InstallationUsage) -> StorageView:
    settings = runtime.settings
    given = settings.storage or f"file://{settings.data_dir.absolute() / 'blobs'}"
    free = await runtime.disk.free()
    return StorageView(
        kind="bucket" if given.startswith("gs:") else "folder",
        location=without_credentials(given),
        used_bytes=used.stored_bytes + used.staged_bytes,
        free_bytes=free.get("files"),
        reserve_bytes=settings.disk_reserve,
    )
