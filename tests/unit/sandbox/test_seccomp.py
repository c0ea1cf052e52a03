"""The seccomp filter, interpreted as the kernel would, for both architectures."""

import errno
import re
from pathlib import Path

import pytest

from ingest.sandbox import seccomp, syscalls
from ingest.sandbox.seccomp import ALLOW, ERROR, KILL, Instruction

PID = 4321
ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
EPERM, ENOSYS = ERROR | errno.EPERM, ERROR | errno.ENOSYS
# Calls without which no parser runs, from the kernel's tables.
NEEDED = {
    "read": (0, 63), "write": (1, 64), "openat": (257, 56), "close": (3, 57), "mmap": (9, 222),
    "mprotect": (10, 226), "munmap": (11, 215), "brk": (12, 214), "futex": (202, 98),
    "recvmsg": (47, 212), "sendto": (44, 206), "sendmsg": (46, 211), "exit_group": (231, 94),
    "newfstatat": (262, 79), "getdents64": (217, 61), "lseek": (8, 62), "pread64": (17, 67),
    "rt_sigaction": (13, 134), "rt_sigreturn": (15, 139), "ftruncate": (77, 46), "dup": (32, 23),
    "mkdirat": (258, 34), "unlinkat": (263, 35), "getrandom": (318, 278), "wait4": (61, 260),
    "pipe2": (293, 59), "sched_getaffinity": (204, 123), "clock_gettime": (228, 113),
    "landlock_restrict_self": (446, 446), "rseq": (334, 293), "madvise": (28, 233),
}  # fmt: skip
THREAD = 0x3D0F00  # the flags of pthread_create
FORK = 0x1200011
MACHINES = pytest.mark.parametrize("machine", syscalls.MACHINES)


def interpret(
    program: list[Instruction], number: int, *arguments: int, arch: int
) -> tuple[int, int]:
    """What the program answers, and after how many instructions."""
    data = {0: number & 0xFFFFFFFF, 4: arch}
    for index, argument in enumerate(arguments):
        data[16 + 8 * index] = argument & 0xFFFFFFFF
    accumulator = at = steps = 0
    while True:
        code, if_true, if_false, value = program[at]
        at, steps = at + 1, steps + 1
        if code == 0x20:
            accumulator = data.get(value, 0)
        elif code == 0x54:
            accumulator &= value
        elif code == 0x06:
            return value, steps
        else:
            holds = {
                0x15: accumulator == value,
                0x35: accumulator >= value,
                0x45: accumulator & value != 0,
            }[code]
            at += if_true if holds else if_false


class Filter:
    def __init__(self, machine: str, *, execute: bool = False, scoped: bool = True) -> None:
        self.machine = machine
        self.program = list(
            seccomp.program(machine, pid=PID, may_execute=execute, signals_are_scoped=scoped)
        )

    def answer(self, number: int, *arguments: int) -> int:
        return interpret(self.program, number, *arguments, arch=ARCH[self.machine])[0]

    def call(self, name: str, *arguments: int) -> int:
        return self.answer(syscalls.conditional(self.machine)[name], *arguments)


@MACHINES
def test_denied_calls_fail_and_needed_ones_pass(machine: str) -> None:
    filter = Filter(machine)
    column = syscalls.MACHINES.index(machine)

    answers = {name: filter.answer(number) for name, number in syscalls.denied(machine).items()}
    assert set(answers.values()) == {EPERM}
    assert {filter.answer(numbers[column]) for numbers in NEEDED.values()} == {ALLOW}


@MACHINES
def test_calls_of_another_architecture_kill(machine: str) -> None:
    program = Filter(machine).program

    for other in ({*ARCH.values()} - {ARCH[machine]}) | {0x40000003, 0x40000028}:  # 32-bit
        assert interpret(program, NEEDED["read"][0], arch=other) == (KILL, 3)


def test_calls_of_the_x32_abi_kill() -> None:
    filter = Filter("x86_64")

    assert filter.answer(0x40000000 + NEEDED["read"][0]) == KILL
    assert filter.answer(-1) == KILL


@MACHINES
def test_unknown_calls_are_answered_as_by_an_older_kernel(machine: str) -> None:
    filter = Filter(machine)

    assert filter.answer(syscalls.NEWEST) == EPERM
    assert filter.answer(syscalls.NEWEST + 1) == ENOSYS
    assert filter.call("clone3") == ENOSYS


@MACHINES
def test_socket_pairs_are_connected_unix_streams(machine: str) -> None:
    filter = Filter(machine)

    assert filter.call("socketpair", 1, 1) == ALLOW
    assert filter.call("socketpair", 1, 1 | 0o2000000 | 0o4000) == ALLOW  # flags
    assert filter.call("socketpair", 1, 2) == EPERM  # datagrams
    assert filter.call("socketpair", 30, 1) == EPERM  # another family


@MACHINES
@pytest.mark.parametrize("execute", [False, True])
def test_processes_are_made_only_to_execute_the_ocr_program(machine: str, execute: bool) -> None:
    filter = Filter(machine, execute=execute)
    known = syscalls.conditional(machine)

    answers = {filter.call(name) for name in ("execve", "fork", "vfork") if name in known}
    assert answers == {ALLOW if execute else EPERM}
    assert filter.call("clone", FORK) == (ALLOW if execute else EPERM)
    assert filter.call("clone", THREAD) == ALLOW
    for namespace in (0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 1 << 29, 1 << 30):
        assert filter.call("clone", THREAD | namespace) == EPERM


@MACHINES
def test_signals_reach_only_the_process_itself_where_landlock_has_no_scopes(machine: str) -> None:
    filter = Filter(machine, scoped=False)

    for name in ("kill", "tgkill"):
        assert filter.call(name, PID, 9) == ALLOW
        for other in (1, 0, -1, -PID):
            assert filter.call(name, other, 9) == EPERM
        assert Filter(machine).call(name, 1, 9) == ALLOW
    assert filter.call("tkill", PID) == EPERM


@MACHINES
def test_limits_and_death_signal(machine: str) -> None:
    filter = Filter(machine)

    assert filter.call("prlimit64", 0) == ALLOW
    assert filter.call("prlimit64", PID) == EPERM
    assert filter.call("sched_setaffinity", 0) == ALLOW
    assert filter.call("sched_setaffinity", 1) == EPERM
    assert filter.call("prctl", 1, 0) == EPERM  # PR_SET_PDEATHSIG
    assert filter.call("prctl", 15, 0) == ALLOW  # PR_SET_NAME


@MACHINES
def test_jumps_fit_and_every_way_ends(machine: str) -> None:
    program = Filter(machine, execute=True, scoped=False).program

    assert len(program) < 4096
    assert all(0 <= jump < 256 for each in program for jump in each[1:3])
    assert program[-1].code == 0x06


@pytest.mark.parametrize(
    ("machine", "header"),
    [
        ("x86_64", "/usr/include/x86_64-linux-gnu/asm/unistd_64.h"),
        ("aarch64", "/usr/include/asm-generic/unistd.h"),
    ],
)
def test_numbers_are_those_of_the_kernels_headers(machine: str, header: str) -> None:
    if not Path(header).exists():
        pytest.skip("no kernel headers")
    found = re.findall(r"#define __NR(?:3264)?_(\w+)\s+(\d+)$", Path(header).read_text(), re.M)
    numbers = {name: int(number) for name, number in reversed(found)}
    numbers["newfstatat"] = numbers.get("newfstatat", numbers.get("fstatat", -1))
    ours = syscalls.denied(machine) | syscalls.conditional(machine)
    column = syscalls.MACHINES.index(machine)
    ours |= {name: numbers[column] for name, numbers in NEEDED.items()}

    known = ours.keys() & numbers.keys()
    assert {name: ours[name] for name in known} == {name: numbers[name] for name in known}
    # What the headers do not have is newer than they are.
    assert all(ours[name] > max(numbers.values()) for name in ours.keys() - known)
