"""When notifications are tried again, and how they are signed."""

from datetime import UTC, datetime, timedelta
from itertools import accumulate, pairwise

import pytest
from standardwebhooks import Webhook, WebhookVerificationError

from ingest.providers.notify.retry_schedule import (
    GIVEN_UP_AFTER,
    SCHEDULE,
    next_attempt,
    probe_delay,
)
from ingest.providers.notify.signing import new_secret, signed_headers

MINUTE = timedelta(minutes=1)


def test_the_last_attempt_is_made_after_about_a_day() -> None:
    assert GIVEN_UP_AFTER < sum(SCHEDULE, timedelta(0)) < GIVEN_UP_AFTER + timedelta(hours=1)
    assert list(SCHEDULE) == sorted(SCHEDULE)
    assert next_attempt(1) == SCHEDULE[0]
    assert next_attempt(7) == next_attempt(100) == SCHEDULE[-1]


@pytest.mark.parametrize(
    ("asked", "given"),
    [
        (timedelta(seconds=1), timedelta(seconds=5)),
        (MINUTE, MINUTE),
        (timedelta(days=30), 5 * MINUTE),
    ],
)
def test_retry_after_is_obeyed_within_the_retry_schedule(
    asked: timedelta, given: timedelta
) -> None:
    assert next_attempt(1, retry_after=asked) == given


def test_a_failing_endpoint_is_tried_at_the_times_of_a_single_delivery() -> None:
    points = list(accumulate(SCHEDULE))

    assert probe_delay(timedelta(0)) == points[0]
    for before, after in pairwise(points):
        assert probe_delay(before) == after - before
        assert probe_delay(before + timedelta(seconds=1)) == after - before - timedelta(seconds=1)
    assert probe_delay(points[-1]) == SCHEDULE[-1]


def test_each_secret_signs_id_time_and_body() -> None:
    secrets = [new_secret(), new_secret()]
    headers = signed_headers(secrets, message_id="7", at=datetime.now(UTC), body='{"a": "ä"}')

    for secret in secrets:
        assert Webhook(secret).verify('{"a": "ä"}'.encode(), headers) == {"a": "ä"}
    for wrong in ({"webhook-id": "8"}, {"webhook-timestamp": "1"}):
        with pytest.raises(WebhookVerificationError):
            Webhook(secrets[0]).verify('{"a": "ä"}', headers | wrong)
    with pytest.raises(WebhookVerificationError):
        Webhook(new_secret()).verify('{"a": "ä"}', headers)


def test_generated_secrets_are_long_and_unique() -> None:
    made = {new_secret() for _ in range(100)}

    assert len(made) == 100
    assert all(secret.startswith("whsec_") and len(secret) == 50 for secret in made)
