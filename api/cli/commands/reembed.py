"""`ingest reembed`: embed stored documents with the model of the settings."""

import time
from collections.abc import Mapping
from typing import Annotated, Any, Final

import typer

from api.cli.arguments import JsonDocument
from api.cli.client.http_client import Client, open_client
from api.cli.output import CommandError, count, notes, out, plain, print_json

_POLL_SECONDS: Final = 2.0
_OPEN: Final = ("pending", "processing")


def reembed(
    *,
    status: Annotated[
        bool, typer.Option("--status", help="Only show how far the change of model is")
    ] = False,
    all_applications: Annotated[
        bool, typer.Option("--all", help="For all applications; needs the operator key")
    ] = False,
    wait: Annotated[bool, typer.Option("--wait", help="Wait until searches use it")] = False,
    as_json: JsonDocument = False,
) -> None:
    """Embed stored documents with the model of the settings, in the background.

    The earlier model is searched until the new vectors are complete.
    """
    if status and (all_applications or wait):
        raise CommandError("--status goes with no other option")
    if all_applications and wait:
        raise CommandError("--wait is for one application")
    with open_client() as client:
        if all_applications:
            _print(client.post("/api/reembed/all", None), as_json)
            return
        if not status:
            queued = client.post("/api/reembed", None)
            if not wait:
                _print(queued, as_json)
                return
            _wait(client, queued["jobIds"][0])
        state = client.get("/api/reembed")
    if as_json:
        print_json(state)
        return
    out().print(plain(_state(state)))
    for model in state["earlierModels"]:
        if not model["isReachable"]:
            name = f"{model['provider']}/{model['name']}"
            notes().print(plain(f"{name} is not configured: words find its documents"))


def _wait(client: Client, job_id: str) -> None:
    last = ""
    while True:
        job = client.get(f"/api/jobs/{job_id}")
        if job["status"] == "completed":
            return
        if job["status"] not in _OPEN:
            reason = job["lastErrorMessage"] or ""
            raise CommandError(f"the job {job_id} is {job['status']}: {reason}")
        if (line := _state(client.get("/api/reembed"))) != last:
            notes().print(plain(line))
            last = line
        time.sleep(_POLL_SECONDS)


def _print(queued: Mapping[str, Any], as_json: bool) -> None:
    if as_json:
        print_json(queued)
    else:
        out().print(f"{count(len(queued['jobIds']), 'job')} queued")


def _state(state: Mapping[str, Any]) -> str:
    model = f"{state['model']['provider']}/{state['model']['name']}"
    if not state["outdated"]:
        return f"{model}: all of {count(state['documents'], 'document')}"
    return f"{model}: {state['ready']} of {count(state['outdated'], 'document')} are ready"
