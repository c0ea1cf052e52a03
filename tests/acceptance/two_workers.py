"""One API and two workers on one Postgres, with job types of a user; shared by a file's tests."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg

from harness.database import Database
from harness.patience import LONG_PATIENCE
from harness.service import SHORT_LEASE, Service, services, until
from tests.acceptance import own_handlers
from tests.acceptance.openai_server import EmbeddingServer

_ANYTHING = {"type": "object"}


@dataclass(frozen=True, slots=True)
class TwoWorkers:
    database: Database
    api: Service
    workers: Sequence[Service]
    start: Callable[..., Service]

    def job(self, id: str, **headers: str) -> Any:
        answer = self.api.http.get(f"/api/jobs/{id}", headers=headers)
        answer.raise_for_status()
        return answer.json()

    @contextmanager
    def another_api(self) -> Iterator[Service]:
        api = self.start("api").wait_until_ready()
        yield api
        api.end()

    def add_type(self, handler: str, **limits: Any) -> str:
        """A job type with a name of its own."""
        name = f"{handler}_{uuid4().hex[:8]}"
        body = {"type": name, "handler": handler, "payloadSchema": _ANYTHING, **limits}
        answer = self.api.http.post("/api/job-types", json=body)
        assert answer.status_code == 201, answer.text
        return name

    def edit_type(self, type: str, **change: Any) -> None:
        self.api.http.patch(f"/api/job-types/{type}", json=change).raise_for_status()

    def enqueue(self, type: str, count: int, **payload: Any) -> None:
        """Ready jobs of the default application, all at once."""
        application_id = self.database.default_application()
        with psycopg.connect(self.database.dsn) as conn:
            conn.execute(
                "insert into rag.processing_jobs (id, application_id, type, payload, max_attempts)"
                " select gen_random_uuid(), %s, %s, %s, max_attempts"
                "   from rag.job_types, generate_series(1, %s) where type = %s",
                [application_id, type, psycopg.types.json.Jsonb(payload), count, type],
            )
            conn.execute("select pg_notify('rag_jobs', '')")

    def add_application(self, name: str) -> str:
        answer = self.api.http.post("/api/applications", json={"name": name})
        answer.raise_for_status()
        id: str = answer.json()["id"]
        return id

    def forget_pending(self, type: str) -> None:
        self.database.execute(
            "delete from rag.processing_jobs where type = %s and status = 'pending'", type
        )

    def make_notifications_due(self) -> None:
        """Let the time pass that lies between two attempts, once the last one is over."""
        until(
            lambda: (
                not self.database.count(
                    "select count(*) from rag.processing_jobs"
                    " where type = 'notification' and status = 'processing'"
                )
            )
        )
        self.database.execute("update rag.webhook_endpoints set retry_at = now()")
        self.database.execute(
            "update rag.processing_jobs set run_at = now()"
            " where type = 'notification' and status = 'pending' and run_at > now()"
        )
        self.database.execute("select pg_notify('rag_jobs', '')")

    def count(self, type: str, status: str) -> int:
        return self.database.count(
            "select count(*) from rag.processing_jobs where type = %s and status = %s",
            type,
            status,
        )

    def wait_until_completed(self, type: str, count: int, *, within: float = LONG_PATIENCE) -> None:
        until(lambda: self.count(type, "completed") == count, within=within, every=0.1)

    def starts(self, type: str) -> list[float]:
        """When the jobs of a type were claimed, in seconds by the database's clock."""
        rows = self.database.rows(
            "select extract(epoch from started_at)::float8 from rag.processing_jobs"
            " where type = %s",
            type,
        )
        return [start for (start,) in rows]

    def most_attempts(self, type: str) -> int:
        return self.database.count(
            "select max(attempts) from rag.processing_jobs where type = %s", type
        )

    def holders(self, type: str) -> int:
        """How many workers have run jobs of the type that are running now."""
        return self.database.count(
            "select count(distinct locked_by) from rag.processing_jobs"
            " where type = %s and status = 'processing'",
            type,
        )


@contextmanager
def two_workers(folder: Path, openai: EmbeddingServer) -> Iterator[TwoWorkers]:
    data = folder / "data"
    data.mkdir()
    database = Database(folder / "server")
    try:
        env = {
            "DATABASE_URL": database.service_dsn,
            "INGEST_HANDLERS": own_handlers.MODULE,
            "INGEST_FETCH_ALLOW": "127.0.0.0/8",
            **SHORT_LEASE,
            **openai.env(),
        }
        with services(data=data, env=env) as start:
            api = start("api").wait_until_ready()
            workers = [start("worker"), start("worker")]
            until(lambda: database.count("select count(*) from rag.workers") == 2)
            yield TwoWorkers(database, api, workers, start)
    finally:
        database.close()


def busiest(times: Sequence[float], *, window: float) -> int:
    """The most calls in any so many seconds."""
    return max(sum(start <= other < start + window for other in times) for start in times)


def settle(seconds: float) -> None:
    """Long enough for what must not happen to happen."""
    time.sleep(seconds)
