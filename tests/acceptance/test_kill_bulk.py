"""A bulk action whose workers are killed in the middle: every row is changed once, and no other."""

import time
from collections.abc import Callable

from harness.database import Database
from harness.service import SHORT_LEASE, Service, until

FILES = 3_000
KILLS = 2


def test_a_deletion_of_all_survives_kills_of_its_workers_beside_uploads(
    database: Database, start: Callable[..., Service]
) -> None:
    api = start("api").wait_until_ready()
    # Nothing else to do: without workers the files stay unread.
    api.upload([(f"old/{number}.txt", b"old %d" % number) for number in range(FILES)])
    for type in ("file", "purge"):
        api.http.patch(f"/api/job-types/{type}", json={"isPaused": True}).raise_for_status()
    body = {"action": "delete", "filter": {"q": "old/"}}
    started = api.http.post("/api/knowledge-sources/bulk", json=body).raise_for_status().json()
    assert started["rowCount"] == FILES

    # One part after the other, slowly enough to be killed between and within them.
    database.execute(
        "create function slow() returns trigger language plpgsql as "
        "'begin perform pg_sleep(1); return null; end'"
    )
    database.execute(
        "create trigger slow after update on rag.bulk_parts for each statement "
        "execute function slow()"
    )
    for number in range(KILLS):
        worker = start("worker", **SHORT_LEASE)
        until(lambda: _busy(database), every=0.02)
        time.sleep(0.1 * number)
        worker.kill()
        api.upload([(f"new/{number}.txt", b"new"), (f"old/{number}.txt", b"again")])
    assert database.count("select count(*) from rag.bulk_parts where changed is null") > 0
    start("worker", **SHORT_LEASE)
    job = until(lambda: _ended(api, started["jobId"]))

    assert job["status"] == "completed", job
    assert job["result"]["rows"] == FILES
    skipped = sum(job["result"]["skipped"].values())
    assert job["result"]["changed"] + skipped == FILES
    # Each was deleted once: one event, one purge. Files of the uploads are live.
    twice = database.rows(
        "select source_id from rag.progress_events where data ->> 'errorCode' = 'source_deleted' "
        "group by source_id having count(*) > 1"
    )
    purges = database.rows("select count(*) from rag.processing_jobs where type = 'purge'")
    deleted = database.rows(
        "select count(*) from rag.knowledge_sources where deleted_at is not null"
    )
    live = {row["uri"] for row in api.pages("/api/knowledge-sources")}
    assert twice == []
    assert purges == deleted == [(job["result"]["changed"],)]
    assert {f"new/{number}.txt" for number in range(KILLS)} <= live


def _busy(database: Database) -> bool:
    return bool(
        database.rows(
            "select 1 from rag.processing_jobs where type = 'bulk' and status = 'processing'"
        )
    )


def _ended(api: Service, id: str) -> dict[str, object] | None:
    job: dict[str, object] = api.get(f"/api/jobs/{id}")
    return job if job["status"] not in ("pending", "processing") else None
