"""Executes a Postgres program. Run as a script, never imported: UID GID SIGNAL PARENT PROG…

It prepares the child before exec, in a process without threads. A `preexec_fn` would run Python
between fork and exec of a threaded process, which can deadlock. It needs no third-party module, so
it starts in isolated mode in about 20 ms.

UID and GID of -1 keep the current account. The kernel sends SIGNAL to the program when its parent
dies for any reason; 0 for none.
"""

import ctypes
import os
import sys

_PR_SET_PDEATHSIG = 1


def main() -> None:
    """Drop root, set the parent-death signal, and exec."""
    uid, gid, death_signal, parent = (int(word) for word in sys.argv[1:5])
    program = sys.argv[5:]
    os.umask(0o077)
    if uid >= 0:
        os.setgroups([])
        os.setgid(gid)
        os.setuid(uid)
    if death_signal and sys.platform == "linux":
        # After setuid, which clears it. The kernel sends it when the forking thread ends.
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, death_signal, 0, 0, 0)
    if os.getppid() != parent:
        sys.exit("the parent process has ended")
    os.execv(program[0], program)  # noqa: S606 - our own arguments, no shell


if __name__ == "__main__":
    main()
