"""Token buckets: how much of a limit per minute may be used at once. Pure."""

from typing import Final

# A second more than the minute that providers count: requests are under way for different times.
_WINDOW_SECONDS: Final = 61
_BURST_SHARE: Final = 10


def take(
    left: float | None, limit: int | None, amount: int, elapsed: float
) -> tuple[float | None, float]:
    """What is left after taking `amount`, or how many seconds until that is allowed. Pure.

    A bucket holds a tenth of the limit, and is refilled so slowly that both together stay within
    the limit. Only a request larger than the bucket may use what runs over while nobody asks: in
    the minute before it, less was granted; in the minute after it, its debt is paid.
    """
    most = burst(limit)
    if limit is None or most is None:
        return None, 0.0
    rate = (limit - most + 1) / _WINDOW_SECONDS
    filled = float(limit) if left is None else left + rate * elapsed
    if amount == 0:
        return filled, 0.0
    needed = min(amount, limit)
    if filled < needed:
        return left, (needed - filled) / rate
    return min(filled, most) - amount, 0.0


def burst(limit: int | None) -> int | None:
    """What the bucket of a limit holds."""
    return None if limit is None else max(1, limit // _BURST_SHARE)
