"""`ingest job …` and `ingest retry-failed`: show jobs, and retry, cancel, review or delete them."""

from collections.abc import Callable, Iterator
from typing import Annotated, Any, Final

import typer
from rich.console import Console
from rich.table import Table

from api.cli.client import Client, open_client
from api.cli.common import BATCHES, JOBS, check_id, local_time, refusals
from api.cli.output import CommandError, count, out, plain, print_json

Ids = Annotated[list[str], typer.Argument(metavar="ID…", help="Of jobs")]
Json = Annotated[bool, typer.Option("--json", help="One JSON object per line")]
Job = dict[str, Any]

# Optional fields of a job to print, by label.
_FACTS: Final = {
    "type": "type",
    "stage": "stage",
    "review": "reviewReason",
    "code": "lastErrorCode",
    "message": "lastErrorMessage",
    "waits for": "waitReason",
    "source": "knowledgeSourceId",
    "batch": "batchId",
    "parent": "parentJobId",
}
_TIMES: Final = {
    "not before": "runAt",
    "created": "createdAt",
    "started": "startedAt",
    "ended": "completedAt",
}


def show(ids: Ids, *, as_json: Json = False) -> None:
    """Show jobs: state, reason and log."""
    _each(ids, lambda client, id: client.get(f"/api/jobs/{id}"), _print_whole, as_json)


def retry(ids: Ids, *, as_json: Json = False) -> None:
    """Retry jobs that failed, were cancelled or wait for a review; start waiting ones now."""
    _each(ids, _asking_for("retry"), _print_state, as_json)


def cancel(ids: Ids, *, as_json: Json = False) -> None:
    """Cancel waiting or running jobs, for good."""
    _each(ids, _asking_for("cancel"), _print_state, as_json)


def approve(ids: Ids, *, as_json: Json = False) -> None:
    """Approve jobs that wait for a review: they go on with what they ask about."""
    _each(ids, _asking_for("approve"), _print_state, as_json)


def reject(ids: Ids, *, as_json: Json = False) -> None:
    """Reject jobs that wait for a review: they end without what they ask about."""
    _each(ids, _asking_for("reject"), _print_state, as_json)


def delete(ids: Ids, *, as_json: Json = False) -> None:
    """Remove ended jobs, with their logs. Their knowledge sources stay."""

    def remove(client: Client, id: str) -> Job:
        client.delete(f"/api/jobs/{id}")
        return {"id": id, "status": "deleted"}

    _each(ids, remove, _print_state, as_json)


def retry_failed(
    *,
    batch: Annotated[str | None, typer.Option(help="Of this upload batch")] = None,
    source: Annotated[str | None, typer.Option(help="Of this knowledge source")] = None,
    type: Annotated[str | None, typer.Option(help="Of this type")] = None,
    code: Annotated[str | None, typer.Option(help="With this error code")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document")] = False,
) -> None:
    """Queue again all failed jobs that match every given option."""
    wanted = {"batchId": batch, "knowledgeSourceId": source, "type": type, "errorCode": code}
    body = {name: value for name, value in wanted.items() if value is not None}
    if not body:
        raise CommandError("say which: --batch, --source, --type or --code")
    if batch is not None:
        check_id(batch, hint=BATCHES)
    if source is not None:
        check_id(source)
    with open_client() as client:
        answer = client.post("/api/jobs/retry-failed", body)
    if as_json:
        print_json(answer)
    else:
        out().print(f"{count(answer['jobCount'], 'job')} queued again")


def _asking_for(action: str) -> Callable[[Client, str], Job]:
    return lambda client, id: client.post(f"/api/jobs/{id}/{action}", None)


def _each(
    ids: list[str],
    ask: Callable[[Client, str], Job],
    print_it: Callable[[Console, Job], None],
    as_json: bool,
) -> None:
    """Handle one job after the other; a refused one does not stop the rest."""
    for id in ids:
        check_id(id, hint=JOBS)
    console = out()
    with open_client() as client, refusals() as attempt:
        for id in ids:
            with attempt(id):
                job = ask(client, id)
                if as_json:
                    print_json(job)
                else:
                    print_it(console, job)


def _print_state(console: Console, job: Job) -> None:
    console.print(plain(f"{job['id']}  {job['status']}"))


def _print_whole(console: Console, job: Job) -> None:
    console.print(plain(f"{job['id']}  {job['status']}"), style="bold")
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 2))
    table.add_column(no_wrap=True, style="dim")
    table.add_column(overflow="fold")
    for name, value in _facts(job):
        table.add_row(name, plain(value))
    console.print(table)
    for line in job["logs"]:
        console.print(plain(_log_line(line)), style="red" if line["level"] == "error" else "")


def _facts(job: Job) -> Iterator[tuple[str, object]]:
    yield "attempt", f"{job['attempts']} of {job['maxAttempts']}"
    for name, field in _FACTS.items():
        if job[field] is not None:
            yield name, job[field]
    for name, field in _TIMES.items():
        if job[field] is not None:
            yield name, local_time(job[field])
    for name, value in (job["result"] or {}).items():
        yield name, value


def _log_line(line: dict[str, Any]) -> str:
    spent = "" if line["durationMs"] is None else f" ({line['durationMs']:,} ms)"
    code = line["details"].get("code")
    said = line["message"] if code is None else f"{code}: {line['message']}"
    return f"{local_time(line['createdAt'])}  attempt {line['attempt']}  {said}{spent}"
