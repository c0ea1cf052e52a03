"""The HTTP application over a real database and a local blob store, with a fake embedder."""

import hashlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any, cast
from uuid import UUID

import httpx
import numpy as np
import pytest
from fastapi import FastAPI
from numpy.typing import NDArray
from pydantic import SecretStr
from structlog.testing import capture_logs

from api.live.hub import Hub
from api.live.subscriptions import Subscriber
from api.main import create_app
from harness.patience import AGES
from ingest.blobs.local import LocalBlobStore
from ingest.embedding.service import EmbeddingService
from ingest.governor import Governor
from ingest.model import EmbeddingModel, Role
from ingest.page_views import PageViews
from ingest.postgres.database import Connection, Pool
from ingest.postgres.listen import Listener
from ingest.preview import Previews
from ingest.runtime import Runtime
from ingest.runtime_parts import build_url_checks
from ingest.search.parts import SearchParts
from ingest.settings.operator_key import OperatorKey
from ingest.settings.settings import Settings
from ingest.store.embeddings import embedding_models
from ingest.store.tenants import api_keys, applications
from tests.api.fake_parser import FakePages, TextParser
from tests.api.hubs import running
from tests.support.live_sources import Inbox

OPERATOR_KEY = "the-operators-key"
MODEL = EmbeddingModel(
    provider="static", name="fake", dimension=8, max_tokens=512, tokenizer="cl100k_base"
)


class HashingEmbedder:
    """Equal texts have equal vectors, without a model."""

    unrelated = 0.0

    async def embed_query(self, text: str, token_count: int) -> NDArray[np.float32]:
        return fake_vector(text)


def fake_vector(text: str) -> NDArray[np.float32]:
    """A unit vector of 8 dimensions that follows from the text's digest."""
    digest = hashlib.sha256(text.encode()).digest()[:8]
    values = np.frombuffer(digest, dtype=np.uint8).astype(np.float32) + 1
    return values / np.float32(np.linalg.norm(values))


@pytest.fixture(autouse=True)
def logged() -> Iterator[Sequence[Mapping[str, Any]]]:
    """What is logged, instead of on the screen."""
    with capture_logs() as entries:
        yield entries


@pytest.fixture(scope="session")
def usual_settings() -> Settings:
    """To read and validate settings takes longer than most tests."""
    return Settings(admin_key=SecretStr(OPERATOR_KEY), worker=False)


@pytest.fixture
def settings(usual_settings: Settings, tmp_path: Path) -> Settings:
    return usual_settings.model_copy(update={"data_dir": tmp_path})


@pytest.fixture
def blobs_on_disk(tmp_path: Path) -> Path:
    """The folder of the blob store."""
    folder = tmp_path / "blobs"
    folder.mkdir()
    return folder


@pytest.fixture
async def blobs(blobs_on_disk: Path) -> AsyncIterator[LocalBlobStore]:
    store = LocalBlobStore(blobs_on_disk)
    yield store
    await store.close()


@pytest.fixture
def parser() -> TextParser:
    """What previews are made by."""
    return TextParser()


@pytest.fixture
def pages() -> FakePages:
    """What draws pages."""
    return FakePages()


@pytest.fixture
async def runtime(
    dsn: str,
    pool: Pool,
    conn: Connection,
    settings: Settings,
    blobs: LocalBlobStore,
    parser: TextParser,
    pages: FakePages,
) -> AsyncIterator[Runtime]:
    listener = Listener(dsn, channels=("rag_jobs", "rag_events"), pool=pool)
    listener.start()
    model_id = await embedding_models.register(conn, MODEL)
    embedder = cast(EmbeddingService, HashingEmbedder())
    previews = Previews(
        lambda: parser,
        at_once=2,
        max_pages=10,
        timeout=AGES,
        patience=timedelta(seconds=0.05),
    )
    stack = AsyncExitStack()
    yield Runtime(
        settings=settings,
        dsn=dsn,
        pool=pool,
        listener=listener,
        blobs=blobs,
        model=MODEL,
        model_id=model_id,
        operator_key=OperatorKey(OPERATOR_KEY),
        embedder=embedder,
        search_parts=SearchParts(pool=pool, embedder=embedder, model_id=model_id, model=MODEL),
        governor=Governor(pool),
        previews=previews,
        url_checks=build_url_checks(settings, previews, stack),
        page_views=PageViews(
            lambda: pages,
            pool=pool,
            blobs=blobs,
            at_once=2,
            keep=True,
            patience=timedelta(seconds=0.05),
        ),
        ocr=None,
    )
    await stack.aclose()
    await listener.close()


@dataclass(frozen=True, slots=True)
class _Front:
    """An application that has no state of its own between two lifespans."""

    app: FastAPI
    runtimes: list[Runtime]
    """The one that it serves now."""

    @classmethod
    def build(cls) -> "_Front":
        runtimes: list[Runtime] = []

        @asynccontextmanager
        async def open_runtime() -> AsyncIterator[Runtime]:
            yield runtimes[-1]

        return cls(create_app(open_runtime), runtimes)


# Used again by the next test: the first request builds all routes, which takes longer than a test.
_idle: list[_Front] = []


@asynccontextmanager
async def serve(runtime: Runtime) -> AsyncIterator[FastAPI]:
    """An application with its lifespan entered, as a server would."""
    front = _idle.pop() if _idle else _Front.build()
    front.runtimes.append(runtime)
    try:
        async with front.app.router.lifespan_context(front.app):
            yield front.app
    finally:
        front.runtimes.clear()
        _idle.append(front)


@pytest.fixture
async def app(runtime: Runtime) -> AsyncIterator[FastAPI]:
    async with serve(runtime) as app:
        yield app


@asynccontextmanager
async def connect(app: FastAPI, key: str | None) -> AsyncIterator[httpx.AsyncClient]:
    headers = {} if key is None else {"Authorization": f"Bearer {key}"}
    transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
    async with httpx.AsyncClient(
        transport=transport, base_url="http://ingest.test", headers=headers
    ) as client:
        yield client


MakeKey = Callable[[UUID, Role], Awaitable[str]]


@pytest.fixture
def make_key(conn: Connection) -> MakeKey:
    """Creates API keys; the answer is the key in clear."""

    async def make(application_id: UUID, role: Role) -> str:
        key = f"rk_{api_keys.new_seed()}"
        made = await api_keys.add_key(
            conn, application_id=application_id, name=f"a {role}", role=role, key=key
        )
        assert made is not None
        return key

    return make


@pytest.fixture
async def operator(app: FastAPI) -> AsyncIterator[httpx.AsyncClient]:
    async with connect(app, OPERATOR_KEY) as client:
        yield client


@pytest.fixture
async def anonymous(app: FastAPI) -> AsyncIterator[httpx.AsyncClient]:
    async with connect(app, None) as client:
        yield client


@pytest.fixture
async def viewer(
    app: FastAPI, application_id: UUID, make_key: MakeKey
) -> AsyncIterator[httpx.AsyncClient]:
    async with connect(app, await make_key(application_id, "viewer")) as client:
        yield client


@pytest.fixture
async def editor(
    app: FastAPI, application_id: UUID, make_key: MakeKey
) -> AsyncIterator[httpx.AsyncClient]:
    async with connect(app, await make_key(application_id, "editor")) as client:
        yield client


@pytest.fixture
async def small_editor(
    runtime: Runtime, application_id: UUID, make_key: MakeKey
) -> AsyncIterator[httpx.AsyncClient]:
    """An editor of an installation that takes files of up to 400,000 bytes."""
    settings = runtime.settings.model_copy(update={"max_file_bytes": 400_000})
    key = await make_key(application_id, "editor")
    async with serve(replace(runtime, settings=settings)) as app, connect(app, key) as client:
        yield client


@pytest.fixture
async def admin(
    app: FastAPI, application_id: UUID, make_key: MakeKey
) -> AsyncIterator[httpx.AsyncClient]:
    async with connect(app, await make_key(application_id, "admin")) as client:
        yield client


@pytest.fixture
async def other_application(conn: Connection) -> UUID:
    return (await applications.add(conn, name="somebody else")).id


@pytest.fixture
async def stranger(
    app: FastAPI, other_application: UUID, make_key: MakeKey
) -> AsyncIterator[httpx.AsyncClient]:
    """An admin of another application."""
    async with connect(app, await make_key(other_application, "admin")) as client:
        yield client


@pytest.fixture
async def hub(pool: Pool, dsn: str) -> AsyncIterator[Hub]:
    """A hub that hears and never polls, without the rest of the application."""
    async with running(pool, dsn) as hub:
        yield hub


@pytest.fixture
def inbox(application_id: UUID) -> Inbox:
    return Inbox(Subscriber(application_id=application_id))
