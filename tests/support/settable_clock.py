"""A clock for code that is given one."""


class SettableClock:
    """Stands still until `now` is set."""

    def __init__(self, now: float = 0.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now
