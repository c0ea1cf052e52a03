"""One application at work: uploads, changes, deletes, cancels, retries and crawls."""

import threading
from collections import Counter
from random import Random
from typing import Any
from uuid import UUID

from tests.chaos import firecrawl
from tests.chaos.client import Answer, Client
from tests.chaos.contents import make_file, marks
from tests.chaos.installation import Installation
from tests.chaos.model import ApplicationModel, FileModel


class Actor(threading.Thread):
    """Does one thing after the other until it is stopped; the model follows each answer."""

    def __init__(
        self, on: Installation, model: ApplicationModel, client: Client, *, pause: float
    ) -> None:
        super().__init__(name=f"actor-{model.number}", daemon=True)
        self._on = on
        self._model = model
        self._client = client
        self._pause = pause
        self._rng = Random(f"{on.plan.seed}/{model.number}")
        self._stop_asked = threading.Event()
        self.done: Counter[str] = Counter()
        """Requests that were carried out, by kind."""

    def stop(self) -> None:
        self._stop_asked.set()

    def run(self) -> None:
        try:
            self.upload(4)
            self.crawl_site()
            self.crawl_with_firecrawl()
            while not self._stop_asked.wait(self._rng.uniform(0.2, 2) * self._pause):
                self._something()
        except Exception as error:
            self._client.log.report("checker", f"{self.name}: {error!r}")
            raise

    def _something(self) -> None:
        if self._on.site.mood != "well" and self._rng.random() < 0.4:
            return self.recrawl()
        if self._on.receiver.mood != "well" and self._rng.random() < 0.4:
            return self.send_test()
        action = self._rng.choices(
            (self.upload, self.change, self.delete, self.cancel, self.retry, self.recrawl),
            weights=(4, 4, 2, 2, 1, 1),
        )[0]
        return action()

    # -- files

    def upload(self, count: int | None = None) -> None:
        """Files that are not there: new ones, or deleted ones again."""
        gone = [file for file in self._model.files.values() if file.source is None]
        files = [self._rng.choice(gone)] if gone and self._rng.random() < 0.3 else []
        for _ in range(count or self._rng.choice((1, 1, 2, 5))):
            number = len(self._model.files)
            file = FileModel(application=self._model.number, number=number)
            self._model.files[number] = file
            files.append(file)
        if self._rng.random() < 0.2:
            self._client.send_half("/upload/documents", b"half of it\n" * 20_000, {})
        self._send(files)

    def change(self) -> None:
        living = self._model.living()
        if living:
            self._send(self._rng.sample(living, min(len(living), self._rng.choice((1, 1, 3)))))

    def _send(self, files: list[FileModel]) -> None:
        made = []
        for file in files:
            file.tried += 1
            made.append(make_file(self._model.number, file.number, file.tried))
        headers = {"Idempotency-Key": str(UUID(int=self._rng.getrandbits(128), version=4))}

        def post() -> Answer | None:
            parts = [("files", (file.path, file.content)) for file in made]
            return self._client.definite("POST", "/upload/documents", files=parts, headers=headers)

        answer = post()
        if answer is None:
            return
        if answer.status != 202:
            self._unexpected("upload", answer)
            return
        self._note(files, answer.json())
        self.done["uploaded"] += len(files)
        if self._rng.random() < 0.2:
            again = post()
            if again is not None and again.json() != answer.json():
                self._unexpected("a repeated upload", again)

    def _note(self, files: list[FileModel], answer: Any) -> None:
        by_path = {verdict["path"]: verdict for verdict in answer["files"]}
        for file in files:
            verdict = by_path[file.path]
            if verdict["verdict"] != "accepted":
                self._client.log.report("lost", f"{file.path} was sent, and is {verdict}")
                continue
            file.accept(file.tried, verdict["knowledgeSourceId"])

    def delete(self) -> None:
        file = self._one()
        if file is None or len(self._model.living()) < 3:
            return
        source = str(file.source)
        answer = self._client.definite("DELETE", f"/api/knowledge-sources/{source}")
        if answer is None:
            return
        if answer.status not in (204, 404) or (answer.status == 404 and not answer.repeated):
            self._unexpected("delete", answer)
        word = make_file(self._model.number, file.number, file.version).marks[:1]
        file.delete()
        self._model.deleted.add(source)
        self.done["deleted"] += 1
        if word:
            self._must_be_hidden(word[0].word, source)

    def _must_be_hidden(self, word: str, source: str) -> None:
        body = {"query": word, "mode": "keyword"}
        found = self._client.once("POST", "/api/search", json=body)
        if found is not None and found.status_code == 200:
            for hit in found.json()["hits"]:
                if hit["knowledgeSourceId"] == source or any(
                    mark.word == word for mark in marks(hit["content"])
                ):
                    self._client.log.report("leaked", f"{word} is found after its delete")

    def cancel(self) -> None:
        file = self._one()
        if file is None:
            return
        answer = self._client.definite("POST", f"/api/knowledge-sources/{file.source}/cancel")
        if answer is None or answer.status not in (200, 409):
            self._unexpected("cancel", answer)
        elif answer.status == 200 and file.cancelled != "maybe":
            file.cancelled = "yes"
            self.done["cancelled"] += 1
        elif answer.repeated or answer.status == 200:
            file.cancelled = "maybe"

    def retry(self) -> None:
        """The last job of a file; if that was cancelled, nobody knows which of the two wins."""
        file = self._one()
        if file is None:
            return None
        found = self._client.definite("GET", f"/api/knowledge-sources/{file.source}")
        if found is None or found.status != 200:
            return self._unexpected("get", found)
        job = found.json()["jobId"]
        answer = self._client.definite("POST", f"/api/jobs/{job}/retry")
        if answer is None or answer.status not in (202, 409):
            return self._unexpected("retry", answer)
        if (answer.status == 202 or answer.repeated) and file.cancelled == "yes":
            file.cancelled = "maybe"
        self.done["retried"] += answer.status == 202
        return None

    def _one(self) -> FileModel | None:
        living = self._model.living()
        # One of the newest: its job may still be open.
        return self._rng.choice(living[-6:]) if living else None

    # -- sites

    def crawl_site(self) -> None:
        url = self._on.site.start_of(self._model.number)
        self._model.site = self._crawl({"url": url, "crawlLinks": True, "provider": "builtin"})

    def crawl_with_firecrawl(self) -> None:
        url = firecrawl.address(self._on.plan.seed, self._model.number)
        body = {"url": url, "crawlLinks": True, "provider": "firecrawl"}
        self._model.firecrawl_site = self._crawl(body)

    def recrawl(self) -> None:
        """After all pages of the site have changed."""
        if self._model.site is not None:
            self._on.site.versions[self._model.number] += 1
            self.rescrape(self._model.site)

    def rescrape(self, source: str) -> None:
        headers = {"Idempotency-Key": str(UUID(int=self._rng.getrandbits(128), version=4))}
        path = f"/api/knowledge-sources/{source}/rescrape"
        answer = self._client.definite("POST", path, headers=headers)
        if answer is None or answer.status != 202:
            return self._unexpected("rescrape", answer)
        self.done["recrawled"] += 1
        return None

    def send_test(self) -> None:
        """A webhook that is sent at once, whatever its receiver did before."""
        path = f"/api/webhook-endpoints/{self._model.endpoint}/test"
        answer = self._client.definite("POST", path)
        if answer is None or answer.status != 202:
            self._unexpected("a test of the webhook", answer)

    def _crawl(self, body: dict[str, Any]) -> str | None:
        headers = {"Idempotency-Key": str(UUID(int=self._rng.getrandbits(128), version=4))}
        answer = self._client.definite("POST", "/upload/url", json=body, headers=headers)
        if answer is None or answer.status != 202:
            self._unexpected("crawl", answer)
            return None
        self.done["crawled"] += 1
        return str(answer.json()["knowledgeSourceId"])

    def _unexpected(self, what: str, answer: Answer | None) -> None:
        if answer is not None:
            said = f"{what}: {answer.status} {answer.response.text[:300]}"
            self._client.log.report("answer", said)
