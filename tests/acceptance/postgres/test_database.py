"""(c) Postgres restarted in the middle of a run, by everybody's leave or by none."""

import time
from collections.abc import Callable

from harness.database import Database
from harness.service import Service, until
from tests.acceptance.files import sentence, text_file
from tests.acceptance.openai_server import EmbeddingServer

_FILES = 150


def test_a_run_finishes_by_itself_after_the_database_was_restarted(
    database: Database,
    start: Callable[..., Service],
    openai: EmbeddingServer,
) -> None:
    openai.delay = 0.1
    service = start("serve", **openai.env()).wait_until_ready()
    application = database.default_application()
    for part in range(2):
        done = service.progress(application)["completed"]
        service.upload(text_file(number) for number in range(part, _FILES, 2))
        until(lambda: service.progress(application)["completed"] > done + 10)  # noqa: B023  # asked at once
        database.stop()
        time.sleep(1.5)
        database.start()
        until(lambda: service.http.get("/readyz").status_code == 200)
    progress = service.wait_until_terminal(application)
    hits = service.search(sentence(77), mode="keyword")

    assert (progress["total"], progress["completed"]) == (_FILES, _FILES)
    assert hits[0]["uri"] == text_file(77)[0]
    assert service.process.poll() is None


def test_terminated_database_connections_lose_no_file(
    database: Database, start: Callable[..., Service], openai: EmbeddingServer
) -> None:
    openai.delay = 0.1
    service = start("serve", **openai.env()).wait_until_ready()
    application = database.default_application()
    service.upload(text_file(number) for number in range(_FILES))
    for _ in range(5):
        time.sleep(0.4)
        database.rows(
            "select pg_terminate_backend(pid) from pg_stat_activity "
            "where pid <> pg_backend_pid() and backend_type = 'client backend'"
        )
    progress = service.wait_until_terminal(application)

    assert (progress["total"], progress["completed"]) == (_FILES, _FILES)
