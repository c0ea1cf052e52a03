"""Notifications by e-mail, from what has happened to the mailbox."""

import socket
from uuid import UUID

from ingest.postgres.database import Connection, Pool
from ingest.providers.fetch.fetcher import Fetcher
from ingest.providers.notify.mail import Mailer
from ingest.settings.smtp_url import SmtpServer
from ingest.store.notify import outbox
from tests.servers.smtp_stub import smtp_stub
from tests.servers.webhook_sink import webhook_sink
from tests.support.notification_fixtures import (
    add_endpoint,
    delivering,
    end_one,
    pass_time,
    rows,
    send_test,
    until_delivery,
)
from tests.support.queue_builders import upload

MAILBOX = "mailto:ops@mail.test"


def mailer(port: int) -> Mailer:
    server = SmtpServer(host="127.0.0.1", port=port, security="none")
    return Mailer(server=server, sender="rag@service.test")


async def test_the_digest_of_a_batch_is_mailed_once(
    dsn: str, pool: Pool, conn: Connection, application_id: UUID, fetch: Fetcher
) -> None:
    await add_endpoint(conn, application_id, MAILBOX, events=["batch.completed", "job.failed"])
    await upload(conn, application_id, "a.txt", "b.txt")
    await end_one(conn, "completed")
    await end_one(conn, "failed", error_code="corrupt")
    cursor = await conn.execute("select id from rag.upload_batches")
    batch_ids = [row[0] for row in await cursor.fetchall()]
    async with conn.transaction():
        await outbox.complete_batches(conn, batch_ids)
    async with smtp_stub() as stub, delivering(dsn, pool, fetch, mailer=mailer(stub.port)):
        [row] = await rows(conn)
        told = await until_delivery(conn, row["id"], status="delivered")

    [letter] = stub.letters
    assert letter["Subject"] == "[rag-ingest] Upload finished: 1 of 2 files are searchable"
    assert letter["Message-ID"] == f"<{row['id']}@service.test>"
    assert "failed:         1" in letter.get_content()
    assert (told["last_status"], stub.envelopes) == (250, [("rag@service.test", "ops@mail.test")])


async def test_unreachable_mail_server_does_not_delay_others(
    dsn: str, pool: Pool, conn: Connection, application_id: UUID, fetch: Fetcher
) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        away = mailer(taken.getsockname()[1])
        async with webhook_sink() as sink, delivering(dsn, pool, fetch, mailer=away):
            mailbox = await add_endpoint(conn, application_id, MAILBOX)
            hook = await add_endpoint(conn, application_id, sink.url)
            [mail] = await send_test(conn, mailbox)
            failed = await until_delivery(conn, mail, job_status="pending", job_attempts=1)
            [post] = await send_test(conn, hook)
            await until_delivery(conn, post, status="delivered")

    assert failed["last_error_code"] == "delivery_failed"
    assert failed["last_error"].startswith("the mail server cannot be reached")
    async with smtp_stub() as stub, delivering(dsn, pool, fetch, mailer=mailer(stub.port)):
        await pass_time(conn)
        await until_delivery(conn, mail, status="delivered", attempts=2)


async def test_without_a_mail_server_a_mailbox_waits_with_the_reason(
    dsn: str, pool: Pool, conn: Connection, application_id: UUID, fetch: Fetcher
) -> None:
    mailbox = await add_endpoint(conn, application_id, MAILBOX)
    async with delivering(dsn, pool, fetch):
        [id] = await send_test(conn, mailbox)
        row = await until_delivery(conn, id, job_status="pending", job_attempts=1)

    assert row["last_error"] == "INGEST_SMTP_URL is not set"
