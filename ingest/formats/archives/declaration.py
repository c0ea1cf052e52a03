"""How archives and compressed files are recognised: suffixes, media types and signatures."""

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
    # A compressed tar file holds files; other compressed files are read as what they hold.
    Format(
        media_type=types.GZIP,
        label="a gzip file",
        suffixes=".gz .tgz .svgz",
        aliases=("application/x-gzip",),
        is_compressed=True,
        holds_files=True,
        signatures=(b"\x1f\x8b\x08",),
        related=frozenset({types.TAR}),
    ),
    Format(
        media_type=types.BZIP2,
        label="a bzip2 file",
        suffixes=".bz2 .tbz2",
        aliases=("application/bzip2", "application/x-bzip"),
        is_compressed=True,
        holds_files=True,
        signatures=(re.compile(rb"BZh[1-9](?:1AY&SY|\x17rE8P\x90)"),),
    ),
    Format(
        media_type=types.XZ,
        label="an xz file",
        suffixes=".xz .txz",
        is_compressed=True,
        holds_files=True,
        signatures=(b"\xfd7zXZ\x00",),
    ),
    Format(
        media_type=types.ZSTANDARD,
        label="a Zstandard file",
        suffixes=".zst .tzst",
        aliases=("application/x-zstd",),
        is_compressed=True,
        holds_files=True,
        # pzstd puts a frame of 4 bytes, which is skipped, before each other one.
        signatures=(b"\x28\xb5\x2f\xfd", b"\x50\x2a\x4d\x18\x04\0\0\0"),
    ),
    Format(
        media_type=types.SIGNED,
        label="a signed file",
        suffixes=".p7m .p7s",
        aliases=(
            "application/x-pkcs7-mime",
            "application/pkcs7-signature",
            "application/x-pkcs7-signature",
        ),
        is_compressed=True,
        holds_files=True,
        # ContentInfo with signed or enveloped data, also in Base64.
        signatures=(
            re.compile(
                rb"\x30(?:[\x0b-\x80]|\x81.|\x82..|\x83...|\x84....)\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x07[\x02\x03]",
                re.DOTALL,
            ),
            re.compile(
                rb"\s*(?:-----BEGIN (?:PKCS ?#?7|CMS)[A-Z ]*-----\s+)?M[A-Za-z0-9+/]{2,9}"
                rb"(?:YJKoZIhvcNAQc[CD]|CSqGSIb3DQEHA|BgkqhkiG9w0BBw[KO])"
            ),
        ),
        related=frozenset({types.EMAIL}),
    ),
)
