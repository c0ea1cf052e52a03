"""Deliver a notification: one POST or one e-mail, retried for about a day.

Each attempt is recorded before it is made and after it fails. A worker that dies between the
receiver's response and our commit sends the message again: receivers deduplicate by its id.
"""

import json
import random
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from http import HTTPStatus
from typing import Final

from ingest.errors import IngestError, LeaseLost, Permanent, Snooze, Transient
from ingest.handlers.context import Context, Outcome, Progress
from ingest.handlers.registry import handler
from ingest.payloads import DeliveryPayload
from ingest.postgres.database import Connection, transaction
from ingest.providers.notify import retry_schedule
from ingest.providers.notify.mail import Letter, MailRefused
from ingest.providers.notify.mail_text import letter_of
from ingest.providers.notify.signing import signed_headers
from ingest.providers.retry_after import retry_after
from ingest.redaction import redact
from ingest.storable_text import clean
from ingest.store.notify import deliveries, webhook_endpoints
from ingest.store.notify.deliveries import Attempt, DueDelivery
from ingest.store.notify.webhook_endpoints import EndpointHealth
from ingest.store.queue import jobs
from ingest.store.queue.jobs import ClaimedJob

_LONGEST_ATTEMPT: Final = timedelta(seconds=15)
_READ_BYTES: Final = 4096
_KEPT_CHARACTERS: Final = 500
# Jitter, so that deliveries that wait for the same moment do not start together.
_SPREAD_SECONDS: Final = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class _Success:
    status: int
    answer_text: str = ""
    """The beginning of the receiver's response."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Refusal:
    """Why an attempt failed."""

    message: str
    status: int | None = None
    answer_text: str = ""
    """The beginning of the receiver's response."""
    retry_after: timedelta | None = None

    @property
    def is_final(self) -> bool:
        return self.status == HTTPStatus.GONE


@handler("notification")
async def deliver(job: ClaimedJob, ctx: Context, progress: Progress) -> Outcome:
    """Send the delivery named in the payload if its endpoint may be tried now."""
    begun = await _begin_attempt(job, ctx)
    if begun is None:
        return Outcome(result={"dropped": "the endpoint was deleted"})
    due, is_probe = begun
    headers = None if webhook_endpoints.is_mailbox(due.url) else _headers(due)
    answer = await _mail(due, ctx) if headers is None else await _post(due, headers, ctx)
    attempt = Attempt(headers=headers, status=answer.status, answer=redact(answer.answer_text))
    if isinstance(answer, _Refusal):
        raise await _failed(job, due, answer, attempt, ctx, is_probe=is_probe)

    async def write(conn: Connection) -> None:
        await webhook_endpoints.record_success(conn, due.endpoint_id)
        await deliveries.record_success(conn, due.id, attempt)

    return Outcome(write=write, result={"deliveryId": str(due.id), "status": answer.status})


async def _begin_attempt(job: ClaimedJob, ctx: Context) -> tuple[DueDelivery, bool] | None:
    """Count the attempt; return the delivery and whether it is the probe of a failing endpoint.

    None if it was deleted with its endpoint. While an endpoint fails, one delivery at a time
    tries it. The rest snooze, so that they do not hold worker slots until they time out too.
    """
    async with transaction(ctx.pool) as conn:
        if not await jobs.hold(conn, [job]):
            raise LeaseLost(job.id)
        due = await deliveries.get_due(conn, DeliveryPayload.of(job).delivery_id)
        if due is None:
            return None
        if not due.is_enabled:
            raise Permanent("the endpoint is disabled", code="delivery_failed")
        is_probe = False
        if due.failing_for is not None:
            is_probe = await webhook_endpoints.reserve_probe(conn, due.endpoint_id)
            if not is_probe:
                raise Snooze(_until_probe(due), reason="endpoint_failing")
        await deliveries.record_attempt(conn, due.id)
    return due, is_probe


def _until_probe(due: DueDelivery) -> timedelta:
    wait = max(due.wait or timedelta(0), timedelta(seconds=1))
    return wait + timedelta(seconds=_SPREAD_SECONDS * random.random())  # noqa: S311  # no secret


def _headers(due: DueDelivery) -> dict[str, str]:
    secrets = [due.secret, *([due.previous_secret] if due.previous_secret else [])]
    signed = signed_headers(secrets, message_id=str(due.id), at=due.at, body=due.body)
    return {"content-type": "application/json", **signed}


async def _post(due: DueDelivery, headers: Mapping[str, str], ctx: Context) -> _Success | _Refusal:
    try:
        posted = await ctx.web.fetcher.post(
            due.url,
            content=due.body.encode(),
            headers=headers,
            within=_LONGEST_ATTEMPT,
            max_bytes=_READ_BYTES,
        )
    except (Permanent, Transient) as error:
        # Retry even after Permanent: a host name that resolves to a private address may change.
        return _Refusal(message=str(error))
    if 200 <= posted.status < 300:
        return _Success(status=posted.status, answer_text=_text(posted.beginning))
    return _Refusal(
        message=f"the receiver responded with HTTP {posted.status}",
        status=posted.status,
        answer_text=_text(posted.beginning),
        retry_after=_asked_delay(posted.status, posted.headers),
    )


def _asked_delay(status: int, headers: Mapping[str, str]) -> timedelta | None:
    is_asked = status in (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE)
    return retry_after(headers) if is_asked else None


def _text(beginning: bytes) -> str:
    text, _ = clean(beginning.decode(errors="replace"))
    return text[:_KEPT_CHARACTERS]


async def _mail(due: DueDelivery, ctx: Context) -> _Success | _Refusal:
    if ctx.mailer is None:
        return _Refusal(message="INGEST_SMTP_URL is not set")
    subject, text = letter_of(json.loads(due.body))
    letter = Letter(
        to=due.url.removeprefix("mailto:"),
        subject=subject,
        text=text,
        message_id=str(due.id),
        at=due.at,
    )
    try:
        await ctx.mailer.send(letter)
    except MailRefused as error:
        return _Refusal(message=str(error)[:_KEPT_CHARACTERS], status=error.status)
    return _Success(status=250)


async def _failed(
    job: ClaimedJob,
    due: DueDelivery,
    refusal: _Refusal,
    attempt: Attempt,
    ctx: Context,
    *,
    is_probe: bool,
) -> IngestError:
    """Record the failure, update the endpoint, and return the error to raise."""
    delay = retry_schedule.next_attempt(job.attempts, retry_after=refusal.retry_after)
    pause = retry_schedule.probe_delay(due.failing_for or timedelta(0))
    if refusal.retry_after is not None:
        pause = max(pause, delay)
    error = f"{refusal.message}: {refusal.answer_text}" if refusal.answer_text else refusal.message
    async with transaction(ctx.pool) as conn:
        if not await jobs.hold(conn, [job]):
            raise LeaseLost(job.id)
        health = await webhook_endpoints.record_failure(
            conn, due.endpoint_id, is_probe=is_probe, pause=pause
        )
        await deliveries.record_failure(conn, due.id, attempt, error=redact(error))
        reason = _why_disabled(refusal, health)
        if reason is not None:
            await webhook_endpoints.disable(conn, due.endpoint_id, reason=reason)
    if reason is None:
        return Transient(refusal.message, code="delivery_failed", retry_after=delay)
    async with transaction(ctx.pool) as conn:
        await deliveries.end_pending(
            conn,
            application_id=due.application_id,
            endpoint_id=due.endpoint_id,
            reason="the endpoint was disabled",
            but=job.id,
        )
    return Permanent(f"{refusal.message}; the endpoint was disabled", code="delivery_failed")


def _why_disabled(refusal: _Refusal, health: EndpointHealth | None) -> str | None:
    if health is None:
        return None
    if refusal.is_final:
        return "the receiver responded with 410 Gone"
    if health.failing_for > retry_schedule.GIVEN_UP_AFTER:
        return f"nothing was delivered for a day: {refusal.message}"
    if health.failures >= retry_schedule.MOST_FAILURES:
        return f"{health.failures} attempts in a row have failed: {refusal.message}"
    return None
