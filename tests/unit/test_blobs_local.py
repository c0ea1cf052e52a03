"""The local folder's own promises: names, modes, durability, errors of the disk."""

import asyncio
import errno
import os
import resource
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

import pytest

from ingest.blobs.base import StagedBlob, new_key
from ingest.blobs.disk import describe
from ingest.blobs.factory import build_blob_store
from ingest.blobs.local import LocalBlobStore
from ingest.blobs.threads import Threads
from ingest.errors import SetupError, Transient
from ingest.settings.settings import Settings

NOW = timedelta(0)


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[LocalBlobStore]:
    store = LocalBlobStore(tmp_path / "blobs")
    yield store
    await store.close()


def files_below(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


@contextmanager
def largest_file(size: int) -> Iterator[None]:
    """Let writes fail beyond `size`, as a full disk does (EFBIG instead of ENOSPC)."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


async def test_a_blob_lies_under_its_key_and_only_its_owner_can_read_it(
    store: LocalBlobStore, tmp_path: Path
) -> None:
    blob = store.stage(new_key(uuid4()))
    await blob.write(b"abc")
    await store.commit([blob])
    path = tmp_path / "blobs" / blob.key

    assert path.read_bytes() == b"abc"
    assert path.stat().st_mode & 0o777 == 0o600
    assert files_below(tmp_path) == [path]


async def test_small_blobs_are_not_written_before_their_commit(
    store: LocalBlobStore, tmp_path: Path
) -> None:
    discarded, committed = store.stage(new_key(uuid4())), store.stage(new_key(uuid4()))
    for blob in (discarded, committed):
        await blob.write(b"abc")
        await blob.finish()
    await discarded.discard()
    before = files_below(tmp_path)
    await store.commit([committed])

    assert before == []
    assert files_below(tmp_path) == [tmp_path / "blobs" / committed.key]


async def test_small_blobs_share_a_memory_budget_and_give_it_back(
    store: LocalBlobStore, tmp_path: Path
) -> None:
    """160 blobs of 200 KiB are 31.25 MiB of the 32 that are kept in memory."""

    async def fill(count: int) -> list[StagedBlob]:
        blobs = [store.stage(new_key(uuid4())) for _ in range(count)]
        for blob in blobs:
            await blob.write(bytes(200 * 1024))
            await blob.finish()
        return blobs

    first = await fill(170)
    committed, discarded = first[:80], first[80:]
    await store.commit(committed)
    for blob in discarded:
        await blob.discard()
    await fill(160)

    assert set(files_below(tmp_path)) == {tmp_path / "blobs" / blob.key for blob in committed}


async def test_small_blobs_beyond_the_memory_budget_are_written_at_once(
    store: LocalBlobStore, tmp_path: Path
) -> None:
    blobs = [store.stage(new_key(uuid4())) for _ in range(170)]
    for blob in blobs:
        await blob.write(bytes(200 * 1024))
        await blob.finish()
    await store.close()  # waits for writes

    assert len(files_below(tmp_path)) == 170 - 163


async def test_finished_blobs_hold_no_file_descriptors(store: LocalBlobStore) -> None:
    blobs = [store.stage(new_key(uuid4())) for _ in range(50)]
    before = len(os.listdir("/dev/fd"))
    for blob in blobs:
        await blob.write(bytes(300_000))
        await blob.finish()
    await store.commit(blobs)

    assert len(os.listdir("/dev/fd")) <= before


async def test_a_blob_that_no_longer_fits_is_a_clear_error_and_can_be_discarded(
    store: LocalBlobStore, tmp_path: Path
) -> None:
    blob = store.stage(new_key(uuid4()))
    await blob.write(bytes(300_000))
    with largest_file(500_000), pytest.raises(Transient, match=f"cannot use {tmp_path}"):
        await blob.write(bytes(300_000))
    with pytest.raises(RuntimeError, match="can only be discarded"):
        await store.commit([blob])
    await blob.discard()

    assert files_below(tmp_path) == []


async def test_write_error_of_the_last_bytes_fails_the_commit(
    store: LocalBlobStore, tmp_path: Path
) -> None:
    good, bad = store.stage(new_key(uuid4())), store.stage(new_key(uuid4()))
    await good.write(b"abc")
    await bad.write(bytes(200_000))
    with largest_file(100_000):
        await good.finish()
        await bad.finish()
        with pytest.raises(Transient):
            await store.commit([good, bad])
    await good.discard()
    await bad.discard()

    assert files_below(tmp_path) == []


async def test_a_folder_that_cannot_be_written_stops_the_start(tmp_path: Path) -> None:
    (tmp_path / "blobs").write_text("a file where the folder should be")
    store = LocalBlobStore(tmp_path / "blobs")
    with pytest.raises(SetupError, match="INGEST_STORAGE: cannot use") as refused:
        await store.check()
    await store.close()

    assert str(tmp_path / "blobs") in str(refused.value)


async def test_foreign_files_in_the_folder_are_not_listed(
    store: LocalBlobStore, tmp_path: Path
) -> None:
    (tmp_path / "blobs" / "lost+found").mkdir(parents=True)
    (tmp_path / "blobs" / "README").write_text("not ours")
    (tmp_path / "blobs" / "lost+found" / "x").write_text("not ours")

    assert [key async for key in store.list_keys(older_than=NOW)] == []


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (errno.ENOSPC, "the disk that holds /data is full"),
        (errno.EDQUOT, "the disk that holds /data is full"),
        (errno.EROFS, "cannot use /data: Read-only file system"),
        (errno.EACCES, "cannot use /data: Permission denied"),
    ],
)
def test_disk_errors_are_explained(number: int, words: str) -> None:
    error = OSError(number, os.strerror(number))

    assert describe(error, Path("/data")) == words


@pytest.mark.parametrize("storage", ["gs://", "gs:///prefix"])
def test_a_bucket_url_without_a_bucket_is_refused(storage: str) -> None:
    with pytest.raises(SetupError, match="INGEST_STORAGE"):
        build_blob_store(Settings(storage=storage))


async def test_a_file_url_names_the_folder(tmp_path: Path) -> None:
    store = build_blob_store(Settings(storage=f"file://{tmp_path}/with%20space"))
    blob = store.stage(new_key(uuid4()))
    await store.commit([blob])
    await store.close()

    assert (tmp_path / "with space" / blob.key).exists()


async def test_a_cancelled_wait_lasts_until_the_call_has_ended() -> None:
    threads = Threads(1)
    begun, go_on = asyncio.Event(), asyncio.Event()
    loop = asyncio.get_running_loop()
    done = []

    def call() -> None:
        loop.call_soon_threadsafe(begun.set)
        asyncio.run_coroutine_threadsafe(go_on.wait(), loop).result()
        done.append(True)

    task = asyncio.create_task(threads.run(call))
    await begun.wait()
    task.cancel()
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.sleep(0)
    waited = not task.done()
    go_on.set()
    await asyncio.wait([task])
    await threads.close()

    assert waited
    assert task.cancelled()
    assert done == [True]
