"""Landlock: the kernel's sandbox for unprivileged processes, by its three system calls.

https://docs.kernel.org/userspace-api/landlock.html. Everything that a rule does not allow is
denied, for this process and its children, for ever. Each ABI version of the kernel adds rights.
"""

import ctypes
import os
import struct
from collections.abc import Sequence
from typing import Final

# The same numbers on all architectures.
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_NAMES: Final = {
    _CREATE_RULESET: "landlock_create_ruleset",
    _ADD_RULE: "landlock_add_rule",
    _RESTRICT_SELF: "landlock_restrict_self",
}
_VERSION: Final = 1  # flag of _CREATE_RULESET
_PATH_BENEATH: Final = 1  # rule type
_PR_SET_NO_NEW_PRIVS: Final = 38

EXECUTE, WRITE_FILE, READ_FILE, READ_DIR, REMOVE_DIR, REMOVE_FILE = (1 << bit for bit in range(6))
MAKE_DIR, MAKE_REG = 1 << 7, 1 << 8
REFER, TRUNCATE, IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15
_RIGHTS_OF_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV
READ = READ_FILE | READ_DIR
# No symbolic links, sockets, pipes and devices: the parent moves files out of this folder.
WRITE = (
    READ | WRITE_FILE | TRUNCATE | MAKE_DIR | MAKE_REG | REMOVE_DIR | REMOVE_FILE | REFER
)  # fmt: skip

FIRST_WITH_NETWORK: Final = 4
FIRST_WITH_SIGNALS: Final = 6
"""From this ABI on, signals reach only the sandbox itself, and so do abstract Unix sockets."""


def supported_abi() -> int:
    """The kernel's ABI version.

    Raises OSError: no Landlock, or a container's seccomp profile forbids it.
    """
    return _call(_CREATE_RULESET, None, 0, _VERSION)


def restrict(abi: int, rules: Sequence[tuple[str, int]]) -> None:
    """Allow the rights of `rules` below each path, and no others; paths may be missing.

    Call it while the process has one thread: others would stay free. Raises OSError.
    """
    handled = _handled(abi)
    attributes = struct.pack(
        "=QQQ",
        handled,
        3 if abi >= FIRST_WITH_NETWORK else 0,
        3 if abi >= FIRST_WITH_SIGNALS else 0,
    )
    # An older kernel refuses fields that it does not know.
    size = 24 if abi >= FIRST_WITH_SIGNALS else 16 if abi >= FIRST_WITH_NETWORK else 8
    ruleset = _call(_CREATE_RULESET, attributes, size, 0)
    try:
        for path, rights in rules:
            _allow(ruleset, path, rights & handled)
        if _libc().prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
            raise OSError(ctypes.get_errno(), "no_new_privs")
        _call(_RESTRICT_SELF, ruleset, 0)
    finally:
        os.close(ruleset)


def _handled(abi: int) -> int:
    rights = (1 << 13) - 1
    for first, right in ((2, REFER), (3, TRUNCATE), (5, IOCTL_DEV)):
        if abi >= first:
            rights |= right
    return rights


def _allow(ruleset: int, path: str, rights: int) -> None:
    try:
        target = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        if not os.path.isdir(path):
            rights &= _RIGHTS_OF_FILES
        _call(_ADD_RULE, ruleset, _PATH_BENEATH, struct.pack("=Qi", rights, target), 0)
    finally:
        os.close(target)


def _call(number: int, *arguments: int | bytes | None) -> int:
    # As long: ctypes passes a plain int in 32 bits, and the kernel reads 64.
    passed = [ctypes.c_long(each) if isinstance(each, int) else each for each in arguments]
    result: int = _libc().syscall(ctypes.c_long(number), *passed)
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{_NAMES[number]}: {os.strerror(code)}")
    return result


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)
