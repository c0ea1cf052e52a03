"""Starts the parser processes of a pool: forks of a fork server while there is one."""

from collections.abc import Sequence
from functools import partial

import structlog

from ingest.priority import lower
from ingest.sandbox.forked import ForkFailed, PoolServer
from ingest.sandbox.jail import Confinement
from ingest.sandbox.process import Child

log = structlog.get_logger()


class Starter:
    def __init__(
        self,
        module: str,
        *,
        memory: int,
        formats: Sequence[str],
        confinement: Confinement | None,
        server: PoolServer | None,
    ) -> None:
        """Arguments as those of ParserPool; `module`: its `child`."""
        self._start = partial(
            Child.start,
            module,
            memory=memory,
            formats=tuple(formats),
            confinement=confinement or Confinement(),
        )
        self._server = server

    async def prepare(self) -> None:
        """Wait until the fork server runs, if there is one and it can."""
        if self._server is not None:
            self._server.get()
            await self._server.wait()

    async def start(self, tokenizer: str | None) -> Child:
        """Start a process that will use this tokenizer. Raises Transient if it does not start."""
        server = None if self._server is None else self._server.get()
        if server is not None:
            try:
                return await self._start(server=server, tokenizer=tokenizer)
            except ForkFailed as error:
                log.warning("parser_not_forked", error=str(error))
        child = await self._start()
        if self._server is not None:  # as the fork server does with itself
            lower(child.pid)
        return child
