"""What the searches of a process share."""

from dataclasses import dataclass, field

from ingest.embedding.earlier_models import EarlierModels
from ingest.embedding.service import EmbeddingService
from ingest.model import EmbeddingModel
from ingest.postgres.database import Pool
from ingest.search.broad_filters import BroadFilters
from ingest.search.rerank import Reranking
from ingest.search.slots import SearchSlots
from ingest.search.statistics import SearchStatistics


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchParts:
    pool: Pool
    embedder: EmbeddingService
    model_id: int
    model: EmbeddingModel | None = None
    """That of `model_id`, for explanations."""
    earlier: EarlierModels = field(default_factory=EarlierModels)
    reranking: Reranking | None = None
    slots: SearchSlots = field(default_factory=SearchSlots)
    statistics: SearchStatistics = field(default_factory=SearchStatistics)
    broad_filters: BroadFilters = field(default_factory=BroadFilters)
