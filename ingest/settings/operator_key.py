"""The operator's API key: configured, or generated once."""

import os
import secrets
from contextlib import suppress
from pathlib import Path

from ingest.settings.settings import Settings


def operator_key(settings: Settings) -> str:
    """INGEST_ADMIN_KEY, or the key generated at the first start, in a file only its owner reads."""
    if settings.admin_key is not None:
        return settings.admin_key.get_secret_value()
    return _generated_key(settings.data_dir / "admin.key")


def _generated_key(path: Path) -> str:
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.with_name(f"{path.name}.{os.getpid()}")
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT, 0o600), "w") as file:
            file.write(f"rk_{secrets.token_urlsafe(32)}\n")
        # os.link is atomic: if two first starts race, one wins, and both read its key.
        with suppress(FileExistsError):
            os.link(draft, path)
        draft.unlink()
    return path.read_text().strip()
