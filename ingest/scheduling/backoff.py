"""Backoff: exponential with full jitter. Pure."""

import random
from datetime import timedelta

_RANDOM = random.Random()  # noqa: S311  # spreads load, guards nothing


def backoff(
    attempt: int, *, base: timedelta, cap: timedelta, rng: random.Random = _RANDOM
) -> timedelta:
    """How long to wait after failed attempt number `attempt` (1-based).

    Uniform between zero and `base * 2**(attempt - 1)`, at most `cap`: full jitter spreads the
    retries of jobs that failed together.
    """
    ceiling = min(cap, base * (1 << min(attempt - 1, 30)))
    return ceiling * rng.random()
