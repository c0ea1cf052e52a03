"""The fork server: a process that has loaded the parsers, and forks parser processes on request.

A parser process serves one application only, so processes start often. Loading Python and the
libraries takes 0.3 s and 50 MB each time; a fork takes milliseconds and shares the memory.

The fork server reads no file, so nothing can have taken it over, and it has a single thread, so its
forks are sound. Formats of the operator are not loaded here but in the forks, in their jail.
forked.py starts it as `python -m ingest.sandbox.fork_server CHANNEL PARENT MODE`. Linux only.
"""

import gc
import importlib
import logging
import os
import runpy
import selectors
import signal
import socket
import sys
import tempfile
import traceback
from contextlib import suppress
from typing import Any, NoReturn

import orjson

from ingest.analysis.language import load_identifier
from ingest.formats.registry import missing_parsers
from ingest.parent_death import die_with
from ingest.priority import lower
from ingest.sandbox import limits
from ingest.sandbox.jail import protect_memory
from ingest.sandbox.protocol import MAX_FORK_MESSAGE
from ingest.tokens.tokenizers import load_tokenizer

_MAX_DESCRIPTORS = 8
# What child.py imports, also later.
_MODULES = (
    "ingest.analysis.chunk_terms",
    "ingest.chunking.chunk",
    "ingest.formats.archives.unpack",
    "ingest.providers.ocr.factory",
    "ingest.sandbox.installation_check",
)


def main() -> None:
    """Serve until the parent closes the channel."""
    channel = socket.socket(fileno=int(sys.argv[1]))
    die_with(int(sys.argv[2]))
    logging.disable()
    lower(is_alone=False)  # before others may not touch us, which includes ourselves
    if sys.argv[3] != "off":  # then debuggers may attach
        protect_memory()
    _load()
    # Objects that the collector moves in a fork would be copied.
    gc.collect()
    gc.freeze()
    threads = len(os.listdir("/proc/self/task"))
    channel.send(orjson.dumps({"threads": threads}))
    _serve(channel)


def _load() -> None:
    """Load what parsers need. What fails here fails again in the fork, which reports it."""
    try:
        for name in _MODULES:
            importlib.import_module(name)
        missing_parsers()
    except Exception:
        traceback.print_exc()


def _serve(channel: socket.socket) -> None:
    ended, wakeup = socket.socketpair()
    ended.setblocking(False)
    wakeup.setblocking(False)
    signal.set_wakeup_fd(wakeup.fileno(), warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    with selectors.DefaultSelector() as selector:
        selector.register(channel, selectors.EVENT_READ)
        selector.register(ended, selectors.EVENT_READ)
        while True:
            ready = {key.fileobj for key, _ in selector.select()}
            if ended in ready:
                ended.recv(4096)
                _report_ended(channel)
            if channel in ready:
                body, descriptors, _, _ = socket.recv_fds(
                    channel, MAX_FORK_MESSAGE, _MAX_DESCRIPTORS
                )
                if not body:
                    return
                _fork(channel, orjson.loads(body), descriptors)


def _fork(channel: socket.socket, request: dict[str, Any], descriptors: list[int]) -> None:
    try:
        if request["tokenizer"]:  # it will chunk; both are cached
            load_tokenizer(request["tokenizer"])
            load_identifier()
    except Exception:  # the fork meets it again, and reports it
        traceback.print_exc()
    answer: dict[str, Any]
    try:
        pid = os.fork()
    except OSError as error:  # of too many processes: those that run must not end for it
        answer = {"refused": str(error)}
    else:
        if pid == 0:
            channel.close()
            _become(request, descriptors)
        # As the fork does, so that the parent can kill the group as soon as it knows the number.
        with suppress(OSError):
            os.setpgid(pid, pid)
        answer = {"pid": pid, "resident": limits.resident()}
    for descriptor in descriptors:
        os.close(descriptor)
    channel.send(orjson.dumps(answer))


def _become(request: dict[str, Any], descriptors: list[int]) -> NoReturn:
    """Turn the fork into what `python -m MODULE ARGUMENT…` would have started."""
    status = 1
    try:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.setpgid(0, 0)  # in our session: by itself, each would get as much time as the service
        _place(descriptors, request["descriptors"])
        os.environ.clear()
        os.environ.update(request["environment"])
        tempfile.tempdir = None  # TMPDIR may differ
        os.chdir(request["folder"])
        sys.argv = [request["module"], *request["arguments"]]
        runpy.run_module(request["module"], run_name="__main__", alter_sys=True)
        status = 0
    except SystemExit as error:
        status = error.code if isinstance(error.code, int) else 1
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(status)


def _place(descriptors: list[int], numbers: list[int]) -> None:
    """Give the received descriptors these numbers, and close all others."""
    above = max(*descriptors, *numbers) + 1  # out of the way of the final numbers
    moved = [os.dup2(found, above + n) for n, found in enumerate(descriptors)]
    for descriptor, number in zip(moved, numbers, strict=True):
        os.dup2(descriptor, number)
    kept = set(numbers)
    for name in os.listdir("/proc/self/fd"):
        if int(name) not in kept:
            try:
                os.close(int(name))
            except OSError:
                continue  # the listing's own


def _report_ended(channel: socket.socket) -> None:
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid == 0:
            return
        code = os.waitstatus_to_exitcode(status)
        channel.send(orjson.dumps({"ended": pid, "code": code}))


if __name__ == "__main__":
    main()
