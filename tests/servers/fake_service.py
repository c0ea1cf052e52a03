"""The service as the command line's client sees it: in memory, without a socket.

It reads uploads with the service's own multipart reader and answers as the API does,
as far as the commands use it.
"""

import asyncio
import hashlib
import json
from collections import Counter
from collections.abc import AsyncIterator, Callable
from typing import Any

import httpx

from api.cli.client.http_client import Client, ServiceAddress
from api.upload import multipart
from api.upload.multipart import PartHead

KEY = "rk_key_of_the_tests"

Answer = httpx.Response | Exception


class FakeService:
    """Accepted files are in `stored` and their sources in `states`, both by path."""

    def __init__(self) -> None:
        self.stored: dict[str, bytes] = {}
        self.states: dict[str, str] = {}
        self.batch_of: dict[str, str] = {}
        self.waits: dict[str, tuple[str, str | None]] = {}
        """Why the jobs of paths wait, and until when."""
        self.stages: dict[str, str] = {}
        """Of paths that are in work."""
        self.requests: Counter[str] = Counter()
        self.received: list[list[str]] = []
        """The paths of each upload request."""
        self.fields: list[dict[str, str]] = []
        self.rejected: dict[str, str] = {}
        """Paths that it refuses, with the code."""
        self.before: Callable[[httpx.Request], Answer | None] = lambda _: None
        """Answers or fails instead of the service."""
        self.after: Callable[[httpx.Request], Answer | None] = lambda _: None
        """Answers or fails when the request has done its work."""

    def client(self) -> Client:
        target = ServiceAddress(url="http://ingest.test", key=KEY, key_from="the test")
        return Client(target, transport=httpx.MockTransport(self.answer))

    def answer(self, request: httpx.Request) -> httpx.Response:
        assert request.headers["Authorization"] == f"Bearer {KEY}"
        self.requests[request.url.path] += 1
        answer: Answer | None = self.before(request)
        if answer is None:
            done = self._route(request)
            answer = self.after(request) or done
        if isinstance(answer, Exception):
            raise answer
        return answer

    def _route(self, request: httpx.Request) -> httpx.Response:
        match request.url.path.strip("/").split("/"):
            case ["upload", "check"]:
                return self._check(json.loads(request.content))
            case ["upload", "documents"]:
                return self._upload(request)
            case ["api", "jobs", "counts"]:
                return httpx.Response(200, json=self._counts(request.url.params["batchId"]))
            case ["api", "jobs", path]:
                return httpx.Response(200, json={"batchId": self.batch_of[_text(path)]})
            case ["api", "batches", batch]:
                return httpx.Response(200, json=self._batch(batch))
            case ["api", "batches", batch, "report"]:
                return httpx.Response(200, json=self._report(batch))
        return problem(404, "not_found", "no such route")

    def _check(self, body: Any) -> httpx.Response:
        known = [
            {"index": index, **self._known(file["path"])}
            for index, file in enumerate(body["files"])
            if file["path"] in self.stored
            and hashlib.sha256(self.stored[file["path"]]).hexdigest() == file["sha256"]
            and self.states[file["path"]] != "failed"
        ]
        return httpx.Response(200, json={"known": known})

    def _known(self, path: str) -> dict[str, Any]:
        is_open = self.states[path] in ("pending", "processing")
        return {
            "verdict": "unchanged",
            "knowledgeSourceId": _id(path),
            "jobId": _id(path) if is_open else None,
        }

    def _upload(self, request: httpx.Request) -> httpx.Response:
        files, fields = asyncio.run(_read(request))
        self.received.append([path for path, _ in files])
        self.fields.append(fields)
        batch = fields.get("batchId") or f"batch-{len(self.received)}"
        answers = [self._accept(path, content, batch) for path, content in files]
        if all(answer["verdict"] == "rejected" for answer in answers):
            return problem(422, "nothing_accepted", "all files were rejected", files=answers)
        return httpx.Response(202, json={"batchId": batch, "files": answers})

    def _accept(self, path: str, content: bytes, batch: str) -> dict[str, Any]:
        if path in self.rejected:
            return {"path": path, "verdict": "rejected", "code": self.rejected[path], "detail": "x"}
        self.stored[path], self.states[path], self.batch_of[path] = content, "pending", batch
        return {
            "path": path,
            "verdict": "accepted",
            "knowledgeSourceId": _id(path),
            "jobId": _id(path),
        }

    def _counts(self, batch: str) -> dict[str, Any]:
        groups = Counter(
            (self.states[path], self.stages.get(path), *self.waits.get(path, (None, None)))
            for path, its in self.batch_of.items()
            if its == batch and self.states[path] in ("pending", "processing")
        )
        names = ("status", "stage", "waitReason", "until")
        return {
            "items": [
                {**dict(zip(names, group, strict=True)), "type": "file", "count": count}
                for group, count in groups.items()
            ]
        }

    def _batch(self, batch: str) -> dict[str, int]:
        states = Counter(self.states[path] for path, its in self.batch_of.items() if its == batch)
        return {
            "accepted": states.total(),
            "pending": states["pending"],
            "processing": states["processing"],
            "failed": states["failed"],
        }

    def _report(self, batch: str) -> dict[str, Any]:
        return {
            "files": [
                {
                    "path": path,
                    "verdict": "accepted",
                    "knowledgeSourceId": _id(path),
                    "status": self.states[path],
                    "code": "corrupt" if self.states[path] == "failed" else None,
                    "detail": None,
                }
                for path, its in self.batch_of.items()
                if its == batch
            ]
        }


def problem(status: int, code: str, detail: str, **extra: Any) -> httpx.Response:
    body = {"status": status, "code": code, "detail": detail, **extra}
    return httpx.Response(status, json=body, headers={"Content-Type": "application/problem+json"})


def _id(path: str) -> str:
    return path.encode().hex()


def _text(id: str) -> str:
    return bytes.fromhex(id).decode()


async def _read(request: httpx.Request) -> tuple[list[tuple[str, bytes]], dict[str, str]]:
    async def body() -> AsyncIterator[bytes]:
        yield request.read()

    parts: list[tuple[PartHead, bytearray]] = []
    async for token in multipart.read(request.headers["Content-Type"], body()):
        if isinstance(token, PartHead):
            parts.append((token, bytearray()))
        elif isinstance(token, bytes):
            parts[-1][1].extend(token)
    files = [
        (part.filename.decode(), bytes(content))
        for part, content in parts
        if part.filename is not None
    ]
    fields = {part.name: content.decode() for part, content in parts if part.filename is None}
    return files, fields
