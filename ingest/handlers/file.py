"""An uploaded file becomes a searchable document: extract → chunk → embed → store."""

from datetime import timedelta
from pathlib import Path

from ingest.db import Connection
from ingest.errors import BlobMissing, LeaseLost, Permanent
from ingest.handlers.context import Context, Outcome, Progress
from ingest.handlers.embed_chunks import EmbeddedChunks, embed_chunks
from ingest.handlers.new_document import new_document
from ingest.handlers.questions import ask
from ingest.handlers.registry import handler
from ingest.sandbox.messages import Parsed, ParseRequest
from ingest.store import documents, sources
from ingest.store.documents import NewDocument
from ingest.store.jobs import ClaimedJob
from ingest.store.sources import SourceForJob


@handler("file")
async def ingest_file(job: ClaimedJob, ctx: Context, progress: Progress) -> Outcome:
    """Extract, chunk and embed a file; the outcome swaps it in, or holds it for a review."""
    await ctx.embedder.ready()
    source = await _source(job, ctx)
    parsed = await _parse(job, source, ctx, progress)
    with progress.entered("embed", at=40) as details:
        vectors = await embed_chunks(parsed.chunks, ctx, progress)
        details |= {"chunks": len(parsed.chunks), "reused": vectors.reused}
    progress.stage = "store"
    progress.reached(95)

    review = await ask(parsed.document, ctx, application_id=source.application_id)
    new = new_document(
        source_id=source.id,
        application_id=source.application_id,
        uri=source.uri,
        content_hash=bytes.fromhex(job.payload["contentHash"]),
        parsed=parsed,
        vectors=vectors,
        model_id=ctx.model_id,
        chunking=ctx.chunking,
        held_by=None if review is None else job.id,
    )

    async def write(conn: Connection) -> None:
        if review is None:
            await _write_source(conn, job, new)
        await _forget_cached(conn, new, vectors)

    return Outcome(
        write=write,
        review=review,
        documents=[new],
        result={
            "chunks": len(parsed.chunks),
            "tokens": sum(chunk.token_count for chunk in parsed.chunks),
            "reusedVectors": vectors.reused,
            "extractor": parsed.document.extractor,
            # Where to read what is asked about.
            **({} if review is None else {"documentId": str(new.id)}),
        },
        embedding_config={
            "provider": ctx.model.provider,
            "model": ctx.model.name,
            "dimension": ctx.model.dimension,
        },
    )


async def _source(job: ClaimedJob, ctx: Context) -> SourceForJob:
    if job.knowledge_source_id is None:
        raise Permanent("a file job needs a knowledge source", code="internal")
    async with ctx.pool.connection() as conn:
        source = await sources.for_job(conn, job.knowledge_source_id)
    if source is None:
        raise Permanent("the knowledge source was deleted", code="source_deleted")
    return source


async def _parse(job: ClaimedJob, source: SourceForJob, ctx: Context, progress: Progress) -> Parsed:
    progress.stage = "extract"
    request = ParseRequest(
        name=source.name, declared=None, max_pages=ctx.max_pages, chunk=ctx.chunking
    )
    try:
        async with ctx.blobs.open_local(job.payload["blobKey"]) as path:
            parsed = await _parse_twice_at_most(path, request, ctx)
    except BlobMissing as error:
        raise Permanent(f"{error}; upload the file again", code="blob_missing") from error
    progress.note(
        "extract",
        timedelta(seconds=parsed.extract_seconds),
        {"extractor": parsed.document.extractor, "mediaType": parsed.document.media_type},
    )
    progress.note("chunk", timedelta(seconds=parsed.chunk_seconds), {"chunks": len(parsed.chunks)})
    if not parsed.chunks:
        raise Permanent("the file has no text", code="no_text")
    return parsed


async def _parse_twice_at_most(path: Path, request: ParseRequest, ctx: Context) -> Parsed:
    """A child may die of another process's hunger; a file that crashes it does so again."""
    try:
        return await ctx.parser.parse(path, request)
    except Permanent as error:
        if error.code != "parser_crashed":
            raise
        return await ctx.parser.parse(path, request)


async def _write_source(conn: Connection, job: ClaimedJob, new: NewDocument) -> None:
    """Say in the source what is searchable from this commit on."""
    still_there = await sources.set_content(
        conn,
        new.source_id,
        content_hash=new.content_hash,
        blob_key=job.payload["blobKey"],
        size_bytes=job.payload["sizeBytes"],
        model_id=new.model_id,
        coverage=documents.coverage_json(new.document.coverage),
        chunk_count=len(new.chunks),
        token_count=sum(chunk.token_count for chunk in new.chunks),
    )
    if not still_there:
        raise LeaseLost(job.id)


async def _forget_cached(conn: Connection, new: NewDocument, vectors: EmbeddedChunks) -> None:
    """Vectors are stored with the chunks now."""
    if vectors.is_cached:
        await documents.drop_cached(
            conn,
            application_id=new.application_id,
            model_id=new.model_id,
            hashes=vectors.hashes,
        )
