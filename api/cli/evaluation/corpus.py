"""Uploads the documents of a test collection, each as a text file named after its id."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final
from urllib.parse import quote

from api.cli.client.local_files import LocalFile
from api.cli.evaluation.collection_files import Record, read_records
from api.cli.output import CommandError
from ingest.temporary_folders import new_scratch_folder, remove

_SAFE: Final = " +,=@()[]"


@contextmanager
def corpus_files(files: Sequence[Path], folder: str) -> Iterator[list[LocalFile]]:
    """The documents of collection files as files `folder/ID.txt`, which exist during the block."""
    records: dict[str, Record] = {}
    for file in files:
        records |= {record.id: record for record in read_records(file)}
    temporary = new_scratch_folder()
    try:
        yield [
            _write(temporary / str(place), record, folder)
            for place, record in enumerate(records.values())
        ]
    finally:
        remove(temporary)


def _write(path: Path, record: Record, folder: str) -> LocalFile:
    content = record.full_text.encode()
    try:
        path.write_bytes(content)
    except OSError as error:
        raise CommandError(f"{path}: {error.strerror}") from None
    name = f"{folder}/{quote(record.id, safe=_SAFE)}.txt"
    return LocalFile(path=path, name=name, size=len(content))
