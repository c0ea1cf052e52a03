"""Uploads the documents of a test collection, each as a text file named after its id."""

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final
from urllib.parse import quote

from api.cli.client.local_files import LocalFile
from api.cli.evaluation.collection_files import Record, read_records
from api.cli.output import CommandError

_SAFE: Final = " +,=@()[]"


@contextmanager
def corpus_files(files: Sequence[Path], folder: str) -> Iterator[list[LocalFile]]:
    """The documents of collection files as files `folder/ID.txt`, which exist during the block."""
    records: dict[str, Record] = {}
    for file in files:
        records |= {record.id: record for record in read_records(file)}
    with tempfile.TemporaryDirectory(prefix="ingest-eval-") as temporary:
        found = []
        for place, record in enumerate(records.values()):
            path = Path(temporary, str(place))
            try:
                content = record.full_text.encode()
                path.write_bytes(content)
            except OSError as error:
                raise CommandError(f"{temporary}: {error.strerror}") from None
            name = f"{folder}/{quote(record.id, safe=_SAFE)}.txt"
            found.append(LocalFile(path=path, name=name, size=len(content)))
        yield found
