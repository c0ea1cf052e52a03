"""What a parser process finds out about the installation, before and after it enters its jail."""

import contextlib
import os
import sys
from pathlib import Path

from ingest.model import MissingModule
from ingest.sandbox.jail import Jail
from ingest.sandbox.messages import Checked

_BEFORE_ALL = {"sitecustomize", "usercustomize"}  # Python imports them when it starts


def check(jail: Jail) -> Checked:
    """Import all parsers, enter the jail, and see whether it hides any of their files."""
    from ingest.formats.registry import missing_parsers

    missing = missing_parsers()
    files = _loaded_files()
    return Checked(
        missing=tuple(
            MissingModule(module=module, formats=tuple(formats))
            for module, formats in missing.items()
        ),
        jail=jail.enter(),
        unreadable=tuple(sorted(filter(_is_unreadable, files))),
    )


def _loaded_files() -> set[str]:
    """The files of the imported modules, and the libraries that they brought."""
    files = {
        getattr(module, "__file__", None) or ""
        for name, module in tuple(sys.modules.items())
        if name not in _BEFORE_ALL
    }
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/maps").read_text().splitlines():
            _, slash, rest = line.partition("/")
            if ".so" in rest:
                files.add(slash + rest)
    return {file for file in files if os.path.isfile(file)}


def _is_unreadable(file: str) -> bool:
    try:
        os.close(os.open(file, os.O_RDONLY | os.O_CLOEXEC))
    except PermissionError:
        return True
    return False
