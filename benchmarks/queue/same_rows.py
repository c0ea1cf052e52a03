"""The limit of an enqueue: INSERT … unnest of the rows that this project's queue writes.

It uses the same table with its indexes, the same columns, and ids made in the same way, but sends
no notification.
"""

from collections.abc import Sequence
from typing import Any

import psycopg
from psycopg.types.json import Jsonb

from benchmarks.queue.ours import IngestProducer
from benchmarks.queue.peers.roles import main
from ingest.postgres.database import new_id

_PUSH = """
insert into rag.processing_jobs (id, application_id, type, priority, payload, max_attempts)
select * from unnest(%s::uuid[], %s::uuid[], %s::text[], %s::integer[], %s::jsonb[], %s::integer[])
"""


class SameRows(IngestProducer):
    async def open(self) -> None:
        self.rows: psycopg.Connection[Any] = psycopg.connect(self.dsn, autocommit=True)
        found = self.rows.execute("select id from app.applications where is_default").fetchone()
        assert found is not None
        self.application_id = found[0]

    async def push(self, numbers: Sequence[int]) -> None:
        count = len(numbers)
        self.rows.execute(
            _PUSH,
            [
                [new_id() for _ in numbers],
                [self.application_id] * count,
                ["noop"] * count,
                [0] * count,
                [Jsonb({"number": number}) for number in numbers],
                [5] * count,
            ],
        )


if __name__ == "__main__":
    main(SameRows)
