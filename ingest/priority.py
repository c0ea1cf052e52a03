"""Less processor time for work that nobody waits for, where others want it."""

import os
from contextlib import suppress
from typing import Final

BACKGROUND: Final = 5
"""A third of the processor time of a process with the usual priority, if both are busy. No less:
parsers have limits of time, and programs of others may be busy, too."""


def lower(pid: int = 0) -> None:
    """Lower a process, by its id, to `BACKGROUND` (0: this one), if the system lets us.

    It must be the leader of its session, and have one thread. What it starts has the same priority.
    """
    with suppress(OSError):
        if os.getpriority(os.PRIO_PROCESS, pid) < BACKGROUND:
            os.setpriority(os.PRIO_PROCESS, pid, BACKGROUND)
    # Outside of containers, Linux may divide the time among sessions first (sched_autogroup), and
    # only then among the processes of each.
    with suppress(OSError), open(f"/proc/{pid or 'self'}/autogroup", "w") as group:
        group.write(str(BACKGROUND))
