"""Settings from environment variables, validated once by each entry point."""

import re
from datetime import timedelta
from pathlib import Path
from typing import Literal, Self

from pydantic import Field, SecretStr, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from ingest.autoscaling import ScalingRule, parse_table
from ingest.quotas import KeyLimits, Quotas
from ingest.settings.smtp_url import SmtpServer, is_mail_address, parse_smtp_url
from ingest.settings.types import (
    Address,
    Cron,
    Duration,
    EmbedderName,
    HttpUrl,
    InputTypePair,
    KeepFor,
    KeyLimitList,
    ModuleNames,
    NetworksAndHosts,
    OcrLanguages,
    PathPrefix,
    Paths,
    QuotaList,
    ScaleTable,
    StorageUrl,
)

MIB = 1024 * 1024


class Settings(BaseSettings):
    """Read from the environment once, then passed as an argument."""

    model_config = SettingsConfigDict(
        env_prefix="INGEST_",
        frozen=True,
        extra="ignore",
        env_ignore_empty=True,  # compose files pass unset variables as empty strings
        hide_input_in_errors=True,
    )

    # Storage
    database_url: SecretStr | None = Field(default=None, validation_alias="DATABASE_URL")
    listen_url: SecretStr | None = None
    data_dir: Path = Path("data")
    postgres_memory: int | None = Field(default=None, ge=64 * MIB)
    storage: StorageUrl | None = Field(default=None, repr=False)
    storage_emulator_host: str | None = Field(
        default=None, validation_alias="STORAGE_EMULATOR_HOST"
    )

    # API
    host: str = "127.0.0.1"
    port: int = Field(default=8000, ge=0, le=65535)
    root_path: PathPrefix = ""
    admin_key: SecretStr | None = None
    admin_key_previous: SecretStr | None = None
    requests_per_minute: int = Field(default=6000, ge=0)
    docs: bool = True
    dashboard: bool = True
    metrics_token: SecretStr | None = Field(default=None, min_length=16)

    # Embeddings
    embedder: EmbedderName | None = None
    openai_api_key: SecretStr | None = Field(default=None, validation_alias="OPENAI_API_KEY")
    openai_base_url: HttpUrl | None = Field(
        default=None, repr=False, validation_alias="OPENAI_BASE_URL"
    )
    embedding_model: str = "text-embedding-3-small"
    embedding_dimensions: int | None = Field(default=None, ge=1, le=4000)
    embedding_folder: Path | None = None
    embedding_query_prefix: str | None = Field(default=None, max_length=2000)
    embedding_passage_prefix: str | None = Field(default=None, max_length=2000)
    embedding_input_types: InputTypePair | None = None
    embedding_requests_per_minute: int | None = Field(default=None, ge=1)
    embedding_tokens_per_minute: int | None = Field(default=None, ge=1)

    # Reranking
    rerank_url: HttpUrl | None = Field(default=None, repr=False)
    rerank_key: SecretStr | None = None
    rerank_model: str | None = None
    rerank_timeout: Duration = Field(default=timedelta(seconds=3), gt=timedelta(0))
    rerank_candidates: int = Field(default=50, ge=1, le=200)

    # Worker
    worker: bool = True
    worker_processes: int | None = Field(default=None, ge=0, le=64)
    worker_concurrency: int = Field(default=16, ge=1, le=1000)
    handlers: ModuleNames = ()
    formats: ModuleNames = ()
    tick: Cron = "*/30 * * * * *"
    heartbeat: Duration = timedelta(seconds=20)
    stale_after: Duration = timedelta(minutes=2)
    worker_port: int | None = Field(default=None, ge=0, le=65535)
    worker_silence: Duration = Field(default=timedelta(minutes=5), gt=timedelta(0))

    # Autoscaling
    scale: ScaleTable = parse_table("0:0,1:1,100:2,1000:4,10000:8")
    scale_age: Duration = Field(default=timedelta(seconds=60), ge=timedelta(0))
    scale_up_after: Duration = Field(default=timedelta(0), ge=timedelta(0))
    scale_down_after: Duration = Field(default=timedelta(minutes=5), ge=timedelta(0))

    # Limits
    max_file_bytes: int = Field(default=1024 * MIB, ge=1)
    max_pages: int = Field(default=5000, ge=1)
    archive_members: int = Field(default=10_000, ge=1)
    archive_bytes: int = Field(default=4 * 1024 * MIB, ge=1)
    archive_depth: int = Field(default=4, ge=1)
    parser_timeout: Duration = timedelta(seconds=60)
    parser_memory: int = Field(default=2048 * MIB, ge=256 * MIB)

    sandbox: Literal["auto", "strict", "off"] = "auto"
    sandbox_read: Paths = ()
    # Quotas
    quotas: QuotaList = Quotas()
    key_limits: KeyLimitList = KeyLimits()
    disk_reserve: int = Field(default=1024 * MIB, ge=0)
    page_image_cache: int = Field(default=1024 * MIB, ge=0)

    # OCR
    ocr: Literal["auto", "off", "tesseract", "rapidocr"] = "auto"
    ocr_languages: OcrLanguages = ()
    ocr_page_timeout: Duration = Field(default=timedelta(seconds=120), gt=timedelta(0))

    # Requests to URLs from users
    fetch_allow: NetworksAndHosts = ()
    fetch_max_bytes: int = Field(default=100 * MIB, ge=1)
    fetch_timeout: Duration = Field(default=timedelta(seconds=60), gt=timedelta(0))
    user_agent: str = Field(default="rag-ingest", max_length=200, pattern=r"^[!-~]([ -~]*[!-~])?$")

    # Crawls
    crawler: Literal["firecrawl", "builtin"] | None = None
    crawl_poll: Duration = timedelta(seconds=30)
    crawl_silence: Duration = timedelta(minutes=30)
    crawl_delay: Duration = Field(default=timedelta(seconds=0.2), ge=timedelta(0))
    crawl_concurrency: int = Field(default=4, ge=1, le=64)
    crawl_variants: int = Field(default=100, ge=1, le=100_000)
    rescrape: Cron | Literal["off"] = "0 3 * * *"
    rescrape_max_removed: float = Field(default=0.3, ge=0, le=1)
    public_url: Address | None = None
    firecrawl_api_key: SecretStr | None = Field(default=None, validation_alias="FIRECRAWL_API_KEY")
    firecrawl_api_url: Address | None = Field(default=None, validation_alias="FIRECRAWL_API_URL")
    firecrawl_webhook_secret: SecretStr | None = Field(
        default=None, validation_alias="FIRECRAWL_WEBHOOK_SECRET"
    )

    # Notifications by e-mail
    smtp_url: SecretStr | None = None
    email_from: str | None = None

    # Retention
    keep_jobs: KeepFor = timedelta(days=30)
    keep_failed_jobs: KeepFor = timedelta(days=90)
    keep_events: KeepFor = timedelta(days=7)
    keep_answers: KeepFor = timedelta(days=7)
    keep_deliveries: KeepFor = timedelta(days=30)
    keep_deleted: KeepFor = timedelta(days=30)
    keep_runs: KeepFor = timedelta(days=90)
    keep_activity: KeepFor = timedelta(days=90)

    # Chunks
    chunk_tokens: int | None = Field(default=None, ge=16, le=8192)
    chunk_overlap: int | None = Field(default=None, ge=0)

    @model_validator(mode="after")
    def a_job_survives_two_missed_heartbeats(self) -> Self:
        if self.heartbeat <= timedelta(0):
            raise ValueError("INGEST_HEARTBEAT must be positive")
        if self.stale_after < 3 * self.heartbeat:
            raise ValueError("INGEST_STALE_AFTER must be at least 3 x INGEST_HEARTBEAT")
        return self

    @model_validator(mode="after")
    def each_worker_process_has_a_slot(self) -> Self:
        count = self.worker_processes or 0
        if count and not self.worker:
            raise ValueError("INGEST_WORKER_PROCESSES needs INGEST_WORKER=true")
        if count > self.worker_concurrency:
            raise ValueError(
                "INGEST_WORKER_PROCESSES must be at most INGEST_WORKER_CONCURRENCY "
                f"({self.worker_concurrency}), which they share"
            )
        return self

    @model_validator(mode="after")
    def chunks_overlap_by_less_than_half(self) -> Self:
        overlap, size = self.chunk_overlap, self.chunk_tokens
        if overlap is not None and size is not None and 2 * overlap > size:
            raise ValueError("INGEST_CHUNK_OVERLAP must be at most half of INGEST_CHUNK_TOKENS")
        return self

    @model_validator(mode="after")
    def the_database_can_be_read(self) -> Self:
        urls = {"DATABASE_URL": self.database_url, "INGEST_LISTEN_URL": self.listen_url}
        for name, url in urls.items():
            if url is None:
                continue
            # Imported here: commands without a database read settings too.
            from ingest.settings.database_url import check_database_url

            try:
                check_database_url(url.get_secret_value())
            except ValueError as error:
                raise ValueError(f"{name}: {error}") from None
        if self.listen_url is not None and self.database_url is None:
            raise ValueError("INGEST_LISTEN_URL needs DATABASE_URL: both name the same database")
        return self

    @model_validator(mode="after")
    def firecrawl_can_be_reached(self) -> Self:
        if self.crawler == "firecrawl" and not (self.firecrawl_api_key or self.firecrawl_api_url):
            raise ValueError(
                "INGEST_CRAWLER=firecrawl needs FIRECRAWL_API_KEY or FIRECRAWL_API_URL"
            )
        key = self.firecrawl_api_key
        if key and not re.fullmatch(r"[!-~]+", key.get_secret_value()):
            raise ValueError("FIRECRAWL_API_KEY may hold visible ASCII characters only")
        return self

    @model_validator(mode="after")
    def a_webhook_secret_is_never_empty(self) -> Self:
        if self.firecrawl_webhook_secret and not self.firecrawl_secrets:
            raise ValueError("FIRECRAWL_WEBHOOK_SECRET contains no secret")
        return self

    @model_validator(mode="after")
    def a_silent_crawl_was_polled_before_it_is_given_up(self) -> Self:
        if self.crawl_poll <= timedelta(0):
            raise ValueError("INGEST_CRAWL_POLL must be positive")
        if self.crawl_silence < 2 * self.crawl_poll:
            raise ValueError("INGEST_CRAWL_SILENCE must be at least 2 x INGEST_CRAWL_POLL")
        return self

    @model_validator(mode="after")
    def e_mail_has_a_server_and_a_sender(self) -> Self:
        if (self.smtp_url is None) != (self.email_from is None):
            raise ValueError("INGEST_SMTP_URL and INGEST_EMAIL_FROM must be set together")
        if self.email_from is not None and not is_mail_address(self.email_from):
            raise ValueError("INGEST_EMAIL_FROM must be a plain e-mail address")
        try:
            _ = self.smtp_server
        except ValueError as error:
            raise ValueError(f"INGEST_SMTP_URL {error}") from None
        return self

    @property
    def smtp_server(self) -> SmtpServer | None:
        """The mail server; None: no e-mail is sent."""
        return None if self.smtp_url is None else parse_smtp_url(self.smtp_url.get_secret_value())

    @property
    def scaling(self) -> ScalingRule:
        """The rule that derives the desired number of workers from the load."""
        return ScalingRule(
            table=self.scale,
            age=self.scale_age,
            up_after=self.scale_up_after,
            down_after=self.scale_down_after,
            slots=self.worker_concurrency,
        )

    @property
    def nightly(self) -> str | None:
        """The default schedule for fetching sources again; None: never."""
        return None if self.rescrape == "off" else self.rescrape

    @property
    def crawl_provider(self) -> Literal["firecrawl", "builtin"]:
        """The configured crawler; by default `firecrawl` if its key or URL is set, or `builtin`."""
        if self.crawler is not None:
            return self.crawler
        return "firecrawl" if self.firecrawl_api_key or self.firecrawl_api_url else "builtin"

    @property
    def firecrawl_secrets(self) -> tuple[bytes, ...]:
        """Valid secrets for Firecrawl's events: during a rotation, the new and the old one."""
        if self.firecrawl_webhook_secret is None:
            return ()
        parts = self.firecrawl_webhook_secret.get_secret_value().split(",")
        return tuple(part.strip().encode() for part in parts if part.strip())

    @property
    def largest_fetch(self) -> int:
        """The largest response body to fetch, in bytes: at most the largest allowed file."""
        return min(self.fetch_max_bytes, self.max_file_bytes)

    @property
    def embedding_provider(self) -> str:
        """The configured embedder; by default `openai` if its key or URL is set, or `local`."""
        if self.embedder is not None:
            return self.embedder
        return "openai" if self.openai_api_key or self.openai_base_url else "local"
