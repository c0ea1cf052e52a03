"""The licence gate: what requirements.lock installs, and under which licences.

`python -m tests.licences` fails on a licence that is not accepted here. It reads the metadata of
installed packages, so run it in an environment that has all of them (`make setup`).
"""

import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Final

LOCK: Final = Path(__file__).parents[1] / "requirements.lock"

ACCEPTED: Final = {
    *("0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "CC0-1.0", "CNRI-Python", "HPND"),
    *("ISC", "MIT", "MIT-0", "MIT-CMU", "PSF-2.0", "Zlib"),
}
"""SPDX ids. An expression is accepted if each id in it is."""

_LIBRARY: Final = "a library used unmodified, from its own wheel, which anybody may replace"
_FILE_LEVEL: Final = "its copyleft covers changes of its own files, and we make none"
EXCEPTIONS: Final[Mapping[str, tuple[str, str]]] = {
    "certifi": ("MPL-2.0", _FILE_LEVEL),
    "orjson": ("MPL-2.0 AND (Apache-2.0 OR MIT)", _FILE_LEVEL),
    "pathspec": ("MPL-2.0", f"only builds the wheel; {_FILE_LEVEL}"),
    "psycopg": ("LGPL-3.0-only", _LIBRARY),
    "psycopg-binary": ("LGPL-3.0-only", _LIBRARY),
    "psycopg-pool": ("LGPL-3.0-only", _LIBRARY),
    "tqdm": ("MPL-2.0 AND MIT", _FILE_LEVEL),
    "xlrd": ("BSD-3-Clause AND BSD-4-Clause", "asks for an acknowledgement, which NOTICE has"),
}
"""Other licences: the package, its licence, and why it is accepted."""

STATED: Final[Mapping[str, tuple[str, str]]] = {
    "cronsim": ("BSD-3-Clause", "BSD License"),
    "google-re2": ("BSD-3-Clause", "BSD License"),
    "opencc": ("Apache-2.0", "Apache License 2.0"),
    "pystemmer": ("MIT AND BSD-3-Clause", "MIT, BSD"),
    "olefile": ("BSD-2-Clause AND HPND", "BSD"),
    "pyasn1-modules": ("BSD-2-Clause", "BSD"),
    "pypdfium2": ("BSD-3-Clause AND Apache-2.0", "BSD-3-Clause, Apache-2.0, dependency licenses"),
    "xlrd": ("BSD-3-Clause AND BSD-4-Clause", "BSD"),
}
"""Imprecise metadata: the package, what its licence files say, and what the metadata say."""

_SPDX_OF: Final = {
    "3-Clause BSD License": "BSD-3-Clause",
    "Apache 2.0": "Apache-2.0",
    "Apache Software License": "Apache-2.0",
    "ISC License": "ISC",
    "MIT License": "MIT",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Locked:
    """An entry of a lock file."""

    name: str
    version: str
    is_conditional: bool
    """Whether it is installed on some systems or Python versions only."""
    hashes: Sequence[str]
    needed_by: Sequence[str]


def locked(text: str) -> list[Locked]:
    """The entries of a lock file; a package has several if versions depend on Python."""
    found = []
    for entry in re.split(r"(?m)^(?=\w)", text):
        if (head := re.match(r"([\w.-]+)==([^\s;]+)( ;)?", entry)) is None:
            continue
        found.append(
            Locked(
                name=head[1],
                version=head[2],
                is_conditional=head[3] is not None,
                hashes=re.findall(r"--hash=sha256:(\w+)", entry),
                needed_by=re.findall(r"(?m)^ +#(?: via)? +([\w.-]+)$", entry),
            )
        )
    return found


def installed_licence(name: str) -> tuple[str, str] | None:
    """The installed version and the licence that its metadata state; None if not installed."""
    try:
        about = metadata.metadata(name)
    except metadata.PackageNotFoundError:
        return None
    fields = [(key, value) for key in set(about) for value in about.get_all(key) or ()]
    return about["Version"], stated_licence(fields)


def stated_licence(about: Sequence[tuple[str, str]]) -> str:
    """An SPDX expression if there is one, or the words of the metadata; empty if there are none."""
    fields = {key: value.strip().splitlines()[0] for key, value in about if value.strip()}
    classifiers = sorted(
        value.rsplit(" :: ", 1)[1]
        for key, value in about
        if key == "Classifier" and value.startswith("License :: ")
    )
    stated = fields.get("License-Expression") or fields.get("License") or ", ".join(classifiers)
    return _SPDX_OF.get(stated, stated)


def precise(name: str, stated: str) -> str:
    """`stated`, or what the licence files of the package say, if its metadata are as known."""
    expression, known = STATED.get(name, (stated, stated))
    return expression if stated == known else stated


def objection(name: str, expression: str) -> str | None:
    """Why the licence of a package is not accepted; None if it is."""
    if name in EXCEPTIONS and EXCEPTIONS[name][0] == expression:
        return None
    ids = {id.strip() for id in re.split(r" AND | OR |[()]", expression)} - {""}
    return None if ids and ids <= ACCEPTED else f"{name}: {expression or 'states no licence'}"


def objections(entries: Sequence[Locked]) -> list[str]:
    """What stands in the way of a merge, one line each."""
    found, conditional = [], {entry.name for entry in entries if entry.is_conditional}
    expressions: dict[str, str] = {}
    for name in sorted({entry.name for entry in entries}):
        about = installed_licence(name)
        if about is None:
            if name not in conditional:
                found.append(f"{name}: not installed, so its licence is not known")
            continue
        if about[0] not in {entry.version for entry in entries if entry.name == name}:
            found.append(f"{name}: {about[0]} is installed, which is not the locked version")
        expressions[name] = precise(name, about[1])
        found += filter(None, [objection(name, expressions[name])])
    # Lists that nobody shortens say less every year.
    found += [
        f"{name}: in EXCEPTIONS, but its licence is {expressions.get(name, 'not in the lock')}"
        for name, (expression, _) in EXCEPTIONS.items()
        if expressions.get(name) != expression
    ]
    found += [f"{name}: in STATED, but not installed" for name in STATED if name not in expressions]
    return found


def main() -> None:
    entries = locked(LOCK.read_text())
    found = objections(entries)
    for line in found:
        print(line, file=sys.stderr)
    if found:
        raise SystemExit(
            "see tests/licences.py: accept a licence there, with the reason, or do without"
        )
    print(f"{len({entry.name for entry in entries})} packages, all under accepted licences")


if __name__ == "__main__":
    main()
