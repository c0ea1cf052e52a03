"""Database fixtures: one real, migrated Postgres per run, emptied before each test."""

import gc
import os
import shutil
import signal
import time
from collections.abc import AsyncIterator, Callable, Generator, Iterator
from pathlib import Path
from typing import Final
from uuid import UUID

import psycopg
import pytest
from pgvector.psycopg import register_vector_async
from psycopg import AsyncConnection

from harness.pools import pool_across_applications
from harness.postgres import postgres_in
from ingest.postgres.database import Connection, Pool
from ingest.postgres.migrations import migrate
from ingest.postgres.sessions import begin_session
from ingest.store.tenants import applications
from tests.support.lock_recorder import DOCUMENT, LockOrder, LockRecorder, recording
from tests.support.movable_clock import MovableClock

CHROMIUM = shutil.which("chromium-headless-shell") or shutil.which("chromium")
"""The program that tests/browser drives; None: it is not installed, and they are skipped.

The one that can show no window first: its contexts take a quarter of the processor time.
"""

_TESTS: Final = Path(__file__).parent
_WAITING: Final = ("acceptance", "benchmarks", "browser")
"""Folders of tests that start processes, and mostly wait for them."""

# Few rows are deleted: to truncate all tables takes fifty times as long. Many are truncated: what
# they leave behind would slow the next tests down.
EMPTY = """
do $$
declare
  name text;
  has_rows boolean;
  is_large boolean := exists (
    select 1 from pg_class where relnamespace in ('app'::regnamespace, 'rag'::regnamespace)
       and relkind = 'r' and pg_relation_size(oid) > 4 * 1024 * 1024);
begin
  if is_large then
    truncate app.applications, rag.workers, rag.schedules, rag.embedding_models,
             rag.webhook_events, rag.crawl_origins, rag.crawl_slots, rag.lanes,
             rag.usage_changes cascade;
  else
    set local session_replication_role = replica;
    for name in select format('%I.%I', schemaname, tablename) from pg_tables
                 where schemaname in ('app', 'rag')
                   and tablename not in ('job_types', 'worker_config', 'schema_migrations') loop
      execute format('select exists (select 1 from %s)', name) into has_rows;
      if has_rows then
        execute format('delete from %s', name);
      end if;
    end loop;
    set local session_replication_role = origin;
  end if;
  insert into app.applications (name, is_default) values ('default', true);
  delete from rag.job_types where to_jsonb(job_types) not in (
    select to_jsonb(usual) from tests.job_types as usual);
  insert into rag.job_types select * from tests.job_types on conflict do nothing;
  delete from rag.worker_config where key <> 'paused';
  update rag.worker_config set value = 'false' where key = 'paused' and value <> 'false';
  for name in select indexname from pg_indexes where indexname like 'embeddings_hnsw_%' loop
    execute format('drop index rag.%I', name);
  end loop;
end $$;
"""


def pytest_configure() -> None:
    """A shell has what it starts in the background ignore Ctrl-C, and so whatever tests start."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Without garbage collection, which takes a fifth of the imports and finds almost nothing.

    What was imported stays until the end: later collections need not look at it again.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Spread the files whose tests wait for processes over the first two thirds of the others.

    Side by side they would leave the processors idle, and at the end nothing runs beside them.
    """
    files: dict[Path, list[pytest.Item]] = {}
    for item in items:
        files.setdefault(item.path, []).append(item)
    waiting = [path for path in files if path.relative_to(_TESTS).parts[0] in _WAITING]
    others = [path for path in files if path not in waiting]
    step = 2 * len(others) // (3 * len(waiting) or 1)
    order = []
    for number, path in enumerate(waiting):
        order += [path, *others[number * step : (number + 1) * step]]
    order += others[len(waiting) * step :]
    items[:] = [item for path in order for item in files[path]]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if CHROMIUM is None:
        terminalreporter.write_line("tests/browser was skipped: there is no Chromium")


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A migrated database. INGEST_TEST_DATABASE_URL names one to use instead of the embedded."""
    given = os.environ.get("INGEST_TEST_DATABASE_URL")
    if given:
        _prepare(given)
        yield given
        return
    with postgres_in(tmp_path_factory.mktemp("server")) as dsn:
        _prepare(dsn)
        yield dsn


def _prepare(dsn: str) -> None:
    """Migrate, and keep how job types are configured, for tests that change them."""
    migrate(dsn)
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute("create schema if not exists tests")
        conn.execute("create table if not exists tests.job_types as table rag.job_types")


@pytest.fixture(scope="session")
def empty_server(server: str) -> Iterator[Callable[[], None]]:
    """Empties the database. A new connection would take six times as long, to read the catalog."""
    conn = psycopg.connect(server, autocommit=True)

    def empty() -> None:
        nonlocal conn
        try:
            conn.execute(EMPTY)
        except psycopg.OperationalError:
            if not conn.closed:
                raise
            # The test before has ended all connections.
            conn = psycopg.connect(server, autocommit=True)
            conn.execute(EMPTY)

    yield empty
    conn.close()


@pytest.fixture
def dsn(server: str, empty_server: Callable[[], None]) -> str:
    """The database, empty but for the default application."""
    empty_server()
    return server


@pytest.fixture
async def pool(dsn: str) -> AsyncIterator[Pool]:
    async with pool_across_applications(dsn, size=8, application_name="tests") as pool:
        yield pool


@pytest.fixture
async def conn(dsn: str) -> AsyncIterator[Connection]:
    """A connection that autocommits, so that `now()` moves."""
    async with await AsyncConnection.connect(dsn, autocommit=True) as conn:
        await begin_session(conn)
        await register_vector_async(conn)
        yield conn


@pytest.fixture
async def application_id(conn: Connection) -> UUID:
    return await applications.default_id(conn)


@pytest.fixture
def same_day() -> None:
    """No midnight of UTC, when what is counted by day begins anew, comes during the test."""
    left = 86_400 - time.time() % 86_400
    if left < 60:
        time.sleep(left + 1)


@pytest.fixture
def movable_clock(monkeypatch: pytest.MonkeyPatch) -> MovableClock:
    return MovableClock(monkeypatch)


@pytest.fixture(scope="session", autouse=True)
def lock_recorder() -> Iterator[LockRecorder]:
    """Watches the locks of all transactions; docs/locks.md has their order."""
    recorder = LockRecorder(LockOrder.read(DOCUMENT.read_text()))
    with recording(recorder):
        yield recorder


@pytest.fixture(autouse=True)
def locks_in_order(lock_recorder: LockRecorder) -> Iterator[None]:
    lock_recorder.violations.clear()
    yield
    assert sorted(set(lock_recorder.violations)) == []
