"""Fetchers for tests: local addresses only, a short timeout, and a fake DNS."""

import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta

from ingest.providers.fetch.fetcher import Fetcher

LOCAL = ("127.0.0.0/8",)
MIB = 1024 * 1024


class Names:
    """A fake DNS: each lookup of a name returns its next answer; the last one is repeated."""

    def __init__(self, **names: Sequence[Sequence[str]]) -> None:
        self._answers = {name.replace("_", "."): list(answers) for name, answers in names.items()}
        self.asked: list[str] = []

    async def __call__(self, host: str, port: int) -> Sequence[str]:
        self.asked.append(host)
        if host not in self._answers:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        answers = self._answers[host]
        return answers.pop(0) if len(answers) > 1 else answers[0]


@asynccontextmanager
async def fetcher(
    *,
    allow: Sequence[str] = LOCAL,
    names: Names | None = None,
    seconds: float = 20,
    max_bytes: int = MIB,
) -> AsyncIterator[Fetcher]:
    """A fetcher with a timeout of `seconds`. Without `names`, no host name resolves."""
    made = Fetcher(
        allow=allow,
        user_agent="tests",
        timeout=timedelta(seconds=seconds),
        max_bytes=max_bytes,
        _resolve=names or Names(),
    )
    try:
        yield made
    finally:
        await made.close()
