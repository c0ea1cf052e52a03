"""Archives as sources whose files are separate jobs, and the events of these sources."""

import io
import time
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any
from uuid import UUID

import orjson
import psycopg
from psycopg.rows import class_row

from api.live.messages import of_event
from benchmarks.core.texts import text_files
from harness.service import Service, until
from ingest.store.sources.events import Event

_SIZE = 2000
_PATIENCE_SECONDS = 120.0


@dataclass(frozen=True, slots=True)
class Script:
    """The events of sources, for a server that sends the same."""

    began: Mapping[str, int]
    """By source: only events after this number are included."""
    events: Sequence[Event]
    """By source, then by number."""

    def as_json(self) -> bytes:
        """`{"began": …, "events": [[seconds, source, text before its time, text after it], …]}`."""
        first = min(event.created_at for event in self.events)
        due: dict[UUID, float] = {}
        lines = []
        for event in self.events:
            text = of_event(event).text
            before, _, after = text.partition(orjson.loads(text)["at"])
            # An event has its transaction's start time, so times of one source may decrease
            # slightly.
            seconds = (event.created_at - first).total_seconds()
            due[event.source_id] = max(seconds, due.get(event.source_id, 0.0))
            lines.append((due[event.source_id], str(event.source_id), before, after))
        lines.sort(key=itemgetter(0))
        return orjson.dumps({"began": dict(self.began), "events": lines})


def add_sources(api: Service, *, count: int, files: int) -> list[str]:
    """Upload `count` archives of `files` different text files each; returns the source ids."""
    texts = text_files(count * files, seed=time.time_ns(), size=_SIZE)
    archives = [
        (f"{number}.zip", _zip(texts[number * files : (number + 1) * files]))
        for number in range(count)
    ]
    ids: list[str] = api.upload(archives)["knowledgeSourceIds"]
    assert len(ids) == count
    return ids


def _zip(files: Sequence[tuple[str, bytes]]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files:
            archive.writestr(name, content)
    return out.getvalue()


def wait_until_opened(dsn: str, sources: Sequence[str]) -> None:
    """Wait until all archives are unpacked, so that all further events come from their files."""
    with psycopg.connect(dsn, autocommit=True) as conn:

        def are_opened() -> bool:
            row = conn.execute(
                "select count(distinct knowledge_source_id) from rag.processing_jobs "
                "where knowledge_source_id = any(%s::uuid[]) "
                "and type = 'archive' and status = 'completed'",
                [list(sources)],
            ).fetchone()
            return row is not None and row[0] == len(sources)

        until(are_opened, within=_PATIENCE_SECONDS, every=0.2)


def set_members(api: Service, **setting: Any) -> None:
    """Change settings of the job type `member`."""
    api.http.patch("/api/job-types/member", json=setting).raise_for_status()


def told(dsn: str, began: Mapping[str, int]) -> Script:
    """The events of sources, each after its number in `began`."""
    with psycopg.connect(dsn) as conn, conn.cursor(row_factory=class_row(Event)) as cursor:
        cursor.execute(
            "select event.source_id, seq, type, data, created_at from rag.progress_events as event "
            "join unnest(%s::uuid[], %s::bigint[]) as seen(source_id, last) using (source_id) "
            "where seq > last order by event.source_id, seq",
            [list(began), list(began.values())],
        )
        return Script(began, cursor.fetchall())
