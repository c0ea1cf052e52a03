"""One round: an installation, its users, the faults of a plan, and the verdict on what is left."""

import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any, Final

from harness.patience import LONG_PATIENCE
from harness.service import until
from tests.chaos import checks, firecrawl, leftovers, plants
from tests.chaos.actor import Actor
from tests.chaos.client import Client, Log
from tests.chaos.installation import Installation, installation, keep_logs
from tests.chaos.model import ApplicationModel
from tests.chaos.plan import Plan
from tests.chaos.readers import Follower, Reader, Searcher, SocketFollower, StreamFollower
from tests.chaos.settle import Settling
from tests.chaos.storm import Storm

_APPLICATIONS: Final = 3
_EVENTS: Final = (
    "source.completed", "source.partial", "source.failed", "batch.completed",
    "rescrape.completed", "job.failed",
)  # fmt: skip


@dataclass(kw_only=True)
class Result:
    seed: int
    seconds: float = 0.0
    settled_after: float = 0.0
    injected: Counter[str] = field(default_factory=Counter)
    effective: Counter[str] = field(default_factory=Counter)
    unavailable: set[str] = field(default_factory=set)
    done: Counter[str] = field(default_factory=Counter)
    answers: Counter[str] = field(default_factory=Counter)
    end: Counter[str] = field(default_factory=Counter)
    """States of sources and jobs in the end, and other counts of what happened."""
    problems: list[checks.Problem] = field(default_factory=list)
    logs: Path | None = None


def play(plan: Plan, *, mounts: bool, hurry: bool, test_checks: bool, logs: Path) -> Result:
    """The logs are kept in `logs` if there is a problem."""
    result = Result(seed=plan.seed)
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="ingest-chaos-") as name:
        folder = Path(name)
        folder.chmod(0o711)  # Postgres has an account of its own if this one is root
        try:
            with installation(plan, folder, mounts=mounts) as on:
                try:
                    _Round(on, result, hurry=hurry, test_checks=test_checks).play()
                    for process in on.processes:
                        process.end()
                    result.problems += leftovers.check_temporary(on.temporary)
                except Exception:
                    result.problems.append(("checker", traceback.format_exc()))
                if result.problems:
                    keep_logs(folder, logs)
                    result.logs = logs
        except Exception:
            result.problems.append(("checker", traceback.format_exc()))
    result.problems += leftovers.check_processes()
    result.seconds = time.monotonic() - began
    return result


class _Round:
    def __init__(self, on: Installation, result: Result, *, hurry: bool, test_checks: bool) -> None:
        self._on = on
        self._result = result
        self._hurry = hurry
        self._test_checks = test_checks
        self._log = Log()
        self._models: list[ApplicationModel] = []

    def play(self) -> None:
        self._set_limits()
        self._models = [self._application(number) for number in range(_APPLICATIONS)]
        actors = [self._actor(model) for model in self._models]
        readers = self._readers()
        threads = [*actors, *readers]
        for thread in threads:
            thread.start()
        until(lambda: all(actor.done["uploaded"] for actor in actors))
        before = leftovers.descriptors(self._on)
        storm = Storm(self._on)
        try:
            storm.blow()
        finally:
            storm.still()
            calm = time.monotonic()
            for actor in actors:
                actor.stop()
        until(self._on.is_ready, every=0.1)
        self._join(actors)
        settling = Settling(self._on, self._models, hurry=self._hurry)
        problems = settling.come_to_rest()
        self._result.settled_after = time.monotonic() - calm
        time.sleep(1)  # the followers hear of the last events
        for reader in readers:
            reader.stop()
        self._join(readers)
        self._note(storm, settling, actors, readers)
        problems += self._check(readers, before)
        self._result.problems += [*self._log.problems, *problems]
        if self._test_checks and not self._result.problems:
            count, missed = plants.missed(self._on, self._models)
            self._result.end["planted faults that were found"] = count - len(missed)
            self._result.problems += [("checker", f"did not find {name}") for name in missed]

    def _check(
        self, readers: Sequence[Reader], before: dict[int, Counter[str]]
    ) -> list[checks.Problem]:
        on, models = self._on, self._models
        followed = {
            (follower.own.id, source)
            for follower in readers
            if isinstance(follower, Follower)
            for source in follower.seen
        }
        problems = [
            *checks.check_rows(on),
            *checks.check_contents(on, models),
            *checks.check_search(on, models),
            *checks.check_notifications(on, models),
            *checks.check_followers(on, followed),
            *leftovers.check_descriptors(before, leftovers.descriptors(on)),
        ]
        found, swept = leftovers.check_blobs(on)
        self._result.end["orphaned blobs swept"] = swept
        return problems + found

    # -- set-up

    def _set_limits(self) -> None:
        """Short pauses between attempts, so that a round ends in minutes; attempts by the plan."""
        limits = {"maxAttempts": self._on.plan.max_attempts, "backoffCapSeconds": 4}
        for item in self._operator("GET", "/api/job-types"):
            kind = item["type"]
            if kind not in ("notification", "purge", "stop_crawl"):
                self._operator("PATCH", f"/api/job-types/{kind}", limits)

    def _application(self, number: int) -> ApplicationModel:
        id = self._operator("POST", "/api/applications", {"name": f"application {number}"})["id"]
        body = {"name": "chaos", "role": "admin"}
        key = self._operator("POST", f"/api/applications/{id}/keys", body)["key"]
        endpoint = self._on.api.http.post(
            "/api/webhook-endpoints",
            json={"url": f"{self._on.receiver.url}/{number}", "events": _EVENTS},
            headers={"Authorization": f"Bearer {key}"},
        )
        endpoint.raise_for_status()
        self._on.receiver.secrets[number] = endpoint.json()["secret"]
        seed = self._on.plan.seed
        url = firecrawl.address(seed, number)
        self._on.firecrawl.sites[url] = firecrawl.pages(seed, number)
        self._on.firecrawl.behaviours[url] = firecrawl.behaviour(seed, number)
        return ApplicationModel(number=number, id=id, key=key, endpoint=endpoint.json()["id"])

    def _actor(self, model: ApplicationModel) -> Actor:
        return Actor(self._on, model, Client(self._on, model.key, self._log), pause=0.5)

    def _readers(self) -> list[Reader]:
        readers: list[Reader] = []
        for model in self._models:
            rng = Random(f"{self._on.plan.seed}/readers/{model.number}")
            client = Client(self._on, model.key, self._log)
            readers.append(Searcher(self._models, model, client, rng))
            readers.append(SocketFollower(self._on, self._log, model, rng))
        readers.append(StreamFollower(self._on, self._log, self._models[0], rng))
        return readers

    def _operator(self, method: str, path: str, body: Any = None) -> Any:
        answer = self._on.api.http.request(method, path, json=body)
        answer.raise_for_status()
        found = answer.json()
        return found["items"] if isinstance(found, dict) and "items" in found else found

    # -- the end

    def _join(self, threads: Sequence[Actor | Reader]) -> None:
        deadline = time.monotonic() + LONG_PATIENCE
        while any(thread.is_alive() for thread in threads) and time.monotonic() < deadline:
            self._on.tend()
            time.sleep(0.05)
        for thread in threads:
            if thread.is_alive():
                self._log.report("hung", f"{thread.name} does not end")

    def _note(
        self,
        storm: Storm,
        settling: Settling,
        actors: Sequence[Actor],
        readers: Sequence[Reader],
    ) -> None:
        result, postgres = self._result, self._on.postgres
        result.injected, result.effective = storm.injected, storm.effective
        result.unavailable = storm.unavailable
        result.answers = self._log.answers
        for actor in actors:
            result.done.update(actor.done)
        end = result.end
        for status, count in postgres.rows(
            "select status, count(*) from rag.knowledge_sources group by 1"
        ):
            end[f"sources {status}"] += count
        [(jobs, again)] = postgres.rows(
            "select count(*), count(*) filter (where attempts > 1) from rag.processing_jobs"
        )
        end["jobs"], end["jobs tried again"] = jobs, again
        end["reads"] = sum(reader.rounds for reader in readers)
        end["events followed"] = sum(
            len(numbers)
            for reader in readers
            if isinstance(reader, Follower)
            for numbers in reader.seen.values()
        )
        end["walls asked"] = self._log.walls_asked
        end["webhooks sent more than once"] = sum(
            times > 1 for times in self._on.receiver.taken.values()
        )
        end["webhooks taken"] = len(self._on.receiver.taken)
        deliveries = self._on.firecrawl.deliveries
        end["Firecrawl events"] = len(deliveries)
        end["Firecrawl events that came again"] = len(deliveries) - len(
            {delivery.body for delivery in deliveries}
        )
        for code, count in settling.dead_letters.items():
            end[f"dead letter {code}"] += count
        for what, count in self._on.exits.items():
            end[f"exit of {what}"] += count
