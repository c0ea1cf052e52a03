"""`ingest jobs`, `ingest job …`, `ingest retry-failed`: list, show, retry, review, delete jobs."""

from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Any, Final

import typer
from rich.console import Console
from rich.table import Table

from api.cli.arguments import (
    BATCHES,
    JOBS,
    Batch,
    JsonDocument,
    JsonLines,
    Limit,
    Source,
    check_id,
)
from api.cli.client.http_client import Client, open_client
from api.cli.exits import continue_on_error
from api.cli.listing import Cell, print_rows
from api.cli.output import CommandError, count, local_time, out, plain, print_json
from ingest.model import JobStatus

Ids = Annotated[list[str], typer.Argument(metavar="ID…", help="Ids of jobs")]
Job = dict[str, Any]

_COLUMNS: Final[Mapping[str, Cell]] = {
    "id": lambda row: row["id"],
    "type": lambda row: row["type"],
    "status": lambda row: row["status"],
    "attempt": lambda row: f"{row['attempts']}/{row['maxAttempts']}",
    "stage or reason": lambda row: _stage_or_reason(row),
}

# Optional fields of a job to print, by label.
_FIELDS: Final = {
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


def jobs(
    *,
    status: Annotated[JobStatus | None, typer.Option(help="Only this status")] = None,
    type: Annotated[str | None, typer.Option(help="Only this type")] = None,
    source: Source = None,
    batch: Batch = None,
    code: Annotated[
        str | None, typer.Option("--code", "--error", help="Only this error code")
    ] = None,
    limit: Limit = 50,
    as_json: JsonLines = False,
) -> None:
    """List processing jobs, newest first."""
    check_id(source)
    check_id(batch, hint=BATCHES)
    query = {
        "status": status,
        "type": type,
        "knowledgeSourceId": source,
        "batchId": batch,
        "errorCode": code,
    }
    with open_client() as client:
        rows = client.pages("/api/jobs", limit=limit, **query)
        print_rows(rows, _COLUMNS, long="stage or reason", as_json=as_json)


def show(ids: Ids, *, as_json: JsonLines = False) -> None:
    """Show the status, details and log of jobs."""
    _each(ids, lambda client, id: client.get(f"/api/jobs/{id}"), _print_details, as_json)


def retry(ids: Ids, *, as_json: JsonLines = False) -> None:
    """Retry jobs that failed, were cancelled or need a review; start waiting jobs now."""
    _each(ids, _post("retry"), _print_status, as_json)


def cancel(ids: Ids, *, as_json: JsonLines = False) -> None:
    """Cancel waiting or running jobs, permanently."""
    _each(ids, _post("cancel"), _print_status, as_json)


def approve(ids: Ids, *, as_json: JsonLines = False) -> None:
    """Approve jobs that need a review, so that they continue."""
    _each(ids, _post("approve"), _print_status, as_json)


def reject(ids: Ids, *, as_json: JsonLines = False) -> None:
    """Reject jobs that need a review; they end without the step that needs approval."""
    _each(ids, _post("reject"), _print_status, as_json)


def delete(ids: Ids, *, as_json: JsonLines = False) -> None:
    """Delete finished jobs and their logs. Their knowledge sources stay."""

    def remove(client: Client, id: str) -> Job:
        client.delete(f"/api/jobs/{id}")
        return {"id": id, "status": "deleted"}

    _each(ids, remove, _print_status, as_json)


def retry_failed(
    *,
    batch: Batch = None,
    source: Source = None,
    type: Annotated[str | None, typer.Option(help="Only this type")] = None,
    code: Annotated[str | None, typer.Option(help="Only this error code")] = None,
    as_json: JsonDocument = False,
) -> None:
    """Retry all failed jobs that match every given option."""
    wanted = {"batchId": batch, "knowledgeSourceId": source, "type": type, "errorCode": code}
    body = {name: value for name, value in wanted.items() if value is not None}
    if not body:
        raise CommandError("give at least one of --batch, --source, --type and --code")
    check_id(batch, hint=BATCHES)
    check_id(source)
    with open_client() as client:
        answer = client.post("/api/jobs/retry-failed", body)
    if as_json:
        print_json(answer)
    else:
        out().print(f"{count(answer['jobCount'], 'job')} queued again")


def _post(action: str) -> Callable[[Client, str], Job]:
    return lambda client, id: client.post(f"/api/jobs/{id}/{action}", None)


def _each(
    ids: list[str],
    request: Callable[[Client, str], Job],
    print_job: Callable[[Console, Job], None],
    as_json: bool,
) -> None:
    """Handle one job after the other; an error of one does not stop the rest."""
    for id in ids:
        check_id(id, hint=JOBS)
    console = out()
    with open_client() as client, continue_on_error() as attempt:
        for id in ids:
            with attempt(id):
                job = request(client, id)
                if as_json:
                    print_json(job)
                else:
                    print_job(console, job)


def _print_status(console: Console, job: Job) -> None:
    console.print(plain(f"{job['id']}  {job['status']}"))


def _print_details(console: Console, job: Job) -> None:
    console.print(plain(f"{job['id']}  {job['status']}"), style="bold")
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 2))
    table.add_column(no_wrap=True, style="dim")
    table.add_column(overflow="fold")
    for name, value in _details(job):
        table.add_row(name, plain(value))
    console.print(table)
    for line in job["logs"]:
        console.print(plain(_log_line(line)), style="red" if line["level"] == "error" else "")


def _details(job: Job) -> Iterator[tuple[str, object]]:
    yield "attempt", f"{job['attempts']} of {job['maxAttempts']}"
    for name, field in _FIELDS.items():
        if job[field] is not None:
            yield name, job[field]
    for name, field in _TIMES.items():
        if job[field] is not None:
            yield name, local_time(job[field])
    for name, value in (job["result"] or {}).items():
        yield name, value


def _log_line(line: dict[str, Any]) -> str:
    duration = "" if line["durationMs"] is None else f" ({line['durationMs']:,} ms)"
    code = line["details"].get("code")
    message = line["message"] if code is None else f"{code}: {line['message']}"
    return f"{local_time(line['createdAt'])}  attempt {line['attempt']}  {message}{duration}"


def _stage_or_reason(job: Mapping[str, Any]) -> object:
    if job["status"] == "processing":
        return f"{job['stage'] or 'starting'} {job['progress']} %"
    return job["reviewReason"] or job["lastErrorCode"] or job["waitReason"]
