"""Subject and text of an e-mail about an event, with the facts of the webhook's body. Pure."""

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

_LONGEST_SUBJECT: Final = 150
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")

_Words = tuple[str, list[str]]


def letter_of(event: Mapping[str, Any]) -> tuple[str, str]:
    """Subject and text for the body of a notification (`type`, `timestamp`, `data`)."""
    subject, lines = _WORDS[event["type"]](event["data"])
    text = "\n".join([*(_one_line(line) for line in lines), "", f"At {event['timestamp']}."])
    return _one_line(f"[rag-ingest] {subject}")[:_LONGEST_SUBJECT], f"{text}\n"


def _batch(data: Mapping[str, Any]) -> _Words:
    done = data["completed"] + data["partial"]
    subject = f"Upload finished: {done} of {data['accepted']} files are searchable"
    lines = [
        f"The upload batch {data['batchId']} has ended.",
        "",
        f"Files named:      {data['total']}",
        f"  taken in:       {data['accepted']}",
        f"  unchanged:      {data['unchanged']}",
        f"  duplicates:     {data['duplicate']}",
        f"  rejected:       {data['rejected']}",
        "Of those taken in:",
        f"  completed:      {data['completed']}",
        f"  partial:        {data['partial']}",
        f"  failed:         {data['failed']}",
        f"  cancelled:      {data['cancelled']}",
        f"  need a review:  {data['reviewNeeded']}",
        "",
        f"One row per file: GET /api/batches/{data['batchId']}/report",
    ]
    return subject, lines


def _rescrape(data: Mapping[str, Any]) -> _Words:
    digest = data["digest"]
    subject = (
        f"{data['name']}: {digest.get('new', 0)} new, {digest.get('changed', 0)} changed,"
        f" {digest.get('removed', 0)} removed"
    )
    lines = [
        f"{data['uri']} was fetched again.",
        "",
        f"New pages:        {digest.get('new', 0)}",
        f"Changed:          {digest.get('changed', 0)}",
        f"Unchanged:        {digest.get('unchanged', 0)}",
        f"Removed:          {digest.get('removed', 0)}",
        f"Failed:           {digest.get('failed', 0)}",
        f"Removals held:    {digest.get('removalsHeld', 0)}",
        "",
        f"Knowledge source: {data['knowledgeSourceId']}",
    ]
    if data["status"] == "review_needed":
        lines += ["", f"Approve or reject the removals: job {data['jobId']}"]
    return subject, lines


def _job(data: Mapping[str, Any]) -> _Words:
    lines = [
        f"A job of type {data['jobType']} has failed for good.",
        "",
        f"Reason:           {data['errorCode']}: {data['errorMessage']}",
        f"Attempts:         {data['attempts']}",
        f"Job:              {data['jobId']}",
    ]
    if data["knowledgeSourceId"]:
        lines.append(f"Knowledge source: {data['name']} ({data['knowledgeSourceId']})")
    return f"A job has failed: {data['jobType']}, {data['errorCode']}", lines


def _test(data: Mapping[str, Any]) -> _Words:
    return "A test", ["This is the requested test: notifications arrive here."]


_WORDS: Final[Mapping[str, Callable[[Mapping[str, Any]], _Words]]] = {
    "batch.completed": _batch,
    "rescrape.completed": _rescrape,
    "job.failed": _job,
    "endpoint.test": _test,
}


def _one_line(text: str) -> str:
    """The text without line breaks: names and messages are untrusted, and must not add a header."""
    return _CONTROL.sub(" ", text)
