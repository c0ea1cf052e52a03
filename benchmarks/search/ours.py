"""This project's search: the function behind POST /api/search, and the request itself."""

import asyncio
import json
import time
from collections.abc import Coroutine, Iterator, Sequence
from contextlib import AsyncExitStack, contextmanager
from http.client import HTTPConnection
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar
from urllib.parse import urlsplit

import uvloop

from api.authentication import APPLICATION_HEADER, Key
from api.middleware.in_use import InUse
from api.routes.search.search import SearchRequest, search_chunks
from benchmarks.search.timing import LIMIT, Ask, Question
from harness.service import KEY
from ingest.quotas import KeyLimits
from ingest.runtime import Runtime, open_runtime
from ingest.settings.settings import Settings
from ingest.store.search.hits import SearchHit

T = TypeVar("T")


class InProcess:
    """The function behind the route, on a runtime like that of `ingest api`."""

    def __init__(self, dsn: str, data: Path) -> None:
        self._settings = Settings(embedder="static", data_dir=data)
        self._dsn = dsn
        self._loop = asyncio.Runner(loop_factory=uvloop.new_event_loop)  # as the service
        self._stack = AsyncExitStack()
        self._runtime: Runtime | None = None

    def __enter__(self) -> Self:
        opened = open_runtime(self._settings, self._dsn, work=False, serve=False)
        self._runtime = self._loop.run(self._stack.enter_async_context(opened))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._loop.run(self._stack.aclose())
        self._loop.close()

    @property
    def runtime(self) -> Runtime:
        assert self._runtime is not None
        return self._runtime

    def spent(self, questions: Sequence[Question], *, clients: int) -> list[float]:
        """Milliseconds of each question, like timing.spent."""

        async def ask_share(number: int) -> list[float]:
            return [await self._milliseconds(one) for one in questions[number::clients]]

        async def all_shares() -> list[float]:
            await self._answer(questions[0])
            shares = await asyncio.gather(*(ask_share(number) for number in range(clients)))
            return [took for share in shares for took in share]

        return self._loop.run(all_shares())

    def hits(self, question: Question) -> list[SearchHit]:
        return self._loop.run(self._answer(question))

    async def _milliseconds(self, question: Question) -> float:
        started = time.perf_counter()
        await self._answer(question)
        return (time.perf_counter() - started) * 1000

    async def _answer(self, question: Question) -> list[SearchHit]:
        key = Key(application_id=question.application, role="viewer", is_operator=False)
        body = SearchRequest.model_validate(_body(question))
        return (await search_chunks(body, self.runtime, key, InUse(KeyLimits()))).hits

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine in the event loop of the runtime."""
        return self._loop.run(work)


def _body(question: Question) -> dict[str, Any]:
    return {
        "query": question.text,
        "limit": LIMIT,
        "mode": question.mode,
        "filter": question.filter,
        # The texts are of the same few sentences, so many would count as copies.
        "collapse": False,
    }


@contextmanager
def http_client(url: str) -> Iterator[Ask]:
    """A client of a running service, over one connection that stays open."""
    connection = HTTPConnection(urlsplit(url).netloc)
    connection.connect()

    def ask(question: Question) -> Any:
        headers = {
            "Authorization": f"Bearer {KEY}",
            APPLICATION_HEADER: str(question.application),
            "Content-Type": "application/json",
        }
        connection.request("POST", "/api/search", json.dumps(_body(question)), headers)
        answer = connection.getresponse()
        content = answer.read()
        assert answer.status == 200, content[:500]
        return json.loads(content)["hits"]

    try:
        yield ask
    finally:
        connection.close()
