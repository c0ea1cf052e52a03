"""`ingest delete`, `pause` and `resume`: delete sources, and pause or resume the workers."""

from typing import Annotated, Any

import httpx
import typer

from api.cli.client import Client, Refused, open_client
from api.cli.common import check_id, refusals
from api.cli.output import CommandError, count, out, plain, print_json

Json = Annotated[bool, typer.Option("--json", help="One JSON document")]


def delete(
    ids: Annotated[list[str], typer.Argument(metavar="ID…", help="Of knowledge sources")],
    *,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object per line")] = False,
) -> None:
    """Delete knowledge sources in any state, with all their documents, for good."""
    for id in ids:
        check_id(id)
    console = out()
    with open_client() as client, refusals() as attempt:
        for id in ids:
            with attempt(id):
                client.delete(f"/api/knowledge-sources/{id}")
                if as_json:
                    print_json({"id": id, "status": "deleted"})
                else:
                    console.print(plain(f"{id}  deleted"))


def pause(*, as_json: Json = False) -> None:
    """Let the workers start no further jobs; running ones go on. Needs the operator's key."""
    _set_paused(True, as_json)


def resume(
    *,
    provider: Annotated[
        bool,
        typer.Option("--provider", help="End the pauses of providers instead: they were mended"),
    ] = False,
    as_json: Json = False,
) -> None:
    """Let the workers start jobs again. Needs the operator's key."""
    if provider:
        _resume_provider(as_json)
    else:
        _set_paused(False, as_json)


def print_version(is_asked: bool) -> None:
    """Print the version of the installed package and exit, if the option was given."""
    if not is_asked:
        return
    # Imported here: reading the metadata takes time, and no other command needs it.
    from importlib.metadata import version

    out().print(f"ingest {version('rag-ingest')}")
    raise typer.Exit


def _resume_provider(as_json: bool) -> None:
    with open_client() as client:
        answer = client.post("/api/worker/provider/resume", None)
    if as_json:
        print_json(answer)
    else:
        ended = count(len(answer["lanes"]), "pause")
        out().print(f"{ended} ended, {count(answer['jobCount'], 'job')} started again")


def _set_paused(paused: bool, as_json: bool) -> None:
    with open_client() as client:
        answer = _put_config(client, {"paused": paused})
    if as_json:
        print_json(answer)
    else:
        out().print("paused" if answer["paused"] else "running")


def _put_config(client: Client, change: dict[str, Any]) -> Any:
    try:
        return client.put("/api/worker/config", change)
    except Refused as error:
        if error.status != httpx.codes.FORBIDDEN:
            raise
        raise CommandError(
            "the workers serve all applications: this needs the operator's key, and the one from "
            f"{client.target.key_from} is not (set INGEST_API_KEY to it, or unset that and set "
            "INGEST_ADMIN_KEY)"
        ) from None
