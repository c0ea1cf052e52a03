"""`ingest job …`, `retry-failed` and `delete` against a made-up service."""

import subprocess
import sys
from importlib.metadata import version

import httpx
import pytest

from tests.servers.fake_service import problem
from tests.unit.cli.fake_jobs import FakeJobs, fake_jobs, ingest, objects

A, B, C = (f"0191c3a0-0000-7000-8000-00000000000{digit}" for digit in "abc")

JOB = {
    "id": A,
    "type": "file",
    "status": "review_needed",
    "stage": "store",
    "progress": 95,
    "attempts": 1,
    "maxAttempts": 5,
    "priority": 0,
    "knowledgeSourceId": B,
    "batchId": None,
    "parentJobId": None,
    "result": {"chunks": 3, "documentId": C},
    "reviewReason": "low_coverage",
    "lastErrorCode": None,
    "lastErrorMessage": "2 of 10 pages have text",
    "waitReason": None,
    "runAt": None,
    "createdAt": "2026-11-28T06:00:00Z",
    "startedAt": "2026-11-28T06:00:01Z",
    "completedAt": "2026-11-28T06:00:02Z",
    "logs": [
        {
            "attempt": 1,
            "level": "info",
            "stage": "extract",
            "message": "extract done",
            "details": {},
            "durationMs": 1234,
            "createdAt": "2026-11-28T06:00:02Z",
        },
        {
            "attempt": 1,
            "level": "error",
            "stage": None,
            "message": "\x1b[31mbroken",
            "details": {"code": "corrupt"},
            "durationMs": None,
            "createdAt": "2026-11-28T06:00:02Z",
        },
    ],
}


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> FakeJobs:
    return fake_jobs(monkeypatch)


def test_a_job_is_shown_with_its_question_and_its_log(service: FakeJobs) -> None:
    service.answers[f"GET /api/jobs/{A}"] = httpx.Response(200, json=JOB)

    result = ingest("job", "show", A)

    lines = result.stdout.splitlines()
    assert result.exit_code == 0
    assert lines[0] == f"{A}  review_needed"
    said = {tuple(line.strip().split(maxsplit=1)) for line in lines}
    assert ("review", "low_coverage") in said
    assert ("message", "2 of 10 pages have text") in said
    assert ("documentId", C) in said
    assert "batch" not in result.stdout
    assert lines[-2].endswith("attempt 1  extract done (1,234 ms)")
    assert lines[-1].endswith("attempt 1  corrupt:  [31mbroken")


def test_job_json_is_the_answer_of_the_service(service: FakeJobs) -> None:
    service.answers[f"GET /api/jobs/{A}"] = httpx.Response(200, json=JOB)

    result = ingest("job", "show", A, "--json")

    assert objects(result) == [JOB]


@pytest.mark.parametrize("action", ["retry", "cancel", "approve", "reject"])
def test_review_command_prints_the_new_state(service: FakeJobs, action: str) -> None:
    path = f"/api/jobs/{A}/{action}"
    service.answers[f"POST {path}"] = httpx.Response(200, json={**JOB, "status": "pending"})

    result = ingest("job", action, A)

    assert (result.exit_code, result.stdout) == (0, f"{A}  pending\n")
    assert service.requests == [("POST", path, None)]


@pytest.mark.parametrize(
    ("command", "path"),
    [(("job", "delete"), "/api/jobs"), (("delete",), "/api/knowledge-sources")],
)
def test_delete_prints_what_was_deleted(
    service: FakeJobs, command: tuple[str, ...], path: str
) -> None:
    service.answers[f"DELETE {path}/{A}"] = httpx.Response(204)

    text, as_json = ingest(*command, A), ingest(*command, A, "--json")

    assert (text.exit_code, text.stdout) == (0, f"{A}  deleted\n")
    assert objects(as_json) == [{"id": A, "status": "deleted"}]


@pytest.mark.parametrize("command", [("job", "delete"), ("delete",)])
def test_failed_id_does_not_stop_the_others(service: FakeJobs, command: tuple[str, ...]) -> None:
    path = "/api/jobs" if command[0] == "job" else "/api/knowledge-sources"
    service.answers[f"DELETE {path}/{A}"] = problem(409, "not_ended", "it has not ended")
    service.answers[f"DELETE {path}/{C}"] = httpx.Response(204)

    result = ingest(*command, A, B, C)

    assert (result.exit_code, result.stdout) == (2, f"{C}  deleted\n")
    assert result.stderr.splitlines() == [
        f"ingest: {A}: it has not ended",
        f"ingest: {B}: job not found",
    ]


def test_missing_permission_is_reported_once(service: FakeJobs) -> None:
    service.answers[f"POST /api/jobs/{A}/cancel"] = problem(403, "forbidden", "not your role")

    result = ingest("job", "cancel", A, B)

    assert (result.exit_code, len(service.requests)) == (2, 1)
    assert result.stderr == "ingest: not your role\n"


def test_all_failed_jobs_of_a_kind_are_queued_again(service: FakeJobs) -> None:
    service.answers["POST /api/jobs/retry-failed"] = httpx.Response(202, json={"jobCount": 1234})

    options = ("--batch", A, "--source", B, "--type", "file", "--code", "embedding_unavailable")
    text, as_json = ingest("retry-failed", *options), ingest("retry-failed", *options, "--json")

    assert (text.exit_code, text.stdout) == (0, "1,234 jobs queued again\n")
    assert objects(as_json) == [{"jobCount": 1234}]
    assert service.requests[0][2] == {
        "batchId": A,
        "knowledgeSourceId": B,
        "type": "file",
        "errorCode": "embedding_unavailable",
    }


def test_sources_are_read_again_by_id_or_all(service: FakeJobs) -> None:
    for id in (A, B):
        path = f"POST /api/knowledge-sources/{id}/read-again"
        service.answers[path] = httpx.Response(202, json={"knowledgeSourceId": id, "jobId": C})
    service.answers[f"POST /api/knowledge-sources/{B}/read-again"] = problem(
        409, "not_readable", "it is pending"
    )
    service.answers["POST /api/knowledge-sources/bulk"] = httpx.Response(
        202, json={"jobId": C, "rowCount": 1234}
    )

    some, all_sources = ingest("read-again", B, A), ingest("read-again", "--all")
    neither = ingest("read-again")

    assert (some.exit_code, some.stdout) == (2, f"{A}  queued\n")
    assert some.stderr == f"ingest: {B}: it is pending\n"
    assert (all_sources.exit_code, all_sources.stdout.split()[:2]) == (0, ["1,234", "sources:"])
    assert service.requests[-1][2] == {"action": "read_again", "filter": {}}
    assert (neither.exit_code, neither.stderr) == (2, "ingest: give ids or --all\n")


@pytest.mark.parametrize(
    ("option", "hint"),
    [("--batch", "upload batches"), ("--source", "`ingest sources` lists ids")],
)
def test_invalid_id_message_names_the_list_command(
    service: FakeJobs, option: str, hint: str
) -> None:
    result = ingest("retry-failed", option, "nonsense")

    assert (result.exit_code, service.requests) == (2, [])
    assert result.stderr.startswith("ingest: nonsense is not an id: ")
    assert hint in result.stderr


def test_retry_failed_needs_a_filter(service: FakeJobs) -> None:
    result = ingest("retry-failed")

    assert (result.exit_code, service.requests) == (2, [])
    assert result.stderr == "ingest: give at least one of --batch, --source, --type and --code\n"


@pytest.mark.parametrize("option", ["--code", "--error"])
def test_jobs_are_filtered_by_code_and_show_review_questions(
    service: FakeJobs, option: str
) -> None:
    page = {"items": [JOB], "nextCursor": None}
    service.answers["GET /api/jobs"] = httpx.Response(200, json=page)

    result = ingest("jobs", option, "corrupt")

    assert result.exit_code == 0
    assert "low_coverage" in result.stdout


def test_job_without_stage_shows_none(service: FakeJobs) -> None:
    job = {**JOB, "status": "processing", "stage": None, "progress": 0, "reviewReason": None}
    page = {"items": [job], "nextCursor": None}
    service.answers["GET /api/jobs"] = httpx.Response(200, json=page)

    result = ingest("jobs")

    assert "starting 0 %" in result.stdout
    assert "None" not in result.stdout


@pytest.mark.parametrize("command", ["show", "retry", "cancel", "approve", "reject", "delete"])
def test_invalid_id_argument_is_reported_before_any_action(service: FakeJobs, command: str) -> None:
    result = ingest("job", command, A, "nothing")

    assert (result.exit_code, service.requests) == (2, [])
    assert result.stderr == "ingest: nothing is not an id: `ingest jobs` lists ids\n"


def test_the_version_is_that_of_the_package() -> None:
    result = ingest("--version")

    assert (result.exit_code, result.stdout) == (0, f"ingest {version('rag-ingest')}\n")


def test_the_package_runs_as_a_module() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "api.cli", "--version"], capture_output=True, text=True, check=True
    )

    assert done.stdout.startswith("ingest ")
