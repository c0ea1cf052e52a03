"""Payloads of the built-in job types: one model each, and their JSON.

A payload is stored as flat camelCase JSON. It names objects (rows, blobs, URIs), and never holds
content or secrets. SQL reads it only through the view rag.job_files. Payloads of other job types
are free JSON, which the API validates against the type's `payloadSchema`.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, Protocol, Self
from uuid import UUID

from pydantic import BaseModel, BeforeValidator, ConfigDict, PlainSerializer, ValidationError
from pydantic.alias_generators import to_camel

from ingest.errors import Permanent


class HasPayload(Protocol):
    """A claimed job (store/queue/jobs.py)."""

    @property
    def type(self) -> str: ...

    @property
    def payload(self) -> Mapping[str, Any]:
        """The JSON object of the payload, decoded."""
        ...


def _bytes_of_hex(value: object) -> object:
    return bytes.fromhex(value) if isinstance(value, str) else value


Hex = Annotated[bytes, BeforeValidator(_bytes_of_hex), PlainSerializer(bytes.hex, return_type=str)]
"""Bytes, in JSON as hexadecimal digits."""


class _Wire(BaseModel):
    model_config = ConfigDict(
        extra="forbid",
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
    )


class Payload(_Wire):
    """Subclass it to give a job type of your own a typed payload."""

    model_config = ConfigDict(frozen=True)

    @classmethod
    def of(cls, job: HasPayload) -> Self:
        """Parse the payload of a job. Raises Permanent `invalid_payload` with the invalid keys."""
        try:
            return cls.model_validate(job.payload, by_alias=True, by_name=False)
        except ValidationError as error:
            raise Permanent(
                f"the payload of this {job.type} job is invalid: {_wrong_keys(error)}",
                code="invalid_payload",
            ) from None

    def to_json(self) -> str:
        return self.model_dump_json(by_alias=True, exclude_defaults=True)

    @classmethod
    def key(cls, field: str) -> str:
        """Return the name of a field in JSON. Raises KeyError if there is no such field."""
        return cls.model_fields[field].alias or field


def _wrong_keys(error: ValidationError) -> str:
    """Keys and rules only: an error message must not repeat values."""
    found = error.errors(include_input=False, include_url=False, include_context=False)
    return ", ".join(f"{'.'.join(map(str, one['loc']))} ({one['type']})" for one in found)


class StoredFile(Payload):
    """The bytes of a file in the blob store."""

    blob_key: str
    content_hash: Hex
    """SHA-256."""
    size_bytes: int


class FilePayload(StoredFile):
    """`file`: read an uploaded file, or finish it after its members."""

    awaits_members: bool = False
    """Set by SQL once the members are queued; removed by a retry."""


AWAITS_MEMBERS: Final = FilePayload.key("awaits_members")


class StoredMember(StoredFile):
    """`member`: read a file that was inside another one."""

    uri: str
    """URI of its document: the uploaded path, then the path inside that file."""
    depth: int
    """Number of enclosing files."""
    may_hold_files: bool = False
    """The name implies a format that holds files, whose number is unknown until it is read."""


class Refusal(_Wire):
    """Why a file could not be extracted from the one that holds it."""

    code: str
    message: str


class RefusedMember(Payload):
    """`member`: report a file that could not be extracted."""

    uri: str
    depth: int
    may_hold_files: bool = False
    refused: Refusal


MemberPayload = StoredMember | RefusedMember
_REFUSED: Final = RefusedMember.key("refused")


def member_payload(job: HasPayload) -> MemberPayload:
    """Parse the payload of a `member` job. Raises Permanent like `Payload.of`."""
    return (RefusedMember if _REFUSED in job.payload else StoredMember).of(job)


class ArchivePayload(StoredFile):
    """`archive`: unpack an archive, which was uploaded (depth 0) or inside another file."""

    uri: str
    depth: int


class RunPayload(Payload):
    """`url`, `site_crawl`, `rescrape`: a run of a page or site."""

    crawl_id: UUID


class PagePayload(RunPayload):
    """`crawl_page`: one page of a run."""

    page_id: UUID


class StopCrawlPayload(Payload):
    """`stop_crawl`: a crawl at its provider."""

    provider_crawl_id: str


class DeliveryPayload(Payload):
    """`notification`: one delivery to one endpoint."""

    delivery_id: UUID


class PurgePayload(Payload):
    """`purge`: nothing; the job names the source."""


class RechunkTally(_Wire):
    """Totals of a rechunk job over all its time slices. Mutable: the handler counts in it."""

    documents: int = 0
    chunks: int = 0
    reused_vectors: int = 0
    changed: int = 0
    """Documents skipped because they or the settings changed meanwhile."""
    failed: int = 0
    last_code: str = "internal"
    last_message: str = ""
    """Error message of the last failed document."""


class RechunkPayload(Payload):
    """`rechunk`: empty at first; then how far the previous time slice came."""

    after: UUID | None = None
    """The last document that was rechunked."""
    chunking: dict[str, Any] | None = None
    """The settings that the documents up to `after` were chunked with."""
    tally: RechunkTally | None = None


class ReembedTally(_Wire):
    """Totals of a reembed job over all its time slices. Mutable: the handler counts in it."""

    documents: int = 0
    vectors: int = 0
    reused_vectors: int = 0
    refused_chunks: int = 0
    """Chunks that the provider refused: only words find them."""
    dropped_vectors: int = 0


class ReembedPayload(Payload):
    """`reembed`: the model to change to; then how far the previous time slice came."""

    model_id: int
    after: UUID | None = None
    """The last document that was embedded."""
    tally: ReembedTally | None = None


BulkAction = Literal[
    "delete",
    "cancel",
    "retry",
    "fetch_again",
    "read_again",
    "set_metadata",
    "add_to_collection",
    "remove_from_collection",
    "set_chunking",
    "set_schedule",
]


class BulkPayload(Payload):
    """`bulk`: an action, and the filter that its rows must still match when it comes to them.

    The rows themselves are in rag.bulk_parts.
    """

    target: Literal["sources", "jobs"]
    action: BulkAction
    filter: dict[str, Any] = {}
    """JSON of a SourceFilter or JobFilter (store/lists, store/queue/job_views.py)."""
    metadata: dict[str, Any] | None = None
    """Keys to set; null: remove the key."""
    collection_id: UUID | None = None
    chunking: dict[str, Any] | None = None
    cron: str | None = None
    timezone: str | None = None


def file_size(job: HasPayload) -> int:
    """Bytes of the job's file; 0 for one that could not be unpacked, and for a damaged payload."""
    size = job.payload.get(FilePayload.key("size_bytes"))
    return size if isinstance(size, int) else 0


PAYLOADS: Final[Mapping[str, tuple[type[Payload], ...]]] = {
    "file": (FilePayload,),
    "member": (StoredMember, RefusedMember),
    "archive": (ArchivePayload,),
    "url": (RunPayload,),
    "site_crawl": (RunPayload,),
    "rescrape": (RunPayload,),
    "crawl_page": (PagePayload,),
    "stop_crawl": (StopCrawlPayload,),
    "notification": (DeliveryPayload,),
    "purge": (PurgePayload,),
    "rechunk": (RechunkPayload,),
    "reembed": (ReembedPayload,),
    "bulk": (BulkPayload,),
}
"""The payloads that each built-in job type may have."""
