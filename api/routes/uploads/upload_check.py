"""Check before an upload which files need not be sent: resuming needs their hashes only.

The same code as in POST /upload/documents decides, so both give the same verdicts.
"""

from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field

from api.authenticated_route import KeyedRouter
from api.dependencies import Editor, PoolDep, RuntimeDep
from api.schema.json_model import Body, Metadata
from api.upload.paths import normalise
from ingest.postgres.database import transaction
from ingest.store.sources import uploads
from ingest.store.sources.upload_verdicts import OnConflict, UploadedFile, UploadRequest
from ingest.store.view import View

router = KeyedRouter(prefix="/upload", tags=["upload"])


class FileDigest(Body):
    path: Annotated[str, Field(min_length=1, max_length=16_384)]
    sha256: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]


class UploadCheck(Body):
    files: Annotated[list[FileDigest], Field(min_length=1, max_length=10_000)]
    metadata: Metadata | None = None
    on_conflict: OnConflict = "update"
    collection_id: UUID | None = None


class KnownFile(View):
    index: int
    """Position in the request's `files`."""
    verdict: Literal["unchanged", "duplicate"]
    knowledge_source_id: UUID | None
    job_id: UUID | None
    """The job that still processes these bytes, if any."""


class UploadCheckAnswer(View):
    known: list[KnownFile]


@router.post("/check")
async def check_upload(
    body: UploadCheck, runtime: RuntimeDep, pool: PoolDep, key: Editor
) -> UploadCheckAnswer:
    """List the files that are already stored and need not be sent."""
    upload = UploadRequest(
        application_id=key.application_id,
        batch_id=None,
        model_id=runtime.model_id,
        metadata=body.metadata,
        on_conflict=body.on_conflict,
        collection_id=body.collection_id,
    )
    async with transaction(pool) as conn:
        verdicts = await uploads.preview(conn, upload, [_as_uploaded(file) for file in body.files])
        stale = await uploads.changed_though_known(
            conn, upload, [verdict.source_id for verdict in verdicts if verdict.source_id]
        )
    return UploadCheckAnswer(
        known=[
            KnownFile(
                index=index,
                verdict=verdict.verdict,
                knowledge_source_id=verdict.source_id,
                job_id=verdict.job_id,
            )
            for index, verdict in enumerate(verdicts)
            if verdict.verdict == "duplicate"
            or (verdict.verdict == "unchanged" and verdict.source_id not in stale)
        ]
    )


def _as_uploaded(file: FileDigest) -> UploadedFile:
    """Treat the file as uploaded; a path that the upload refuses is refused here too."""
    try:
        path = normalise(file.path)
    except ValueError:
        return UploadedFile(path="", size=0, sha256=b"", blob_key="", code="invalid_path")
    return UploadedFile(path=path, size=0, sha256=bytes.fromhex(file.sha256), blob_key="")
