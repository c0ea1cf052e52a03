"""What a service and the commands on the same machine know of each other: the data folder.

data/admin.key    the generated key (ingest/runtime.py writes it, readable by its owner only)
data/server.json  where the service listens; there while it runs
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
    """Whether a service keeps its key, database and files here: nothing in it is knowledge."""
    return key_file(folder).exists() or (folder / "postgres" / "owner.lock").exists()


def server_file(data_dir: Path) -> Path:
    return data_dir / "server.json"


@contextmanager
def announced(data_dir: Path, url: str) -> Iterator[None]:
    """Name the URL in the data folder while the service runs."""
    file = server_file(data_dir)
    file.parent.mkdir(parents=True, exist_ok=True)
    draft = file.with_name(f"{file.name}.{os.getpid()}")
    draft.write_text(json.dumps({"url": url, "pid": os.getpid()}) + "\n")
    draft.replace(file)
    try:
        yield
    finally:
        # Two services may share the folder; the later one has put its own in place.
        if _read(file).get("pid") == os.getpid():
            file.unlink(missing_ok=True)


def announced_url(data_dir: Path) -> str | None:
    """The URL of the service that was last started on this data folder and has not been stopped."""
    url = _read(server_file(data_dir)).get("url")
    return url if isinstance(url, str) else None


def stored_key(data_dir: Path) -> str | None:
    """The generated operator's key; None when there is none, or it belongs to another user."""
    with suppress(OSError):
        return key_file(data_dir).read_text().strip() or None
    return None


def _read(file: Path) -> dict[str, Any]:
    with suppress(OSError, ValueError):
        content = json.loads(file.read_text())
        if isinstance(content, dict):
            return content
    return {}
