"""Archives and messages: every file in them is a document of its own, or says why not."""

import gzip
from dataclasses import replace
from pathlib import Path
from uuid import UUID

import pytest

from ingest.errors import Permanent
from ingest.handlers.context import ArchiveLimits
from ingest.handlers.documents.fan_out import fan_out
from ingest.handlers.documents.file_location import locate_file
from ingest.handlers.quota_room import require_room
from ingest.model import Member
from ingest.postgres.database import Connection
from tests.builders.make_archives import locked_zip, nested, tar_of, zip_of
from tests.builders.make_mail_with_file import MAIL
from tests.support.archive_fixtures import ArchiveHouse, jobs_of, source, texts


@pytest.mark.parametrize("pack", [zip_of, tar_of])
async def test_every_file_in_an_archive_becomes_a_document_of_its_source(
    archives: ArchiveHouse, conn: Connection, application_id: UUID, pack: object
) -> None:
    data = pack({"a.txt": b"one", "folder/b.txt": b"two"})  # type: ignore[operator]

    id = await archives.ingest(application_id, "mine/docs.zip", data)

    row = await source(conn, id)
    assert (row["status"], row["chunk_count"], row["error_code"]) == ("completed", 2, None)
    assert (row["coverage"]["pages"], row["coverage"]["withText"]) == (2, 2)
    assert await texts(conn, id) == {
        "mine/docs.zip/a.txt": "one",
        "mine/docs.zip/folder/b.txt": "two",
    }


async def test_a_bad_file_in_an_archive_fails_alone(
    archives: ArchiveHouse, conn: Connection, application_id: UUID
) -> None:
    data = zip_of({"a.txt": b"one", "b.pdf": b"%PDF-1.7 broken", "empty.txt": b""})

    id = await archives.ingest(application_id, "docs.zip", data)

    row = await source(conn, id)
    assert (row["status"], row["chunk_count"]) == ("partial", 1)
    assert await jobs_of(conn, id) == {
        "file ": ("completed", None),
        "archive docs.zip": ("completed", None),
        "member docs.zip/a.txt": ("completed", None),
        "member docs.zip/b.pdf": ("failed", "corrupt"),
        "member docs.zip/empty.txt": ("failed", "empty_content"),
    }


async def test_a_compressed_file_is_one_document_by_one_job(
    archives: ArchiveHouse, conn: Connection, application_id: UUID
) -> None:
    data = gzip.compress(b"one")

    id = await archives.ingest(application_id, "mine/a.txt.gz", data)

    row = await source(conn, id)
    assert (row["status"], row["chunk_count"], row["size_bytes"]) == ("completed", 1, len(data))
    assert await texts(conn, id) == {"mine/a.txt.gz": "one"}
    assert await jobs_of(conn, id) == {"file ": ("completed", None)}
    again = await archives.send(application_id, "mine/a.txt.gz", data)
    assert again.verdict == "unchanged"


async def test_a_compressed_file_in_an_archive_is_one_document_by_one_job(
    archives: ArchiveHouse, conn: Connection, application_id: UUID
) -> None:
    data = zip_of({"a.txt.gz": gzip.compress(b"one"), "b.gz": gzip.compress(b"one")[:-9]})

    id = await archives.ingest(application_id, "docs.zip", data)

    assert await texts(conn, id) == {"docs.zip/a.txt.gz": "one"}
    assert await jobs_of(conn, id) == {
        "file ": ("completed", None),
        "archive docs.zip": ("completed", None),
        "member docs.zip/a.txt.gz": ("completed", None),
        "member docs.zip/b.gz": ("failed", "corrupt"),
    }


@pytest.mark.parametrize("pack", [zip_of, tar_of])
async def test_files_of_a_compressed_archive_have_its_path_only(
    archives: ArchiveHouse, conn: Connection, application_id: UUID, pack: object
) -> None:
    data = gzip.compress(pack({"a.txt": b"one"}))  # type: ignore[operator]

    id = await archives.ingest(application_id, "docs.gz", data)

    assert await texts(conn, id) == {"docs.gz/a.txt": "one"}
    assert set(await jobs_of(conn, id)) == {"file ", "archive docs.gz", "member docs.gz/a.txt"}


async def test_a_compressed_file_is_limited_as_files_of_archives_are(
    archives: ArchiveHouse, conn: Connection, application_id: UUID
) -> None:
    archives.limits = ArchiveLimits(member_bytes=100)

    id = await archives.ingest(application_id, "a.txt.gz", gzip.compress(b"word " * 21))

    assert (await source(conn, id))["error_code"] == "too_large"


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (locked_zip("a.txt"), "encrypted"),
        (zip_of({}), "empty_content"),
        (zip_of({"../a.txt": b"one"}), "archive_unsafe"),
        (zip_of({"a.pdf": b"%PDF-1.7 broken"}), "corrupt"),
    ],
)
async def test_archive_without_readable_members_reports_the_cause(
    archives: ArchiveHouse, conn: Connection, application_id: UUID, data: bytes, code: str
) -> None:
    id = await archives.ingest(application_id, "docs.zip", data)

    row = await source(conn, id)
    assert (row["status"], row["error_code"]) == ("failed", code)


async def test_encrypted_member_is_reported_separately(
    archives: ArchiveHouse, conn: Connection, application_id: UUID
) -> None:
    data = locked_zip("secret.txt", open_ones={"a.txt": b"one"})

    id = await archives.ingest(application_id, "docs.zip", data)

    assert (await source(conn, id))["status"] == "partial"
    assert (await jobs_of(conn, id))["member docs.zip/secret.txt"] == ("failed", "encrypted")


async def test_archives_in_archives_keep_their_paths(
    archives: ArchiveHouse, conn: Connection, application_id: UUID
) -> None:
    id = await archives.ingest(application_id, "docs.zip", nested(3, {"a.txt": b"one"}))

    assert (await source(conn, id))["status"] == "completed"
    assert await texts(conn, id) == {"docs.zip/inner.zip/inner.zip/a.txt": "one"}


async def test_archive_nesting_is_limited(
    archives: ArchiveHouse, conn: Connection, application_id: UUID
) -> None:
    archives.limits = ArchiveLimits(depth=2)

    id = await archives.ingest(application_id, "docs.zip", nested(3, {"a.txt": b"one"}))

    row = await source(conn, id)
    assert (row["status"], row["error_code"]) == ("failed", "archive_unsafe")


@pytest.mark.parametrize("limits", [ArchiveLimits(members=4), ArchiveLimits(total_bytes=160)])
async def test_limits_apply_to_all_nested_archives_together(
    archives: ArchiveHouse, conn: Connection, application_id: UUID, limits: ArchiveLimits
) -> None:
    archives.limits = limits
    inner = zip_of({"a": b"one", "b": b"two"}, compression=0)
    assert 60 < len(inner) < 300

    id = await archives.ingest(
        application_id, "docs.zip", zip_of({"1.zip": inner, "2.zip": inner, "3.txt": b"three"})
    )

    codes = [code for _, code in (await jobs_of(conn, id)).values() if code]
    assert set(codes) <= {"archive_unsafe", "too_large"}
    assert codes


async def test_an_upload_may_hold_as_many_files_as_the_limit_says(
    archives: ArchiveHouse, conn: Connection, application_id: UUID
) -> None:
    archives.limits = ArchiveLimits(members=2)

    id = await archives.ingest(
        application_id, "docs.zip", zip_of({"a.txt": b"one", "b.txt": b"two"})
    )

    assert (await source(conn, id))["status"] == "completed"


async def test_a_folder_named_like_an_archive_beside_it_keeps_its_own_files(
    archives: ArchiveHouse, conn: Connection, application_id: UUID
) -> None:
    data = zip_of({"x.zip": zip_of({"y.txt": b"inside"}), "x.zip/y.txt": b"beside"})

    id = await archives.ingest(application_id, "docs.zip", data)

    assert await texts(conn, id) == {
        "docs.zip/x (2).zip/y.txt": "beside",
        "docs.zip/x.zip/y.txt": "inside",
    }


async def test_the_error_of_a_file_names_it(
    archives: ArchiveHouse, conn: Connection, application_id: UUID
) -> None:
    id = await archives.ingest(application_id, "docs.zip", locked_zip("a/b.txt", "c.txt"))
    partly = locked_zip("a/b.txt", open_ones={"c.txt": b"open"})
    other = await archives.ingest(application_id, "more.zip", partly)

    assert (await source(conn, id))["error_code"] == "encrypted"
    assert (await source(conn, other))["error_message"].startswith("a/b.txt: ")


async def test_an_attachment_is_a_document_beside_its_message(
    archives: ArchiveHouse, conn: Connection, application_id: UUID
) -> None:
    id = await archives.ingest(application_id, "mail.eml", MAIL)

    row = await source(conn, id)
    found = await texts(conn, id)
    assert (row["status"], row["chunk_count"]) == ("completed", 2)
    assert row["content_hash"] is not None
    assert found["mail.eml/minutes.txt"] == "We met on Monday."
    assert "The minutes are attached." in found["mail.eml"]


async def test_parser_cannot_pass_foreign_files_as_members(
    archives: ArchiveHouse, application_id: UUID, tmp_path: Path
) -> None:
    await archives.send(application_id, "docs.zip", zip_of({"a.txt": b"one"}))
    job = await archives.claim()
    assert job is not None
    place = await locate_file(job, archives.context)
    (tmp_path / "secret").write_text("secret")
    (folder := tmp_path / "members").mkdir()
    (folder / "0").symlink_to(tmp_path / "secret")

    with pytest.raises(Permanent):
        await fan_out(job, place, [Member(path="a.txt", file="0")], folder, archives.context)


@pytest.mark.parametrize("count", [1, 3])
async def test_parser_cannot_pass_members_beyond_the_limits(
    archives: ArchiveHouse, application_id: UUID, tmp_path: Path, count: int
) -> None:
    """Files that only seem large take no disk space, but reading them would take years."""
    await archives.send(application_id, "docs.zip", zip_of({"a.txt": b"one"}))
    job = await archives.claim()
    assert job is not None
    place = await locate_file(job, archives.context)
    for number in range(count):
        with (tmp_path / str(number)).open("wb") as file:
            file.truncate(2**42 if count == 1 else 100)
    found = [Member(path=f"{number}.txt", file=str(number)) for number in range(count)]
    ctx = replace(archives.context, archives=ArchiveLimits(members=2))

    with pytest.raises(Permanent) as caught:
        await fan_out(job, place, found, tmp_path, ctx)

    assert caught.value.code == "archive_unsafe"


async def test_a_member_that_grows_while_it_is_stored_is_refused(
    archives: ArchiveHouse,
    application_id: UUID,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its process still runs, and may have kept the file open."""
    await archives.send(application_id, "docs.zip", zip_of({"a.txt": b"one"}))
    job = await archives.claim()
    assert job is not None
    place = await locate_file(job, archives.context)
    (path := tmp_path / "0").write_bytes(b"short")

    async def grow(*args: object, **kwargs: object) -> None:
        path.write_bytes(b"much longer")
        await require_room(*args, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr("ingest.handlers.documents.fan_out.require_room", grow)

    with pytest.raises(Permanent, match="changed"):
        await fan_out(job, place, [Member(path="a.txt", file="0")], tmp_path, archives.context)
