"""What a file that has taken over its parser may try: see tests/unit/sandbox/test_jail.py.

Nothing here does harm: signals are number 0, values are set to what they are, loopback only.
"""

import ctypes
import errno
import fcntl
import mmap
import os
import platform
import resource
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

_LIBC = ctypes.CDLL(None, use_errno=True)
_IS_X86 = platform.machine() == "x86_64"
# Of calls without a function in Python: x86_64, arm64.
_NUMBERS = {
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "unshare": (272, 97), "bpf": (321, 280),
    "userfaultfd": (323, 282), "perf_event_open": (298, 241), "keyctl": (250, 219),
    "execveat": (322, 281), "shmget": (29, 194), "inotify_init1": (294, 26), "setns": (308, 268),
    "io_uring_setup": (425, 425), "pidfd_open": (434, 434), "clone3": (435, 435),
    "clone": (56, 220), "open_tree": (428, 428), "mount": (165, 40),
    "open_by_handle_at": (304, 265), "prctl": (157, 167), "memfd_create": (319, 279),
    "io_setup": (206, 0),
}  # fmt: skip
_AT_EMPTY_PATH = 0x1000
_CLONE_NEWUSER = 0x10000000
_FIOSETOWN = 0x8901


def attempt(command: str) -> str:
    """Run an attack: its name and its argument. Returns `done …`, or `denied` and the errno."""
    name, _, argument = command.partition(" ")
    try:
        return f"done {_ATTACKS[name](argument)}"
    except OSError as error:
        return f"denied {errno.errorcode.get(error.errno or 0, error)}"
    except subprocess.CalledProcessError as error:
        return f"denied exit code {error.returncode}"


def _call(name: str, *arguments: int | bytes | None) -> int:
    passed = [ctypes.c_long(each) if isinstance(each, int) else each for each in arguments]
    result: int = _LIBC.syscall(ctypes.c_long(_NUMBERS[name][0 if _IS_X86 else 1]), *passed)
    if result < 0:
        raise OSError(ctypes.get_errno(), name)
    return result


def _read(path: str) -> str:
    with open(path.replace("PARENT", str(os.getppid())), "rb") as file:
        return repr(file.read(64))


def _open_memory(_: str) -> str:
    with open(f"/proc/{os.getppid()}/mem", "rb+", buffering=0):
        return "opened"


def _write(path: str) -> str:
    return str(Path(path).write_text("written by a parser"))


def _connect(address: object, kind: int = socket.SOCK_STREAM, family: int = socket.AF_INET) -> str:
    with socket.socket(family, kind) as client:
        client.connect(address)  # type: ignore[arg-type]
        client.send(b"x")
    return "sent"


def _listen(_: str) -> str:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return str(server.getsockname())


def _datagram_by_pair(path: str) -> str:
    """Send to a Unix socket without creating one, and without connect()."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    with ours, theirs:
        return str(ours.sendto(b"x", path))


def _run(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def _loader(_: str) -> str:
    """Have the dynamic loader run a shell, so that the kernel executes only the loader."""
    loader = next(line.split()[-1] for line in _maps() if "/ld-" in line or "/ld." in line)
    return _run(loader, "/bin/sh", "-c", "echo ran")


def _maps() -> list[str]:
    return Path("/proc/self/maps").read_text().splitlines()


def _in_memory(by_path: bool) -> str:
    """Execute a copy of a program that is in memory only."""
    descriptor = _call("memfd_create", b"copy", 0)
    with open("/bin/true" if by_path else sys.executable, "rb") as program:
        os.write(descriptor, program.read())
    child = os.fork()
    if child == 0:
        try:
            if by_path:
                os.execv(f"/proc/self/fd/{descriptor}", ["true"])
            empty = ctypes.c_char_p()
            _call("execveat", descriptor, b"", None, ctypes.addressof(empty), _AT_EMPTY_PATH)
        finally:
            os._exit(1)
    _, status = os.waitpid(child, 0)
    return _checked(os.waitstatus_to_exitcode(status))


def _execveat(_: str) -> str:
    """With a path that does not exist, so that only the filter can say EPERM."""
    return str(_call("execveat", -100, b"/no/such/program", None, None, 0))


def _checked(code: int) -> str:
    if code != 0:
        raise subprocess.CalledProcessError(code, "child")
    return "ran"


def _fork(_: str) -> str:
    child = os.fork()
    if child == 0:
        os._exit(0)
    return str(os.waitpid(child, 0)[1])


def _leave_group(_: str) -> str:
    """A child of a child that the parent's killpg misses."""
    child = os.fork()
    if child == 0:
        try:
            os.setsid()
            os._exit(0)
        finally:
            os._exit(1)
    return _checked(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))


def _peek(_: str) -> str:
    buffer = ctypes.create_string_buffer(8)
    ours = struct.pack("PN", ctypes.addressof(buffer), 8)
    theirs = struct.pack("PN", id(sys) & ~7, 8)
    return str(_call("process_vm_readv", os.getppid(), ours, 1, theirs, 1, 0))


def _link(path: str) -> str:
    target = _scratch("link")
    os.link(path, target)
    return _read(target)


def _symlink(path: str) -> str:
    target = _scratch("symlink")
    os.symlink(path, target)
    return _read(target)


def _rename_out(folder: str) -> str:
    source = _scratch("renamed")
    Path(source).write_text("x")
    os.rename(source, f"{folder}/renamed")
    return "renamed"


def _scratch(name: str) -> str:
    return f"{tempfile.gettempdir()}/{name}"


def _signal_by_owner(_: str) -> str:
    """Have the kernel signal the parent when a socket becomes readable."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        fcntl.fcntl(ours, fcntl.F_SETOWN, os.getppid())
        fcntl.fcntl(ours, fcntl.F_SETSIG, signal.SIGURG)  # which is ignored by default
        fcntl.fcntl(ours, fcntl.F_SETFL, os.O_ASYNC)
        theirs.send(b"x")
    return "signalled"


def _signal_by_ioctl(_: str) -> str:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        fcntl.ioctl(ours, _FIOSETOWN, struct.pack("i", os.getppid()))
    return "owned"


def _prlimit(_: str) -> str:
    limit = resource.prlimit(os.getppid(), resource.RLIMIT_NOFILE)
    return str(resource.prlimit(os.getppid(), resource.RLIMIT_NOFILE, limit))


def _renice(_: str) -> str:
    os.setpriority(os.PRIO_PROCESS, os.getppid(), os.getpriority(os.PRIO_PROCESS, os.getppid()))
    return "set"


def _shared_memory(_: str) -> str:
    segment = _call("shmget", 0, 4096, 0o600)
    _LIBC.shmctl(segment, 0, None)  # removed at once
    return "made"


def _watch(folder: str) -> str:
    descriptor = _call("inotify_init1", 0)
    if _LIBC.inotify_add_watch(descriptor, folder.encode(), 0x100) < 0:
        raise OSError(ctypes.get_errno(), "inotify_add_watch")
    return "watching"


def _new_user_namespace(_: str) -> str:
    """A child with CLONE_NEWUSER ends at once; with unshare, this process would change."""
    child = _call("clone", _CLONE_NEWUSER | int(signal.SIGCHLD), 0, 0, 0, 0)
    if child == 0:
        os._exit(0)
    return str(os.waitpid(child, 0)[1])


def _allowed(_: str) -> str:
    """What parsers do need: files and folders in scratch, memory, their own signals."""
    folder = Path(tempfile.mkdtemp())
    (folder / "a").write_text("x")
    (folder / "a").rename(folder / "b")
    mmap.mmap(-1, 4096).close()
    os.kill(os.getpid(), 0)
    resource.getrlimit(resource.RLIMIT_CPU)
    for pair in (socket.socketpair(), socket.socketpair(type=socket.SOCK_STREAM)):
        for end in pair:
            end.close()
    shutil.rmtree(folder)
    return "all"


_ATTACKS: dict[str, Callable[[str], object]] = {
    "allowed": _allowed,
    "read": _read,
    "list": lambda path: os.listdir(path),
    "memory": _open_memory,
    "write": _write,
    "chmod": lambda path: os.chmod(path, os.stat(path).st_mode & 0o7777),
    "touch": lambda path: os.utime(path),
    "truncate": lambda path: os.truncate(path, os.stat(path).st_size),
    "remove": lambda path: os.unlink(path),
    "link": _link,
    "symlink": _symlink,
    "pipe": lambda _: os.mkfifo(_scratch("pipe")),
    "rename": _rename_out,
    "watch": _watch,
    "tcp": lambda port: _connect(("127.0.0.1", int(port))),
    "udp": lambda port: _connect(("127.0.0.1", int(port)), socket.SOCK_DGRAM),
    "listen": _listen,
    "unix": lambda path: _connect(path, family=socket.AF_UNIX),
    "abstract": lambda name: _connect("\0" + name, family=socket.AF_UNIX),
    "datagram": _datagram_by_pair,
    "shell": lambda _: _run("/bin/sh", "-c", "echo ran"),
    "loader": _loader,
    "run": lambda path: _run(path),
    "memfd": lambda _: _in_memory(by_path=True),
    "execveat": _execveat,
    "fork": _fork,
    "setsid": _leave_group,
    "ptrace": lambda _: _call("ptrace", 0x4206, os.getppid(), 0, 0),  # PTRACE_SEIZE
    "peek": _peek,
    "signal": lambda _: os.kill(os.getppid(), 0),
    "signal_group": lambda _: os.killpg(os.getpgid(os.getppid()), 0),
    "signal_by_owner": _signal_by_owner,
    "signal_by_ioctl": _signal_by_ioctl,
    "aio": lambda _: _call("io_setup", 1, struct.pack("Q", 0)),
    "prlimit": _prlimit,
    "renice": _renice,
    "pidfd": lambda _: _call("pidfd_open", os.getppid(), 0),
    "outlive": lambda _: _call("prctl", 1, 0, 0, 0, 0),
    "namespace": _new_user_namespace,
    "unshare": lambda _: _call("unshare", 0),
    "clone3": lambda _: _call("clone3", None, 0),
    "io_uring": lambda _: _call("io_uring_setup", 0, None),
    "bpf": lambda _: _call("bpf", 0, None, 0),
    "userfaultfd": lambda _: _call("userfaultfd", 1),
    "perf": lambda _: _call("perf_event_open", None, 0, -1, -1, 0),
    "keyring": lambda _: _call("keyctl", 0, -3, 0),
    "shared_memory": _shared_memory,
    "mount": lambda _: _call("mount", b"none", b"/no/such/folder", b"tmpfs", 0, None),
    "open_tree": lambda _: _call("open_tree", -100, b"/", 0),
    "chroot": lambda _: os.chroot("/"),
    "handle": lambda _: _call("open_by_handle_at", -100, None, 0),
}
