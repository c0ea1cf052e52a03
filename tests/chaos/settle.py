"""After the faults: everything must come to rest by itself, or with what the manual says."""

import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, Final, LiteralString

import httpx

from harness.patience import LONG_PATIENCE
from harness.service import check_adds_up
from tests.chaos.checks import Problem
from tests.chaos.installation import Installation
from tests.chaos.leftovers import fire_ticks
from tests.chaos.model import ApplicationModel

_OPEN: Final[LiteralString] = """
    select (select count(*) from rag.processing_jobs
             where status in ('pending', 'processing') and type <> 'notification')
         + (select count(*) from rag.webhook_events where processed_at is null)
         + (select count(*) from rag.knowledge_sources
             where status in ('pending', 'processing') or deleted_at is not null)
         + (select count(*) from rag.upload_batches where completed_at is null)
"""
_NOTIFICATIONS: Final[LiteralString] = """
    select (select count(*) from rag.webhook_deliveries where status = 'pending')
         + (select count(*) from rag.processing_jobs
             where status in ('pending', 'processing') and type = 'notification')
"""


class Settling:
    def __init__(
        self, on: Installation, models: Sequence[ApplicationModel], *, hurry: bool
    ) -> None:
        """hurry: fire the ticks of each minute at once instead of waiting for them."""
        self._on = on
        self._models = models
        self._hurry = hurry
        self.dead_letters: Counter[str] = Counter()
        """Jobs that had used all their attempts, by error code; they were retried by hand."""

    def come_to_rest(self) -> list[Problem]:
        """Wait, retry what failed as an operator would, crawl once more, wait for webhooks."""
        on = self._on
        if not self._none_of(_OPEN):
            return [("hung", f"open after {LONG_PATIENCE} s: {self._what_is_open()}")]
        for _ in range(3):
            if not self._retry_failed():
                break
            self._none_of(_OPEN)
        for model in self._models:
            self._rescrape(model)
        self._none_of(_OPEN)
        on.firecrawl.settle(60)
        self._release_webhooks()
        if not self._none_of(_NOTIFICATIONS) or not self._none_of(_OPEN):
            return [("hung", f"open after {LONG_PATIENCE} s: {self._what_is_open()}")]
        for model in self._models:
            check_adds_up(self._get(model, f"/api/knowledge-source/{model.id}/progress"))
        return []

    def _retry_failed(self) -> int:
        """Queue failed jobs again, but for those of broken files and notifications; how many."""
        rows = self._on.postgres.rows(
            "select application_id::text, last_error_code, count(*) from rag.processing_jobs "
            "as job where status = 'failed' and type <> 'notification' "
            "and last_error_code <> 'corrupt' and exists (select from rag.knowledge_sources "
            "as source where source.current_job_id in (job.id, job.parent_job_id)) group by 1, 2"
        )
        for application, code, count in rows:
            [model] = [model for model in self._models if model.id == application]
            self.dead_letters[code] += count
            self._post(model, "/api/jobs/retry-failed", {"errorCode": code})
        return len(rows)

    def _rescrape(self, model: ApplicationModel) -> None:
        """The site as it is now; that of Firecrawl only if its crawl failed."""
        for source in (model.site, model.firecrawl_site):
            if source is None:
                continue
            status = self._get(model, f"/api/knowledge-sources/{source}")["status"]
            if source == model.site or status != "completed":
                if status != "completed":
                    self.dead_letters[f"site {status}"] += 1
                self._post(model, f"/api/knowledge-sources/{source}/rescrape", None)

    def _release_webhooks(self) -> None:
        """A success releases what waits for the next attempt, which may be hours away."""
        for model in self._models:
            self._post(model, f"/api/webhook-endpoints/{model.endpoint}/test", None)

    def _none_of(self, count: LiteralString) -> bool:
        fire_at = 0.0

        def none() -> bool:
            nonlocal fire_at
            self._on.tend()
            if self._hurry and time.monotonic() >= fire_at:
                fire_ticks(self._on)
                fire_at = time.monotonic() + 2
            [(number,)] = self._on.postgres.rows(count)
            return bool(number == 0)

        return _soon(none)

    def _what_is_open(self) -> str:
        rows = self._on.postgres.rows(
            "select type, status, stage, wait_reason, last_error_code, last_error_message, "
            "attempts, locked_by, run_at - now() from rag.processing_jobs "
            "where status in ('pending', 'processing') limit 5"
        )
        sources = self._on.postgres.rows(
            "select uri, status, deleted_at from rag.knowledge_sources "
            "where status in ('pending', 'processing') or deleted_at is not null limit 5"
        )
        return f"jobs {rows}, sources {sources}"

    def _get(self, model: ApplicationModel, path: str) -> Any:
        return self._ask("GET", model, path, None).json()

    def _post(self, model: ApplicationModel, path: str, body: Any) -> None:
        self._ask("POST", model, path, body)

    def _ask(self, method: str, model: ApplicationModel, path: str, body: Any) -> httpx.Response:
        """As any client, once more after a 503: a pool may hold connections that were cut."""
        headers = {"Authorization": f"Bearer {model.key}"}
        found: list[httpx.Response] = []

        def answered() -> bool:
            answer = self._on.api.http.request(method, path, json=body, headers=headers)
            found[:] = [answer]
            return answer.status_code != 503

        _soon(answered)
        if found[0].status_code not in (200, 202, 409):
            found[0].raise_for_status()
        return found[0]


def _soon(condition: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + LONG_PATIENCE
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.2)
    return True
