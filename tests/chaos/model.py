"""What must be there in the end, in plain Python: one model per application."""

from dataclasses import dataclass, field
from typing import Literal

from tests.chaos.contents import is_broken, path_of

Cancel = Literal["no", "maybe", "yes"]


@dataclass(kw_only=True)
class FileModel:
    """A path that was uploaded, whatever became of it."""

    application: int
    number: int
    version: int = 0
    """The last that was accepted."""
    tried: int = 0
    """The last that was sent; versions are never used again."""
    source: str | None = None
    """None: never accepted, or deleted."""
    older: set[int] = field(default_factory=set)
    """Versions that stay searchable if the last one was cancelled."""
    cancelled: Cancel = "no"

    @property
    def path(self) -> str:
        return path_of(self.application, self.number)

    @property
    def is_broken(self) -> bool:
        return is_broken(self.number)

    def accept(self, version: int, source: str) -> None:
        if self.source is not None:
            self.older.add(self.version)
        self.version, self.source, self.cancelled = version, source, "no"

    def delete(self) -> None:
        self.source, self.cancelled = None, "no"
        self.older.clear()


@dataclass(kw_only=True)
class ApplicationModel:
    number: int
    id: str
    key: str
    endpoint: str
    """Id of its webhook endpoint."""
    files: dict[int, FileModel] = field(default_factory=dict)
    deleted: set[str] = field(default_factory=set)
    """Ids of sources that were deleted."""
    site: str | None = None
    """Source of the local site, once it was accepted."""
    firecrawl_site: str | None = None

    def living(self) -> list[FileModel]:
        return [file for file in list(self.files.values()) if file.source is not None]

    @property
    def sources(self) -> set[str]:
        found = {file.source for file in self.living()} | {self.site, self.firecrawl_site}
        return {source for source in found if source is not None}
