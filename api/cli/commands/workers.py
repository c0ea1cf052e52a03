"""`ingest pause`, `ingest resume`: pause and resume the workers."""

from typing import Annotated

import httpx
import typer

from api.cli.arguments import JsonDocument
from api.cli.client.http_client import ServiceError, open_client
from api.cli.output import CommandError, count, out, print_json


def pause(*, as_json: JsonDocument = False) -> None:
    """Pause all workers: running jobs finish, no others start. Needs the operator key."""
    _set_paused(True, as_json)


def resume(
    *,
    provider: Annotated[
        bool,
        typer.Option("--provider", help="Instead, end the pauses of embedding providers"),
    ] = False,
    as_json: JsonDocument = False,
) -> None:
    """Resume all workers. Needs the operator key."""
    if provider:
        _resume_provider(as_json)
    else:
        _set_paused(False, as_json)


def _resume_provider(as_json: bool) -> None:
    with open_client() as client:
        answer = client.post("/api/worker/provider/resume", None)
    if as_json:
        print_json(answer)
    else:
        pauses, jobs = count(len(answer["lanes"]), "pause"), count(answer["jobCount"], "job")
        out().print(f"ended {pauses}, resumed {jobs}")


def _set_paused(paused: bool, as_json: bool) -> None:
    with open_client() as client:
        try:
            answer = client.put("/api/worker/config", {"paused": paused})
        except ServiceError as error:
            if error.status != httpx.codes.FORBIDDEN:
                raise
            raise CommandError(
                "this needs the operator key, because the workers serve all applications; the key "
                f"from {client.target.key_from} is another one (set INGEST_API_KEY to the operator "
                "key, or unset it and set INGEST_ADMIN_KEY)"
            ) from None
    if as_json:
        print_json(answer)
    else:
        out().print("paused" if answer["paused"] else "running")
