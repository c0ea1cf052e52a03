"""What a client may show and offer: who asks, and what this installation can do."""

from importlib.metadata import version
from uuid import UUID

from api.authenticated_route import KeyedRouter
from api.authentication import Key
from api.dependencies import Operator, Reader, RuntimeDep
from ingest.errors import NotFound
from ingest.model import Role
from ingest.postgres.database import transaction
from ingest.runtime import Runtime
from ingest.store.tenants import api_keys, applications, sessions
from ingest.store.view import UtcTime, View

router = KeyedRouter(prefix="/api", tags=["access"])


class OwnApplication(View):
    id: UUID
    name: str


class Features(View):
    """What the settings of the installation switch on."""

    ocr: bool
    """Text in pictures is read."""
    firecrawl: bool
    """Pages can be fetched by Firecrawl."""
    smtp: bool
    """Notifications can be sent by e-mail."""
    rerank: bool
    """Searches rank their best hits again."""
    docs: bool
    """`/docs` is served."""


class Embedder(View):
    provider: str
    model: str
    dimension: int


class Me(View):
    application: OwnApplication
    role: Role
    is_operator: bool
    key_name: str | None
    """null: the operator key, which has no name."""
    collection_ids: list[UUID] | None
    """The collections that the key may see; null: everything."""
    expires_at: UtcTime | None
    """When the session ends unless it is used before; null: the request came with a key."""
    version: str
    features: Features
    embedder: Embedder


class SignInCode(View):
    code: str
    expires_at: UtcTime


@router.get("/me")
async def get_me(runtime: RuntimeDep, key: Reader) -> Me:
    """The caller, its application and role, and the features of this installation."""
    return await describe(runtime, key)


@router.post("/session/codes", status_code=201)
async def add_sign_in_code(runtime: RuntimeDep, key: Operator) -> SignInCode:
    """Create a code for one sign-in to the dashboard as the operator, at `/#login=CODE`."""
    async with transaction(runtime.pool.of(key.application_id)) as conn:
        code, expires_at = await sessions.add_code(
            conn, application_id=key.application_id, seal=runtime.operator_key.seal
        )
    return SignInCode(code=code, expires_at=expires_at)


async def describe(runtime: Runtime, key: Key) -> Me:
    """The answer of GET /api/me."""
    # Not by PoolDep: a limited key sees neither keys nor sessions.
    async with transaction(runtime.pool.of(key.application_id)) as conn:
        application = await applications.get(conn, key.application_id)
        name = None if key.id is None else await api_keys.name_of(conn, key.id)
    expires_at = None
    if key.session_hash is not None:
        # The operator's session may look at another application than its own.
        async with transaction(runtime.pool) as conn:
            expires_at = await sessions.ends_at(conn, key.session_hash)
    if application is None:
        raise NotFound("application")
    settings, model = runtime.settings, runtime.model
    return Me(
        application=OwnApplication(id=application.id, name=application.name),
        role=key.role,
        is_operator=key.is_operator,
        key_name=name,
        collection_ids=None if key.collection_ids is None else list(key.collection_ids),
        expires_at=expires_at,
        version=version("rag-ingest"),
        features=Features(
            ocr=runtime.ocr is not None,
            firecrawl=bool(settings.firecrawl_api_key or settings.firecrawl_api_url),
            smtp=settings.smtp_url is not None,
            rerank=settings.rerank_url is not None,
            docs=settings.docs,
        ),
        embedder=Embedder(provider=model.provider, model=model.name, dimension=model.dimension),
    )
