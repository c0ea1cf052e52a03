"""Blob stores: a real folder, and a bucket of the emulator."""

from collections.abc import AsyncIterator, Iterator
from datetime import timedelta
from pathlib import Path
from uuid import UUID, uuid4

import pytest

from ingest.blobs.base import BlobStore, StagedBlob, new_key
from ingest.blobs.factory import build_blob_store
from ingest.settings.settings import Settings
from tests.servers.gcs_emulator import gcs_emulator

NOW = timedelta(0)
MIB = 1024 * 1024


@pytest.fixture(scope="module")
def emulator() -> Iterator[str]:
    with gcs_emulator("blobs") as address:
        yield address


@pytest.fixture(params=["file", "gs"])
def settings(request: pytest.FixtureRequest, tmp_path: Path) -> Settings:
    if request.param == "file":
        return Settings(data_dir=tmp_path)
    address: str = request.getfixturevalue("emulator")
    # A prefix of its own for every test, so that none sees another's blobs.
    return Settings(
        data_dir=tmp_path, storage=f"gs://blobs/{uuid4()}", STORAGE_EMULATOR_HOST=address
    )


@pytest.fixture
async def store(settings: Settings) -> AsyncIterator[BlobStore]:
    store = build_blob_store(settings)
    yield store
    await store.close()


@pytest.fixture
def application() -> UUID:
    return uuid4()


async def stage(store: BlobStore, application: UUID, *parts: bytes) -> StagedBlob:
    blob = store.stage(new_key(application))
    for part in parts:
        await blob.write(part)
    await blob.finish()
    return blob


async def stage_stored(store: BlobStore, application: UUID) -> StagedBlob:
    """A staged blob whose bytes have left the memory of this process."""
    blob = await stage(store, application, bytes(300_000))
    await blob.finished()  # type: ignore[attr-defined]  # of the implementations only
    return blob


async def listed(store: BlobStore, prefix: str = "", older_than: timedelta = NOW) -> set[str]:
    return {key async for key in store.list_keys(older_than=older_than, prefix=prefix)}
