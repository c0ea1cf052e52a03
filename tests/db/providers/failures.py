"""Failures of a provider."""

from datetime import timedelta

from ingest.errors import Transient


def limited(seconds: float | None) -> Transient:
    wait = None if seconds is None else timedelta(seconds=seconds)
    return Transient("HTTP 429", code="rate_limited", retry_after=wait)
