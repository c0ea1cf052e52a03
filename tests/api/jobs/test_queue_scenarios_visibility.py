"""The scenarios FEAT-33-09 to 12: who is told of a job, and who sees it."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Any, cast

import httpx
import pytest

from ingest.errors import Permanent
from ingest.handlers.context import Context
from ingest.handlers.notification import deliver
from ingest.handlers.registry import Handler
from ingest.postgres.database import Connection, Pool
from ingest.providers.notify.mail import Mailer
from ingest.settings.smtp_url import SmtpServer
from tests.api.helpers import count
from tests.api.jobs.greetings import SECRET, add_greet, enqueue
from tests.servers.smtp_stub import smtp_stub
from tests.servers.webhook_sink import webhook_sink
from tests.support.fetchers import fetcher
from tests.support.notification_fixtures import DeliveryContext, add_endpoint, pass_time, rows
from tests.support.running_worker import Scripted, running_worker, truth_of, until, until_status


@pytest.fixture(autouse=True)
async def greet(operator: httpx.AsyncClient) -> None:
    await add_greet(operator)


@pytest.fixture
async def stack() -> AsyncIterator[AsyncExitStack]:
    async with AsyncExitStack() as stack:
        yield stack


async def test_feat_33_09_job_completion_is_notified_once(
    editor: httpx.AsyncClient,
    conn: Connection,
    application_id: Any,
    dsn: str,
    pool: Pool,
    stack: AsyncExitStack,
) -> None:
    sink = await stack.enter_async_context(webhook_sink())
    context = DeliveryContext(pool, await stack.enter_async_context(fetcher()), None)
    await add_endpoint(conn, application_id, sink.url, events=["job.failed"])
    id = (await enqueue(editor)).json()["id"]
    handlers: dict[str, Handler] = {
        "greet": Scripted(Permanent("no", code="corrupt")),
        "notification": deliver,
    }

    async with running_worker(dsn, pool, handlers, context=cast(Context, context)):
        await sink.got(1)
        await until(lambda: count(conn, "rag.webhook_deliveries where status = 'delivered'"))

    assert [event["data"]["jobId"] for event in sink.events] == [id]
    assert len(await rows(conn)) == 1


async def test_feat_33_10_undeliverable_mail_blocks_nothing(
    editor: httpx.AsyncClient,
    conn: Connection,
    application_id: Any,
    dsn: str,
    pool: Pool,
    stack: AsyncExitStack,
) -> None:
    away = Mailer(
        server=SmtpServer(host="127.0.0.1", port=9, security="none"), sender="rag@service.test"
    )
    context = DeliveryContext(pool, await stack.enter_async_context(fetcher()), away)
    await add_endpoint(conn, application_id, "mailto:ops@mail.test", events=["job.failed"])
    failing = (await enqueue(editor)).json()["id"]
    handlers: dict[str, Handler] = {
        "greet": Scripted(Permanent("no", code="corrupt")),
        "notification": deliver,
    }

    async with running_worker(dsn, pool, handlers, context=cast(Context, context)):
        await until_status(conn, failing, "failed")
        await until(lambda: count(conn, "rag.webhook_deliveries where attempts = 1"))
        after = (await enqueue(editor, payload={"name": "Eve"})).json()["id"]
        await until_status(conn, after, "completed")
    stub = await stack.enter_async_context(smtp_stub())
    context.mailer = Mailer(
        server=SmtpServer(host="127.0.0.1", port=stub.port, security="none"),
        sender="rag@service.test",
    )
    async with running_worker(dsn, pool, handlers, context=cast(Context, context)):
        await pass_time(conn)
        await until(lambda: truth_of(stub.letters))

    assert len(stub.letters) == 1


async def test_feat_33_11_looking_a_job_up_never_shows_its_payload(
    editor: httpx.AsyncClient, conn: Connection
) -> None:
    id = (await enqueue(editor, payload={"name": SECRET})).json()["id"]

    answers = [
        await editor.get(f"/api/jobs/{id}"),
        await editor.get("/api/jobs"),
        await editor.post(f"/api/jobs/{id}/cancel"),
        await editor.post(f"/api/jobs/{id}/retry"),
    ]

    assert [answer.status_code for answer in answers] == [200, 200, 200, 202]
    assert not any(SECRET in answer.text for answer in answers)


async def test_feat_33_12_jobs_are_invisible_to_other_applications(
    editor: httpx.AsyncClient, anonymous: httpx.AsyncClient, stranger: httpx.AsyncClient
) -> None:
    id = (await enqueue(editor)).json()["id"]

    assert (await anonymous.get(f"/api/jobs/{id}")).status_code == 401
    assert (await stranger.get(f"/api/jobs/{id}")).status_code == 404
    assert (await stranger.get("/api/jobs")).json()["items"] == []
    assert (await stranger.post(f"/api/jobs/{id}/cancel")).status_code == 404
