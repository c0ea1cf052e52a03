"""How archives are recognised: suffixes, media types and signatures. They are only unpacked."""

import re

from ingest.formats import media_types as types
from ingest.formats.declaration import Format

FORMATS: tuple[Format, ...] = (
    Format(
        media_type=types.ZIP,
        label="a ZIP archive",
        suffixes=".zip",
        aliases=("application/x-zip-compressed",),
        is_archive=True,
        holds_files=True,
    ),
    Format(
        media_type=types.TAR,
        label="a tar archive",
        suffixes=".tar",
        is_archive=True,
        holds_files=True,
        related=frozenset({types.GZIP}),
    ),
    Format(
        media_type=types.GZIP,
        label="a gzip archive",
        suffixes=".gz .tgz",
        aliases=("application/x-gzip",),
        is_archive=True,
        holds_files=True,
        signatures=(b"\x1f\x8b\x08",),
        related=frozenset({types.TAR}),
    ),
    Format(
        media_type=types.BZIP2,
        label="a bzip2 archive",
        suffixes=".bz2 .tbz2",
        is_archive=True,
        holds_files=True,
        signatures=(re.compile(rb"BZh[1-9](?:1AY&SY|\x17rE8P\x90)"),),
    ),
    Format(
        media_type=types.XZ,
        label="an xz archive",
        suffixes=".xz .txz",
        is_archive=True,
        holds_files=True,
        signatures=(b"\xfd7zXZ\x00",),
    ),
)
