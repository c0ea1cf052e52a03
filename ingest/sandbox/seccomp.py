"""A seccomp filter for parser processes: a program in classic BPF that the kernel runs per call.

A deny list, since the parsers' libraries make many different calls, and files are Landlock's task
(landlock.py). https://docs.kernel.org/userspace-api/seccomp_filter.html
"""

import ctypes
import errno
import os
import struct
import sys
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from ingest.sandbox import syscalls

# BPF operations: load a word of the call's data; jump if equal, if any bit, if greater or equal.
_LOAD, _JEQ, _JSET, _JGE, _AND, _RETURN = 0x20, 0x15, 0x45, 0x35, 0x54, 0x06
_NUMBER, _ARCH, _ARGUMENTS = 0, 4, 16  # offsets in struct seccomp_data
ALLOW, KILL, ERROR = 0x7FFF0000, 0x80000000, 0x00050000
_AUDIT_ARCH: Final = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_X32_CALLS: Final = 0x40000000  # numbers of a second ABI on x86_64
_PR_SET_NO_NEW_PRIVS, _PR_SET_SECCOMP, _FILTER_MODE = 38, 22, 2
_PR_SET_PDEATHSIG: Final = 1
# Of fcntl and ioctl: they have the kernel send any signal to the "owner" of a descriptor, hold up
# others who open a file, or type into a terminal.
_F_SETOWN, _F_SETSIG, _F_SETOWN_EX, _F_SETLEASE = 8, 10, 15, 1024
_FIOSETOWN, _SIOCSPGRP, _TIOCSTI = 0x8901, 0x8902, 0x5412
_CLONE_THREAD: Final = 0x00010000
_CLONE_NAMESPACES: Final = 0x7E020000  # CLONE_NEWNS, …CGROUP, …UTS, …IPC, …USER, …PID, …NET
_AF_UNIX, _SOCK_STREAM, _SOCK_TYPE_MASK = 1, 1, 0xF


class Instruction(NamedTuple):
    """One BPF instruction; jumps are relative to the next one."""

    code: int
    if_true: int
    if_false: int
    value: int


class _Rule(NamedTuple):
    """Denies a call by one argument: if `operation` with `value` says `denied_if`."""

    argument: int
    operation: int
    value: int
    denied_if: bool
    mask: int | None = None


def _none_of(argument: int, *values: int) -> list[_Rule]:
    return [_Rule(argument, _JEQ, value, denied_if=True) for value in values]


def program(
    machine: str, *, pid: int, may_execute: bool, signals_are_scoped: bool
) -> Sequence[Instruction]:
    """The filter. may_execute: fork and execve are left to Landlock. pid: of this process.

    signals_are_scoped: Landlock confines signals; else the process may only signal itself.
    """
    numbers = syscalls.conditional(machine)
    denied = syscalls.denied(machine)
    rules: dict[str, list[_Rule]] = {
        # Connected streams inside the process; a datagram socket could send to any Unix socket.
        "socketpair": [
            _Rule(0, _JEQ, _AF_UNIX, denied_if=False),
            _Rule(1, _JEQ, _SOCK_STREAM, denied_if=False, mask=_SOCK_TYPE_MASK),
        ],
        "clone": [_Rule(0, _JSET, _CLONE_NAMESPACES, denied_if=True)],
        "prlimit64": [_Rule(0, _JEQ, 0, denied_if=False)],  # not those of another process
        "sched_setaffinity": [_Rule(0, _JEQ, 0, denied_if=False)],
        "prctl": [_Rule(0, _JEQ, _PR_SET_PDEATHSIG, denied_if=True)],  # it dies with its parent
        "fcntl": _none_of(1, _F_SETOWN, _F_SETSIG, _F_SETOWN_EX, _F_SETLEASE),
        "ioctl": _none_of(1, _FIOSETOWN, _SIOCSPGRP, _TIOCSTI),
    }
    if not may_execute:
        rules["clone"].append(_Rule(0, _JSET, _CLONE_THREAD, denied_if=False))
        denied |= {name: numbers[name] for name in ("fork", "vfork", "execve") if name in numbers}
    if not signals_are_scoped:
        rules |= {name: [_Rule(0, _JEQ, pid, denied_if=False)] for name in ("kill", "tgkill")}
        denied["tkill"] = numbers["tkill"]
    # The flags of clone3 are in memory, which a filter cannot read: libraries then use clone.
    unknown = {numbers["clone3"]}
    return [
        *_preamble(machine),
        *(each for number in denied.values() for each in _answer(number, ERROR | errno.EPERM)),
        *(each for number in unknown for each in _answer(number, ERROR | errno.ENOSYS)),
        *(each for name, tests in rules.items() for each in _tests(numbers[name], tests)),
        Instruction(_RETURN, 0, 0, ALLOW),
    ]


def install(*, may_execute: bool, signals_are_scoped: bool) -> bool:
    """Apply the filter to this process for ever; False if the system has no seccomp.

    Call it while the process has one thread: others would stay free.
    """
    machine = os.uname().machine
    if machine not in syscalls.MACHINES or sys.maxsize < 2**32:
        return False
    instructions = program(
        machine, pid=os.getpid(), may_execute=may_execute, signals_are_scoped=signals_are_scoped
    )
    code = ctypes.create_string_buffer(
        b"".join(struct.pack("=HBBI", *each) for each in instructions)
    )

    class Program(ctypes.Structure):
        _fields_ = (("length", ctypes.c_ushort), ("code", ctypes.c_void_p))

    filter = Program(len(instructions), ctypes.addressof(code))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
        return False
    done: int = libc.prctl(_PR_SET_SECCOMP, _FILTER_MODE, ctypes.byref(filter), 0, 0)
    return done == 0


def _preamble(machine: str) -> Iterator[Instruction]:
    """Kill on calls of another architecture, whose numbers mean something else."""
    yield Instruction(_LOAD, 0, 0, _ARCH)
    yield Instruction(_JEQ, 1, 0, _AUDIT_ARCH[machine])
    yield Instruction(_RETURN, 0, 0, KILL)
    yield Instruction(_LOAD, 0, 0, _NUMBER)
    if machine == "x86_64":
        yield Instruction(_JGE, 0, 1, _X32_CALLS)
        yield Instruction(_RETURN, 0, 0, KILL)
    yield Instruction(_JGE, 0, 1, syscalls.NEWEST + 1)
    yield Instruction(_RETURN, 0, 0, ERROR | errno.ENOSYS)


def _answer(number: int, answer: int) -> Iterator[Instruction]:
    yield Instruction(_JEQ, 0, 1, number)
    yield Instruction(_RETURN, 0, 0, answer)


def _tests(number: int, rules: Sequence[_Rule]) -> Iterator[Instruction]:
    """Deny call `number` if any rule does. They read arguments, so an answer ends the program."""
    body: list[Instruction] = []
    for rule in rules:
        # The lower half on the little-endian machines: the kernel ignores the rest of an int.
        body.append(Instruction(_LOAD, 0, 0, _ARGUMENTS + 8 * rule.argument))
        if rule.mask is not None:
            body.append(Instruction(_AND, 0, 0, rule.mask))
        skip = (0, 1) if rule.denied_if else (1, 0)
        body.append(Instruction(rule.operation, *skip, rule.value))
        body.append(Instruction(_RETURN, 0, 0, ERROR | errno.EPERM))
    body.append(Instruction(_RETURN, 0, 0, ALLOW))
    yield Instruction(_JEQ, 0, len(body), number)
    yield from body
