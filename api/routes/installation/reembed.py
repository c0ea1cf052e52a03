"""Change the embedding model of stored documents."""

from uuid import UUID

from api.authenticated_route import KeyedRouter
from api.dependencies import Admin, Operator, PoolDep, RuntimeDep
from ingest.postgres.database import Connection, transaction
from ingest.store.embeddings import model_changes
from ingest.store.tenants import applications
from ingest.store.view import View

router = KeyedRouter(prefix="/api/reembed", tags=["management"])


class Model(View):
    provider: str
    name: str
    dimension: int


class EarlierModel(Model):
    is_reachable: bool
    """Whether questions can be asked of it. If not, words find its documents."""


class ModelChange(View):
    model: Model
    """The model of the current settings."""
    earlier_models: list[EarlierModel]
    """Other models that documents are searched by."""
    documents: int
    outdated: int
    """Documents that are searched by another model."""
    ready: int
    """Those of `outdated` that have their new vectors: searches change over when all have."""
    job_id: UUID | None
    """The `reembed` job that waits or runs."""


class Requested(View):
    job_ids: list[UUID]


@router.get("")
async def get_model_change(runtime: RuntimeDep, pool: PoolDep, key: Admin) -> ModelChange:
    """How far the application's documents have come to the model of the settings."""
    async with transaction(pool) as conn:
        counts = await model_changes.count(conn, key.application_id, runtime.model_id)
        models = await model_changes.in_use(conn, key.application_id, current=runtime.model_id)
        job_id = await model_changes.open_job(conn, key.application_id)
    earlier = [model for model in models if model.id != runtime.model_id]
    current = runtime.model
    return ModelChange(
        model=Model(provider=current.provider, name=current.name, dimension=current.dimension),
        earlier_models=[
            EarlierModel(
                provider=model.provider,
                name=model.name,
                dimension=model.dimension,
                is_reachable=await runtime.search_parts.earlier.service(model) is not None,
            )
            for model in earlier
        ],
        documents=counts.documents,
        outdated=counts.open,
        ready=counts.ready,
        job_id=job_id,
    )


@router.post("", status_code=202)
async def reembed(runtime: RuntimeDep, pool: PoolDep, key: Admin) -> Requested:
    """Embed documents of other models with the model of the settings, in the background.

    The earlier model is searched until the new vectors are complete. Asking again is harmless: a
    waiting job is used, and a job without work ends at once.
    """
    async with transaction(pool) as conn:
        job_id = await _request(conn, key.application_id, runtime.model_id)
    return Requested(job_ids=[job_id])


@router.post("/all", status_code=202)
async def reembed_all(runtime: RuntimeDep, pool: PoolDep, key: Operator) -> Requested:
    """The same for every application that needs it; possibly none."""
    async with transaction(pool) as conn:
        wanted = await model_changes.outdated_applications(conn, runtime.model_id)
    job_ids = []
    for application_id in wanted:
        async with transaction(pool.of(application_id)) as conn:
            job_ids.append(await _request(conn, application_id, runtime.model_id))
    return Requested(job_ids=job_ids)


async def _request(conn: Connection, application_id: UUID, model_id: int) -> UUID:
    await applications.lock_sources(conn, application_id)
    return await model_changes.request(conn, application_id, model_id)
