"""Wait until the files of an upload are processed, and read the outcome of each."""

import time
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import count as numbers
from typing import Any, Final

from api.cli.client.http_client import Client, ServiceError
from api.cli.client.polling import POLL_SECONDS, PollingClient
from api.cli.client.uploader import UnsearchableFile, UploadAnswers
from api.cli.client.wait_reasons import QUIET_SECONDS, WaitReasons

_OPEN: Final = ("pending", "processing")
_QUIET_POLLS: Final = round(QUIET_SECONDS / POLL_SECONDS)


class UploadWaiter:
    """Polls the batches that contain the files of an upload."""

    def __init__(
        self, client: Client, answers: UploadAnswers, *, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        self._client = client
        self._service = PollingClient(client, sleep=sleep)
        self._answers = answers
        self._batches = [answers.batch_id] if answers.batch_id else []
        self._reasons = WaitReasons(client, [])
        self.states = Counter[str]()
        """Number of accepted files per state, as of the last poll."""

    def wait(
        self,
        on_progress: Callable[[int, int], None],
        *,
        on_waiting: Callable[[str, bool], None] = lambda *_: None,
    ) -> None:
        """Wait until no file is pending or processing.

        `on_progress` gets the number of files that have ended, and of all. While none ends,
        `on_waiting` is called from time to time with what the files wait for and whether that has
        changed; it gets an empty text when they continue.
        """
        self._batches += self._earlier_batches()
        self._reasons = reasons = WaitReasons(
            self._client, [{"batchId": id} for id in self._batches]
        )
        ended, since = 0, 0
        for poll in numbers():
            batches = [self._service.get(f"/api/batches/{id}") for id in self._batches]
            accepted = sum(batch["accepted"] for batch in batches)
            self.states = _count_states(batches)
            left = sum(self.states[state] for state in _OPEN)
            on_progress(accepted - left, accepted)
            if left == 0:
                return
            if accepted - left != ended:
                ended, since = accepted - left, poll
                on_waiting("", False)
            elif (poll - since) % _QUIET_POLLS == _QUIET_POLLS - 1:
                on_waiting(reasons.waiting(), reasons.has_changed)
            self._service.pause()

    def open_jobs(self) -> str:
        """What the open jobs do and wait for, as one line."""
        return self._reasons.open_jobs()

    def outcome(self) -> tuple[Counter[str], list[UnsearchableFile]]:
        """The current number of files per state, and the files that are not searchable."""
        states, failed = Counter[str](), list(self._answers.rejected)
        for row in self._rows():
            states[row["status"]] += 1
            if row["status"] not in ("completed", *_OPEN):
                failed.append(UnsearchableFile.of(row, row["status"]))
        return states, failed

    def _rows(self) -> Sequence[dict[str, Any]]:
        """The accepted files of this upload in all batches, each source once."""
        rows: dict[str, dict[str, Any]] = {}
        for id in self._batches:
            for row in self._service.get(f"/api/batches/{id}/report")["files"]:
                source = row["knowledgeSourceId"]
                ours = id == self._answers.batch_id or source in self._answers.already_open
                if row["verdict"] == "accepted" and row["status"] is not None and ours:
                    rows[source] = row
        return list(rows.values())

    def _earlier_batches(self) -> list[str]:
        """Batches of files that an earlier upload left in progress: a few, usually one."""
        batches: list[str] = []
        missing = dict(self._answers.already_open)
        while missing:
            _, job = missing.popitem()
            try:
                batch = self._service.get(f"/api/jobs/{job}")["batchId"]
                if batch is None or batch in self._batches or batch in batches:
                    continue
                report = self._service.get(f"/api/batches/{batch}/report")
            except ServiceError as error:
                if error.status != 404:
                    raise
                continue  # deleted meanwhile
            batches.append(batch)
            for row in report["files"]:
                missing.pop(row["knowledgeSourceId"], None)
        return batches


def _count_states(batches: Sequence[dict[str, Any]]) -> Counter[str]:
    return Counter(
        {state: sum(batch.get(state, 0) for batch in batches) for state in (*_OPEN, "failed")}
    )
