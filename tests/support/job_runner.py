"""Runs claimed jobs by their handlers, as a worker does, but when the test asks for it."""

from collections.abc import Mapping

from ingest.handlers.context import Context, Progress
from ingest.handlers.registry import Handler
from ingest.postgres.database import Pool, transaction
from ingest.store.queue import job_types
from ingest.store.queue.jobs import ClaimedJob
from ingest.worker.attempt import attempt
from ingest.worker.commit import Finished, commit


class JobRunner:
    pool: Pool
    handlers: Mapping[str, Handler]

    @property
    def context(self) -> Context:
        raise NotImplementedError

    async def attempt(self, job: ClaimedJob) -> Finished | None:
        """Run the job without committing its outcome."""
        async with transaction(self.pool) as conn:
            types = {row.type: row for row in await job_types.all_types(conn)}
        return await attempt(
            job,
            types[job.type],
            handlers=self.handlers,
            context=self.context,
            progress=Progress(job),
        )

    async def carry_out(self, job: ClaimedJob) -> Finished | None:
        finished = await self.attempt(job)
        if finished is not None:
            await commit(self.pool, [finished])
        return finished
