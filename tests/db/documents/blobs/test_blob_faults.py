"""Blob stores when an upload is cut off, a commit fails, or the bucket is gone."""

import asyncio
from datetime import timedelta
from pathlib import Path
from uuid import UUID

import pytest

from ingest.blobs.base import BlobStore, new_key
from ingest.blobs.factory import build_blob_store
from ingest.errors import SetupError, Transient
from ingest.settings.settings import Settings
from tests.db.documents.blobs.conftest import MIB, NOW, listed, stage, stage_stored


async def test_a_cancelled_upload_leaves_nothing_behind(
    store: BlobStore, application: UUID
) -> None:
    """Cancelled in the middle of a write, when a thread still has the bytes in its hands."""

    async def upload() -> None:
        blob = store.stage(new_key(application))
        try:
            while True:
                await blob.write(bytes(MIB))
        finally:
            await blob.discard()

    task = asyncio.create_task(upload())
    await asyncio.sleep(0.1)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert await store.sweep_staged(older_than=NOW) == 0
    assert await listed(store) == set()


async def test_a_cancelled_commit_can_still_be_discarded_whole(
    store: BlobStore, application: UUID
) -> None:
    blobs = [await stage(store, application, b"abc") for _ in range(200)]
    task = asyncio.create_task(store.commit(blobs))
    await asyncio.sleep(0.01)
    task.cancel()
    await asyncio.wait([task])
    assert task.cancelled()
    for blob in blobs:
        await blob.discard()

    assert await store.sweep_staged(older_than=NOW) == 0
    assert await listed(store) == set()


async def test_a_commit_that_fails_halfway_can_still_be_discarded_whole(
    store: BlobStore, application: UUID
) -> None:
    lost = await stage_stored(store, application)
    await store.sweep_staged(older_than=NOW)
    blobs = [await stage_stored(store, application), await stage(store, application, b"abc"), lost]
    with pytest.raises(Transient):
        await store.commit(blobs)
    for blob in blobs:
        await blob.discard()

    assert await store.sweep_staged(older_than=NOW) == 0
    assert await listed(store) == set()


async def test_leftovers_of_a_killed_upload_are_swept_when_they_are_old(
    settings: Settings, application: UUID
) -> None:
    killed = build_blob_store(settings)
    for _ in range(3):
        await stage_stored(killed, application)
    await killed.close()
    store = build_blob_store(settings)
    too_young = await store.sweep_staged(older_than=timedelta(hours=1))
    swept = await store.sweep_staged(older_than=NOW)
    again = await store.sweep_staged(older_than=NOW)
    await store.close()

    assert (too_young, swept, again) == (0, 3, 0)


async def test_missing_bucket_raises_setup_error(emulator: str, tmp_path: Path) -> None:
    store = build_blob_store(
        Settings(data_dir=tmp_path, storage="gs://absent", STORAGE_EMULATOR_HOST=emulator)
    )
    with pytest.raises(SetupError, match="INGEST_STORAGE: bucket absent") as refused:
        await store.check()
    await store.close()

    assert "\n" not in str(refused.value)


async def test_an_unreachable_bucket_stops_the_start(tmp_path: Path) -> None:
    store = build_blob_store(
        Settings(data_dir=tmp_path, storage="gs://b", STORAGE_EMULATOR_HOST="127.0.0.1:1")
    )
    with pytest.raises(SetupError, match="INGEST_STORAGE: bucket b"):
        await store.check()
    await store.close()


async def test_an_upload_to_a_lost_bucket_is_a_transient_error(
    emulator: str, tmp_path: Path, application: UUID
) -> None:
    store = build_blob_store(
        Settings(data_dir=tmp_path, storage="gs://absent", STORAGE_EMULATOR_HOST=emulator)
    )
    blob = await stage(store, application, b"abc")
    with pytest.raises(Transient, match="bucket absent"):
        await store.commit([blob])
    await blob.discard()
    await store.close()
