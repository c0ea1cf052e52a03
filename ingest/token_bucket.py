"""Token buckets for limits per minute. Pure."""

from typing import Final

# A second more than the providers' minute, because network latency varies.
_WINDOW_SECONDS: Final = 61
_BURST_SHARE: Final = 10


def take(
    left: float | None, limit: int | None, amount: int, elapsed: float
) -> tuple[float | None, float]:
    """Take `amount`; returns what is left, and the seconds to wait if it is not allowed yet.

    A bucket holds a tenth of the limit and refills so slowly that burst plus refill stay within
    the limit. Only a request larger than the bucket may use the overflow of idle time: less was
    granted in the minute before it, and its debt is repaid in the minute after it.
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
    """Capacity of the bucket for a limit."""
    return None if limit is None else max(1, limit // _BURST_SHARE)
