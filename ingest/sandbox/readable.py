"""What a parser process may read and run: Python's modules, shared libraries, the OCR program.

The parent finds these paths, the child makes rules of them (jail.py).
"""

import importlib.util
import os
import re
import struct
import sys
import sysconfig
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from ingest.errors import SetupError

_SYSTEM: Final = (
    "/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/usr/local/lib64",
    "/nix/store", "/gnu/store",
    "/usr/share", "/usr/local/share/fonts", "/etc/fonts", "/etc/localtime", "/etc/mime.types",
    "/etc/ld.so.cache", "/etc/ssl/openssl.cnf", "/etc/pki/tls/openssl.cnf",
    "/proc/cpuinfo", "/proc/meminfo", "/proc/sys/vm/overcommit_memory", "/sys/devices/system/cpu",
    "/dev/null", "/dev/zero", "/dev/random", "/dev/urandom",
)  # fmt: skip
_MODULE_FOLDERS: Final = {"site-packages", "dist-packages", "lib-dynload"}
_METADATA: Final = (".dist-info", ".egg-info")
_CODE: Final = {".py", ".so", ".zip"}
_ABSOLUTE: Final = re.compile(r"/[\w.+/-]+")
_PT_INTERP: Final = 3
_LONGEST_SCRIPT: Final = 64 * 1024
_MOST_LEVELS: Final = 3


def readable_paths(
    *, modules: Sequence[str], program: str | None, extra: Sequence[Path], private: Sequence[Path]
) -> tuple[str, ...]:
    """The paths that a parser process may read, with everything below them.

    modules: what it runs besides the installed packages. program: see `runnable_paths`. extra:
    named by the operator. Raises SetupError if one of them holds a folder of `private`.
    """
    found = [*_SYSTEM, f"{sys.base_prefix}/lib", *map(str, extra)]
    for name in ("LD_LIBRARY_PATH", "TESSDATA_PREFIX"):
        found += [path for path in os.environ.get(name, "").split(os.pathsep) if path]
    for entry in sys.path:
        found += _modules_in(Path(entry))  # an empty entry is the working directory
    for module in modules:
        found += _package(module)
    if program is not None:
        for path in runnable_paths(program):
            prefix = Path(path).parent.parent
            found += [path, *(f"{prefix}/{name}" for name in ("lib", "lib64", "share"))]
    paths = dict.fromkeys(os.path.realpath(path) for path in found if os.path.exists(path))
    for folder in private:
        for path in paths:
            if folder.resolve().is_relative_to(path):
                raise SetupError(
                    f"{folder} is inside {path}, which parser processes may read:"
                    " choose another folder for data"
                )
    return tuple(paths)


def _modules_in(folder: Path) -> Iterator[str]:
    """Folders of installed packages as a whole; of other folders, such as a project's, its code.

    A project's folder may hold data and files with secrets, such as `.env`.
    """
    installed = map(sysconfig.get_path, ("stdlib", "platstdlib", "purelib", "platlib"))
    if folder.name in _MODULE_FOLDERS or str(folder) in installed:
        yield str(folder)
        return
    if folder.suffix in _CODE:
        yield str(folder)
    try:
        entries = list(os.scandir(folder))
    except OSError:
        return
    for entry in entries:
        path = Path(entry.path)
        is_package = entry.name.isidentifier() and (path / "__init__.py").exists()
        if path.suffix in _CODE or is_package or entry.name.endswith(_METADATA):
            yield entry.path


def _package(module: str) -> Iterator[str]:
    """Where the top-level package of a module is: it may be found by an import hook."""
    spec = importlib.util.find_spec(module.partition(".")[0])
    if spec is not None and spec.submodule_search_locations is not None:
        yield from spec.submodule_search_locations
    elif spec is not None and spec.origin is not None:
        yield spec.origin


def runnable_paths(program: str, level: int = 0) -> tuple[str, ...]:
    """What the kernel executes to run a program: itself, and its loader or interpreter.

    For a script, such as a wrapper that sets variables, also the programs that it names in full.
    """
    path = os.path.realpath(program)
    try:
        with open(path, "rb") as file:
            head = file.read(_LONGEST_SCRIPT)
    except OSError:
        return ()
    if head.startswith(b"\x7fELF"):
        needed = _loader(head)
    elif head.startswith(b"#!") and level < _MOST_LEVELS:
        needed = [
            word for word in _ABSOLUTE.findall(head.decode("utf-8", "replace"))
            if os.path.isfile(word) and os.access(word, os.X_OK)
        ]  # fmt: skip
    else:
        needed = []
    below = (inner for word in needed for inner in runnable_paths(word, level + 1))
    return tuple(dict.fromkeys([path, *below]))


def _loader(elf: bytes) -> list[str]:
    """The dynamic loader that a 64-bit ELF file names in its program header PT_INTERP."""
    try:
        (offset,) = struct.unpack_from("<Q", elf, 32)
        size, count = struct.unpack_from("<HH", elf, 54)
        for at in range(offset, offset + size * count, size):
            kind, _, start, _, _, length = struct.unpack_from("<IIQQQQ", elf, at)
            if kind == _PT_INTERP:
                return [elf[start : start + length].rstrip(b"\0").decode()]
    except (struct.error, UnicodeDecodeError):
        pass
    return []
