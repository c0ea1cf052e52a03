"""A parser process whose text extractor does what the file says: see test_sandbox.py.

It is the real child but for that: what a file makes a parser do, this one does when told.
"""

import fcntl
import os
import resource
import signal
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import orjson
from PIL import Image

from ingest.errors import Permanent
from ingest.formats import catalog, media_types
from ingest.formats.common.input_file import Extraction, InputFile, Recogniser
from ingest.formats.text import declaration
from ingest.model import OcrSettings
from ingest.page_words import Recognised
from ingest.sandbox import child, protocol
from tests.servers import attacks


def extract(source: InputFile) -> Extraction:
    """The first word is what to do, the second an argument."""
    return Extraction(parts=[_obey(source, source.stream.read().decode())], extractor="hostile 1")


def _obey(source: InputFile, words: str) -> str:
    command, _, argument = words.partition(" ")
    commands: dict[str, Callable[[], object]] = {
        "say": lambda: argument,
        "signal": lambda: _die(int(argument)),
        "exit": lambda: os._exit(int(argument)),
        "sleep": lambda: time.sleep(float(argument)),
        "spin": _spin,
        "burn": lambda: _burn(float(argument)),
        "allocate": lambda: len(bytearray(int(argument) * 1024 * 1024)),
        "swell": lambda: _swell(int(argument)),
        "abort": lambda: _abort(argument),
        "offspring": lambda: _offspring(argument),
        "print": lambda: _print(argument),
        "lie": lambda: _lie(argument.encode()),
        "chatter": lambda: _chatter(int(argument)),
        "pid": os.getpid,
        "pictures": lambda: _pictures(source, argument),
        "attach": lambda: _attach(source, argument),
        "descriptors": lambda: _descriptors(argument),
        "litter": _litter,
        "behind": lambda: _behind(source, argument),
        "wait": lambda: _wait(argument),
        "answer_twice": lambda: _answer_twice(int(argument)),
        "repeat": lambda: "a " * (int(argument) // 2),
        "keep": lambda: _keep(int(argument)),
        "folder": lambda: vars(source.members)["_folder"],
        "hoard": lambda: _hoard(int(argument)),
        "scratch": tempfile.gettempdir,
        "fake_members": _fake_members,
        "attack": lambda: attacks.attempt(argument),
        "environment": lambda: orjson.dumps(dict(os.environ)).decode(),
        "limits": lambda: orjson.dumps(
            {name: resource.getrlimit(getattr(resource, name))[0] for name in argument.split()}
        ).decode(),
    }
    return str(commands[command]())


def _behind(source: InputFile, argument: str) -> str:
    """Obey once so many files have been sent behind this one."""
    count, _, command = argument.partition(" ")
    sent = bytearray(4)
    while int.from_bytes(sent, sys.byteorder) < int(count):
        for descriptor in Path("/proc/self/fd").iterdir():
            if "socket:" in os.path.realpath(descriptor):
                # Each descriptor comes with a byte.
                fcntl.ioctl(int(descriptor.name), termios.FIONREAD, sent)
        time.sleep(0.01)
    return _obey(source, command)


def _wait(argument: str) -> str:
    """Note the process id in one file, and wait until another is there."""
    note, _, end = argument.partition(" ")
    Path(note).write_text(str(os.getpid()))
    while not os.path.exists(end):
        time.sleep(0.01)
    return "waited"


def _keep(megabytes: int) -> str:
    """Leave a file of this size; hang if others have left some."""
    here = Path(tempfile.gettempdir())
    found = [entry for entry in here.iterdir() if entry.name.startswith("kept")]
    (here / f"kept{len(found)}").write_bytes(os.urandom(megabytes * 1024 * 1024))
    while found:
        time.sleep(1)
    return "kept"


def _burn(seconds: float) -> None:
    """Use the processor for so long, then end."""
    while time.process_time() < seconds:
        pass
    os._exit(1)


def _die(number: int) -> None:
    os.kill(os.getpid(), number)
    time.sleep(10)


def _abort(last_words: str) -> None:
    sys.stderr.write(last_words)
    sys.stderr.flush()
    _die(signal.SIGABRT)


def _descriptors(name: str) -> str:
    """Open files whose name has this in it."""
    links = Path("/proc/self/fd").iterdir()
    targets = [os.path.realpath(link) for link in links]
    return " ".join(target for target in targets if name in target) or "none"


def _litter() -> str:
    """Leave a folder behind that is hard to remove."""
    here = Path(tempfile.gettempdir())
    found = len(list(here.iterdir()))
    (folder := here / "left").mkdir(0o300)
    (folder / "file").touch()
    return f"{len(list(here.iterdir())) - found} left here, {found} found"


def _hoard(files: int) -> None:
    """Keep so many files of 8 MiB."""
    for number in range(files):
        (Path(tempfile.gettempdir()) / str(number)).write_bytes(os.urandom(8 * 1024 * 1024))
    time.sleep(300)


def _fake_members() -> str:
    os.symlink("/etc", Path(tempfile.gettempdir()) / "members-1")
    return "replaced"


def _swell(size: int) -> None:
    """As libraries do that get no more memory, and do not say so."""
    held = bytearray(size * 1024 * 1024)
    time.sleep(0.5)
    _die(signal.SIGABRT)
    held.clear()


def _spin() -> None:
    while True:
        pass


def _offspring(path: str) -> None:
    process = subprocess.Popen(["sleep", "300"])
    with open(path, "w") as file:
        file.write(str(process.pid))
    time.sleep(300)


def _pictures(source: InputFile, count: str) -> str:
    """Read so many, slowly enough that each is reported."""
    if source.ocr is None:
        return "no ocr"
    return " ".join(source.ocr.read(Image.new("L", (1, 1))) for _ in range(int(count)))


class _Slow(Recogniser):
    name = "slow 1"

    def recognise(self, image: Image.Image) -> Recognised:
        time.sleep(2 * protocol.NOTE_SECONDS)
        return Recognised("read")


def _slow_recogniser(
    settings: OcrSettings | None, on_picture: Callable[[], None]
) -> Recogniser | None:
    return None if settings is None else child._Reported(_Slow(), on_picture)


def _attach(source: InputFile, path: str) -> str:
    return str(source.members and source.members.add(path, b"attached"))


def _print(text: str) -> str:
    sys.stdout.write(text)
    sys.stdout.flush()
    os.write(1, text.encode())
    return "printed"


def _lie(frame: bytes) -> None:
    """Send an answer of one's own. Its pipe is the first that the child opened after starting."""
    _answer(frame, times=1)
    time.sleep(10)


def _answer_twice(number: int) -> str:
    """Answer the request of this number, before its usual answer."""
    early = protocol.encode_failure(Permanent("early", code="corrupt"), resident=1, number=number)
    _answer(early[protocol.LENGTH.size :], times=1)
    return "late"


def _chatter(times: int) -> str:
    """Claim a step so often that the parent does nothing but read."""
    _answer(b'{"stage":"extract"}', times=times)
    return "done"


def _answer(frame: bytes, *, times: int) -> None:
    for descriptor in range(3, 20):
        target = os.path.realpath(f"/proc/self/fd/{descriptor}")
        if "pipe:" in target:
            try:
                for _ in range(times):
                    os.write(descriptor, len(frame).to_bytes(4, "big") + frame)
            except OSError:
                continue


declaration.FORMATS = tuple(
    replace(each, reader="__main__") if each.media_type == media_types.TEXT else each
    for each in declaration.FORMATS
)
catalog.forget()  # a fork server has read the declarations
child._recogniser = _slow_recogniser

if __name__ == "__main__":
    child.main()
