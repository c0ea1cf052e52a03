"""A job type of your own in one file: how many words the documents of a knowledge source have.

docs/extending.md says how to start, register and queue it.
"""

from uuid import UUID

from ingest.extend.handlers import (
    ClaimedJob,
    Context,
    Outcome,
    OwnCode,
    Payload,
    Permanent,
    Progress,
    document_text,
    handler,
    list_documents,
    transaction,
)


class WordCount(Payload):
    """The job's payload: `{"minLength": 4}`."""

    min_length: int = 1


@handler("word_count")
async def count_words(job: ClaimedJob, ctx: Context, progress: Progress) -> Outcome:
    """Count words of at least `minLength` characters."""
    shortest = WordCount.of(job).min_length
    words = documents = 0
    # Texts are fetched one by one: a connection is held for a moment, memory for one document.
    for document_id in await _documents(job, ctx):
        async with transaction(ctx.pool) as conn:
            text = await document_text(
                conn, application_id=job.application_id, document_id=document_id
            )
        words += sum(len(word) >= shortest for word in (text or "").split())
        documents += 1
    progress.advance_to(100)
    # The worker commits it together with the end of the job; `write=` would add rows of your own.
    return Outcome(result={"documents": documents, "words": words})


async def _documents(job: ClaimedJob, ctx: Context) -> list[UUID]:
    if job.knowledge_source_id is None:
        # No attempt can succeed; Transient would have it tried again, Snooze put it off.
        raise Permanent("word_count needs a knowledgeSourceId", code=OwnCode("source_missing"))
    found: list[UUID] = []
    while True:
        async with transaction(ctx.pool) as conn:
            page = await list_documents(
                conn,
                application_id=job.application_id,
                source_id=job.knowledge_source_id,
                limit=200,
                after=found[-1] if found else None,
            )
        if not page:
            return found
        found += [document.id for document in page]
