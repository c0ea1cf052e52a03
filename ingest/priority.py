"""Less processor time for work that nobody waits for, where others want it."""

import os
from contextlib import suppress
from typing import Final

BACKGROUND: Final = 5
"""A third of the processor time of a process with the usual priority, if both are busy. No less:
parsers have limits of time, and programs of others may be busy, too."""


def lower(pid: int = 0, *, is_alone: bool = True) -> None:
    """Lower a process, by its id, to `BACKGROUND` (0: this one), if the system lets us.

    It must have one thread. What it starts has the same priority. `is_alone`: it leads a session in
    which no others work: they share what a session gets.
    """
    with suppress(OSError):
        if os.getpriority(os.PRIO_PROCESS, pid) < BACKGROUND:
            os.setpriority(os.PRIO_PROCESS, pid, BACKGROUND)
    # Outside of containers, Linux may divide the time among sessions first (sched_autogroup), and
    # only then among the processes of each.
    if not is_alone:
        return
    with suppress(OSError), open(f"/proc/{pid or 'self'}/autogroup", "w") as group:
        group.write(str(BACKGROUND))
