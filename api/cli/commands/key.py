"""`ingest key`: replace the operator key that the service has generated, or sign in with it."""

import sys
from datetime import timedelta
from typing import Annotated, Final

import httpx
import typer

from api.cli import data_folder
from api.cli.arguments import JsonDocument
from api.cli.client.http_client import open_client
from api.cli.output import CommandError, out, print_json

_LONGEST_GRACE: Final = timedelta(days=1)
_TIMEOUT_SECONDS: Final = 10.0


def rotate(
    *,
    grace: Annotated[
        str, typer.Option(help="How long the old key stays valid, such as 10m; at most 1d")
    ] = "0s",
    as_json: JsonDocument = False,
) -> None:
    """Replace the operator key in the data folder; running processes use the new one at once."""
    # Imported here: other commands do without the settings of the service, which take time.
    from ingest.settings.loading import load_settings
    from ingest.settings.operator_key import rotate

    kept = _duration(grace)
    settings = load_settings()
    if settings.admin_key is not None:
        raise CommandError(
            "the operator key comes from INGEST_ADMIN_KEY: give every process a new one, and the "
            "old one as INGEST_ADMIN_KEY_PREVIOUS until all have restarted (docs/operations.md)"
        )
    key = rotate(settings.data_dir, grace=kept)
    file = data_folder.key_file(settings.data_dir).absolute()
    url = data_folder.announced_url(settings.data_dir)
    is_accepted = None if url is None else _is_accepted(url, key)
    if is_accepted is False:
        raise CommandError(
            f"{file} has a new key, but the service at {url} does not accept it: it was started "
            "with INGEST_ADMIN_KEY, or by an account that cannot read the file"
        )
    # As at the start of the service: other people may read a log.
    shown = key if _is_terminal() else None
    if as_json:
        answer = {"keyFile": str(file), "isInUse": is_accepted is not None}
        print_json(answer | ({} if shown is None else {"key": shown}))
        return
    if shown is not None:
        out().print(f"key     {shown}")
    out().print(f"stored  in {file}")
    until = f"is valid for {grace} more" if kept else "is no longer valid"
    out().print(
        f"the old key {until}"
        if is_accepted
        else f"no service answers here; whatever uses this folder: the old key {until}"
    )


def link(*, as_json: JsonDocument = False) -> None:
    """Print a link that signs in to the dashboard as the operator: once, within ten minutes."""
    with open_client() as client:
        answer = client.post("/api/session/codes", None)
        url = f"{client.target.url}/#login={answer['code']}"
    if as_json:
        print_json({"signInUrl": url, "expiresAt": answer["expiresAt"]})
    else:
        out().print(url, soft_wrap=True)


def _is_terminal() -> bool:
    return sys.stdout.isatty()


def _duration(text: str) -> timedelta:
    from pydantic import TypeAdapter, ValidationError

    from ingest.settings.types import Duration

    try:
        duration: timedelta = TypeAdapter(Duration).validate_python(text)
    except ValidationError:
        raise CommandError(f"--grace: {text} is not a duration such as 10m") from None
    if not timedelta(0) <= duration <= _LONGEST_GRACE:
        raise CommandError("--grace: must be between 0s and 1d")
    return duration


def _is_accepted(url: str, key: str) -> bool | None:
    """Whether the service accepts the key; None if it does not answer."""
    headers = {"Authorization": f"Bearer {key}"}
    try:
        answer = httpx.get(
            f"{url}/api/worker/config", headers=headers, timeout=_TIMEOUT_SECONDS, trust_env=False
        )
    except httpx.HTTPError:
        return None
    if answer.status_code == httpx.codes.UNAUTHORIZED:
        return False
    return True if answer.is_success else None
