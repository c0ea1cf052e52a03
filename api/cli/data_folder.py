"""The data folder: how commands on the same machine find the service and its key.

data/admin.key    the generated key (ingest/runtime.py writes it, readable by its owner only)
data/server.json  the URL of the service; exists while it runs
"""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any


def key_file(data_dir: Path) -> Path:
    return data_dir / "admin.key"


def is_data_dir(folder: Path) -> bool:
    """Whether a service stores its key, database and files here: nothing in it is uploaded."""
    return key_file(folder).exists() or (folder / "postgres" / "owner.lock").exists()


def server_file(data_dir: Path) -> Path:
    return data_dir / "server.json"


@contextmanager
def announced(data_dir: Path, url: str) -> Iterator[None]:
    """Write the URL to the data folder while the service runs."""
    file = server_file(data_dir)
    file.parent.mkdir(parents=True, exist_ok=True)
    draft = file.with_name(f"{file.name}.{os.getpid()}")
    draft.write_text(json.dumps({"url": url, "pid": os.getpid()}) + "\n")
    draft.replace(file)
    try:
        yield
    finally:
        # Two services may share the folder; a later one has replaced the file with its own.
        if _read(file).get("pid") == os.getpid():
            file.unlink(missing_ok=True)


def announced_url(data_dir: Path) -> str | None:
    """The URL of the service that was last started with this data folder and not stopped."""
    url = _read(server_file(data_dir)).get("url")
    return url if isinstance(url, str) else None


def stored_key(data_dir: Path) -> str | None:
    """The generated operator key; None if it does not exist or belongs to another user."""
    with suppress(OSError):
        return key_file(data_dir).read_text().strip() or None
    return None


def _read(file: Path) -> dict[str, Any]:
    with suppress(OSError, ValueError):
        content = json.loads(file.read_text())
        if isinstance(content, dict):
            return content
    return {}
