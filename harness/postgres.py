"""The Postgres that tests run on: the embedded one, or the programs in INGEST_TEST_POSTGRES.

That names a folder with `postgres` and `initdb` of version 15 or later, to which pgvector was
installed. When the tests run as root, every account must be able to read it.
"""

import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from ingest.postgres.embedded.host import Account
from ingest.postgres.embedded.server import EmbeddedPostgres


def postgres_in(folder: Path) -> EmbeddedPostgres:
    """A server whose cluster is in `folder`; it is not started yet."""
    return _OlderPostgres(folder) if "INGEST_TEST_POSTGRES" in os.environ else _TestPostgres(folder)


class _TestPostgres(EmbeddedPostgres):
    """Survives kills, not a failure of the machine: it does not wait for the disk."""

    _settings: ClassVar[Mapping[str, str]] = {**EmbeddedPostgres._settings, "fsync": "off"}


class _OlderPostgres(_TestPostgres):
    """Without what came later than Postgres 15: the built-in locale (17) and `io_method` (18)."""

    _settings: ClassVar[Mapping[str, str]] = {
        name: value for name, value in _TestPostgres._settings.items() if name != "io_method"
    }
    _locale: ClassVar[Sequence[str]] = ("--encoding=UTF8", "--locale=C", "--lc-ctype=C.UTF-8")

    def _binaries(self, account: Account) -> Path:
        # Version 15 goes to its programs for a moment, and comes back to its cluster by path.
        if not account.is_ours:
            for folder in (self._folder, *self._folder.parents):
                if folder.is_relative_to(tempfile.gettempdir()):
                    folder.chmod(folder.stat().st_mode | 0o001)
        return Path(os.environ["INGEST_TEST_POSTGRES"]).resolve()
