"""Checks once, when a process starts, what the parsers need: their modules, and their jail."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import structlog

from ingest.errors import Permanent, SetupError, Transient
from ingest.model import NOT_JAILED, JailStatus, SandboxMode
from ingest.observability import metrics
from ingest.sandbox.messages import Checked
from ingest.sandbox.pool import ParserPool

log = structlog.get_logger()

_MOST_NAMED = 10
_UNKNOWN = Checked(missing=(), jail=NOT_JAILED)


@asynccontextmanager
async def checking(
    pool: ParserPool, *, mode: SandboxMode = "auto"
) -> AsyncIterator[asyncio.Task[Checked]]:
    """Check in the background; the task logs and returns what it finds.

    The task raises SetupError if the mode is strict and a layer of the jail is missing.

    A process of the pool imports the extractors, and the pool is closed afterwards. In the caller,
    they would slow down the start and occupy 100 MB.
    """
    task = asyncio.create_task(_check(pool, mode))
    try:
        yield task
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def _check(pool: ParserPool, mode: SandboxMode) -> Checked:
    try:
        checked = await pool.check()
    except (Permanent, Transient) as error:
        log.error("parsers_not_checked", error=str(error))
        checked = _UNKNOWN
    finally:
        await pool.close()
    if checked.missing:
        missing = {item.module: list(item.formats) for item in checked.missing}
        log.error("parsers_missing", missing=missing)
    if checked.unreadable:  # name their folders in INGEST_SANDBOX_READ
        log.error("parsers_cannot_read", files=list(checked.unreadable[:_MOST_NAMED]))
    jail = checked.jail
    metrics.parsers_jailed(landlock=jail.landlock, seccomp=jail.seccomp)
    if mode == "strict" and not jail.is_complete:
        raise SetupError(
            f"INGEST_SANDBOX=strict: this system cannot jail parser processes ({_described(jail)});"
            " see docs/sandbox.md"
        )
    if not jail.is_complete:
        log.warning("parsers_not_jailed", mode=mode, missing=_described(jail))
    return checked


def _described(jail: JailStatus) -> str:
    why = "" if jail.landlock_problem is None else f" ({jail.landlock_problem})"
    layers = {f"Landlock{why}": jail.landlock is not None, "seccomp": jail.seccomp}
    return ", ".join(f"no {name}" for name, applied in layers.items() if not applied)
