"""Builds the blob store that the settings name, and the reserve of its disk."""

from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from ingest.blobs.base import BlobStore
from ingest.blobs.local import LocalBlobStore
from ingest.disk_reserve import DiskReserve
from ingest.errors import SetupError
from ingest.settings.settings import Settings

if TYPE_CHECKING:
    from ingest.blobs.gcs import GcsBlobStore


def build_blob_store(settings: Settings) -> BlobStore:
    """Build the store of INGEST_STORAGE: a bucket, or a folder (by default in the data folder).

    Raises SetupError if the value or the credentials are wrong; `BlobStore.check` tests the rest.
    """
    folder = _local_folder(settings)
    if folder is not None:
        return LocalBlobStore(folder)
    url = urlsplit(settings.storage or "")
    if url.scheme == "gs" and url.netloc:
        return _bucket_store(url.netloc, url.path.strip("/"), settings)
    raise SetupError("INGEST_STORAGE must be file:///FOLDER or gs://BUCKET/PREFIX")


def build_disk_reserve(settings: Settings) -> DiskReserve:
    """The reserve of the disks that this process writes to."""
    folders = {}
    if (files := _local_folder(settings)) is not None:
        folders["files"] = files
    if settings.database_url is None:
        folders["database"] = settings.data_dir.absolute()
    return DiskReserve(folders, reserve=settings.disk_reserve)


def _local_folder(settings: Settings) -> Path | None:
    """The folder of the blobs; None: they are in a bucket."""
    if settings.storage is None:
        return settings.data_dir.absolute() / "blobs"
    url = urlsplit(settings.storage)
    return Path(unquote(url.path)) if url.scheme == "file" else None


def _bucket_store(bucket: str, prefix: str, settings: Settings) -> "GcsBlobStore":
    # Imported here, because it takes half a second that a local folder does not need.
    from ingest.blobs.gcs import GcsBlobStore
    from ingest.blobs.gcs_client import connect

    client = connect(emulator=settings.storage_emulator_host)
    return GcsBlobStore(
        client.bucket(bucket),
        prefix=f"{prefix}/" if prefix else "",
        scratch=settings.data_dir.absolute() / "downloads",
    )
