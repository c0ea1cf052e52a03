"""System calls that a parser process may not make, with their numbers on each architecture.

Numbers: Linux' arch/x86/entry/syscalls/syscall_64.tbl and include/uapi/asm-generic/unistd.h (which
is arm64's). A dash: arm64 has no such call. From 424 on, all architectures share the numbers.
"""

from typing import Final

_DENIED: Final = """
network, except pairs of connected sockets inside the process
    socket 41 198, connect 42 203, bind 49 200, listen 50 201, accept 43 202, accept4 288 242,
    sendmmsg 307 269
other processes: their memory, descriptors, priorities, limits
    ptrace 101 117, process_vm_readv 310 270, process_vm_writev 311 271, process_madvise 440 440,
    process_mrelease 448 448, kcmp 312 272, pidfd_open 434 434, pidfd_getfd 438 438,
    pidfd_send_signal 424 424, rt_sigqueueinfo 129 138, rt_tgsigqueueinfo 297 240,
    setpriority 141 140, ioprio_set 251 30, sched_setscheduler 144 119, sched_setparam 142 118,
    sched_setattr 314 274, migrate_pages 256 238, move_pages 279 239, get_robust_list 274 100
leaving the process group, which the parent kills as a whole
    setsid 112 157, setpgid 109 154
programs that no path rule covers
    execveat 322 281, memfd_create 319 279, memfd_secret 447 447
namespaces and mounts
    unshare 272 97, setns 308 268, mount 165 40, umount2 166 39, pivot_root 155 41, chroot 161 51,
    move_mount 429 429, open_tree 428 428, open_tree_attr 467 467, fsopen 430 430,
    fsconfig 431 431, fsmount 432 432, fspick 433 433, mount_setattr 442 442, statmount 457 457,
    listmount 458 458
what Landlock leaves to file modes: changing modes, owners, times and attributes, watching folders
    chmod 90 -, fchmod 91 52, fchmodat 268 53, fchmodat2 452 452, chown 92 -, fchown 93 55,
    lchown 94 -, fchownat 260 54, setxattr 188 5, lsetxattr 189 6, fsetxattr 190 7,
    setxattrat 463 463, removexattr 197 14, lremovexattr 198 15, fremovexattr 199 16,
    removexattrat 466 466, file_setattr 469 469, utime 132 -, utimes 235 -, futimesat 261 -,
    utimensat 280 88, truncate 76 45, mknod 133 -, mknodat 259 33, name_to_handle_at 303 264,
    open_by_handle_at 304 265, inotify_init 253 -, inotify_init1 294 26, inotify_add_watch 254 27,
    fanotify_init 300 262, fanotify_mark 301 263
shared memory and queues of System V and POSIX: the embedded Postgres has such memory
    shmget 29 194, shmat 30 196, shmctl 31 195, semget 64 190, semop 65 193, semctl 66 191,
    semtimedop 220 192, msgget 68 186, msgctl 71 187, msgrcv 70 188, msgsnd 69 189,
    mq_open 240 180, mq_unlink 241 181
large parts of the kernel that parsers do not need
    bpf 321 280, userfaultfd 323 282, perf_event_open 298 241, io_uring_setup 425 425,
    io_uring_enter 426 426, io_uring_register 427 427, io_setup 206 0, io_submit 209 2,
    keyctl 250 219, add_key 248 217, request_key 249 218, personality 135 92
what only root may do
    init_module 175 105, finit_module 313 273, delete_module 176 106, kexec_load 246 104,
    kexec_file_load 320 294, reboot 169 142, syslog 103 116, acct 163 89, iopl 172 -, ioperm 173 -,
    modify_ldt 154 -, swapon 167 224, swapoff 168 225, quotactl 179 60, quotactl_fd 443 443,
    settimeofday 164 170, clock_settime 227 112, adjtimex 159 171, clock_adjtime 305 266,
    sethostname 170 161, setdomainname 171 162, vhangup 153 58
"""
_CONDITIONAL: Final = """
allowed or not by their arguments: see seccomp.py
    socketpair 53 199, clone 56 220, clone3 435 435, fork 57 -, vfork 58 -, execve 59 221,
    kill 62 129, tkill 200 130, tgkill 234 131, prlimit64 302 261, sched_setaffinity 203 122,
    prctl 157 167, fcntl 72 25, ioctl 16 29
"""
NEWEST: Final = 469
"""Later numbers are unknown here, and answered as an older kernel would."""
MACHINES: Final = ("x86_64", "aarch64")


def _numbers(table: str, machine: str) -> dict[str, int]:
    column = 1 + MACHINES.index(machine)
    entries = ",".join(line for line in table.splitlines() if line.startswith(" ")).split(",")
    calls = [entry.split() for entry in entries if entry.strip()]
    return {call[0]: int(call[column]) for call in calls if call[column] != "-"}


def denied(machine: str) -> dict[str, int]:
    """Calls denied whatever their arguments are."""
    return _numbers(_DENIED, machine)


def conditional(machine: str) -> dict[str, int]:
    """Calls with a rule of their own."""
    return _numbers(_CONDITIONAL, machine)
