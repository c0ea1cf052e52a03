"""The program as a person runs it: real processes, signals, the embedded database."""

import json
import os
import re
import signal
import socket
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from harness.patience import PATIENCE
from harness.service import INGEST, clean_environment, until


class Machine:
    """A folder in which commands are typed; its `data` is where the service keeps everything."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.data = folder / "data"
        self.env = {**clean_environment(), "INGEST_EMBEDDER": "static", "INGEST_PORT": "0"}
        self._started: list[subprocess.Popen[str]] = []

    def popen(self, *arguments: str, env: Mapping[str, str] | None = None) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [INGEST, *arguments],
            cwd=self.folder,
            env={**self.env, **(env or {})},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self._started.append(process)
        return process

    def end_all(self) -> None:
        """Leave no command running, whatever became of the test, and no pipe open."""
        for process in self._started:
            process.kill()
            with process:  # closes its pipes and waits for it
                pass

    def run(self, *arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
        process = self.popen(*arguments, env=env)
        out, err = process.communicate(timeout=PATIENCE)
        return subprocess.CompletedProcess(arguments, process.returncode, out, err)

    def lines(self, *arguments: str) -> list[Any]:
        """The JSON lines that a command prints."""
        return [json.loads(line) for line in self.run(*arguments, "--json").stdout.splitlines()]

    @contextmanager
    def running(self, command: str, **env: str) -> Iterator[subprocess.Popen[str]]:
        """A process of the service that is ready; killed at the end if it is still there."""
        log = self.folder / f"{command}.log"
        with (
            log.open("w") as errors,
            subprocess.Popen(
                [INGEST, command, "--json"],
                cwd=self.folder,
                env={**self.env, **env},
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
            ) as process,
        ):
            try:
                assert process.stdout is not None
                ready = process.stdout.readline()
                assert ready, log.read_text()[-2000:]
                self.ready = json.loads(ready)
                yield process
            finally:
                process.kill()

    def write(self, *paths: str) -> None:
        """Files that hold their own path, but for `empty…`, which fail."""
        for path in paths:
            file = self.folder / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text("\n" if "empty" in path else f"The file {path} tells of {file.stem}.")

    def key(self) -> str:
        """The generated operator key."""
        return (self.data / "admin.key").read_text().strip()

    def postgres(self) -> int:
        """The pid of the embedded server."""
        return int((self.data / "postgres/cluster/postmaster.pid").read_text().splitlines()[0])


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    machine = Machine(tmp_path)
    yield machine
    machine.end_all()


def is_gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def test_nothing_in_the_data_folder_is_readable_by_other_accounts(machine: Machine) -> None:
    machine.write("docs/harbour.md")
    machine.data.mkdir(mode=0o755)
    with machine.running("serve"):
        uploaded = machine.run("upload", "docs")
        open_to_others = [
            str(path.relative_to(machine.folder))
            for path in (machine.data, *machine.data.rglob("*"))
            if path.lstat().st_mode & 0o077 and not path.is_symlink()
        ]

    assert uploaded.returncode == 0
    assert open_to_others == []


def test_a_rotated_operator_key_holds_at_once_in_every_process(machine: Machine) -> None:
    with machine.running("serve"):
        first = machine.ready["url"]
        with machine.running("api"):
            urls, old = (first, machine.ready["url"]), machine.key()
            rotated = machine.run("key", "rotate", "--json")
            statuses = [
                httpx.get(f"{url}/api/jobs", headers={"Authorization": f"Bearer {key}"}).status_code
                for url in urls
                for key in (machine.key(), old)
            ]
            command = machine.run("sources")

    assert json.loads(rotated.stdout) == {
        "keyFile": str(machine.data / "admin.key"),
        "isInUse": True,
    }
    assert machine.key() not in rotated.stdout + rotated.stderr
    assert statuses == [200, 401, 200, 401]
    assert command.returncode == 0


def test_a_folder_is_uploaded_reported_found_listed_and_watched(machine: Machine) -> None:
    machine.write("docs/harbour.md", "docs/deep/lantern.txt", "docs/empty.txt", "docs/.hidden")
    with machine.running("serve"):
        first = machine.run("upload", "docs")
        [again] = machine.lines("upload", "docs")
        hits = machine.lines("search", "lantern", "--limit", "1")
        failed = machine.lines("sources", "--status", "failed")
        jobs = machine.lines("jobs", "--error", "empty_content")
        batch = machine.run("watch", again["batchId"], "--json")
        source = machine.run("watch", hits[0]["knowledgeSourceId"])
        text = machine.run("sources")

    assert first.returncode == 1
    assert first.stdout.startswith("3 files · 3 accepted\n")
    assert re.search(r"docs/empty\.txt +failed +empty_content", first.stdout)
    assert "skipped 1 hidden file" in first.stderr
    assert (again["sent"], again["unchanged"], again["accepted"]) == (1, 2, 1)
    assert hits[0]["uri"] == "docs/deep/lantern.txt"
    assert [row["uri"] for row in failed] == ["docs/empty.txt"]
    assert {job["status"] for job in jobs} == {"failed"}
    assert (batch.returncode, source.returncode) == (1, 0)
    assert json.loads(batch.stdout.splitlines()[-1])["errorCode"] == "empty_content"
    assert "docs/deep/lantern.txt  completed" in source.stdout
    assert "docs/harbour.md" in text.stdout


def test_an_interrupted_upload_resumes_without_sending_anything_again(machine: Machine) -> None:
    machine.write(*(f"docs/{number}.txt" for number in range(5)))
    with machine.running("serve", INGEST_WORKER="false"):
        upload = machine.popen("upload", "docs")
        until(lambda: len(machine.lines("sources")) == 5)
        upload.send_signal(signal.SIGINT)
        _, told = upload.communicate(timeout=PATIENCE)
        [again] = machine.lines("upload", "docs", "--no-wait")

    assert upload.returncode == 130
    assert "interrupted: the service has all files" in told
    assert (again["total"], again["sent"], again["unchanged"]) == (5, 0, 5)


def test_stop_is_clean_and_second_service_explains_why_it_cannot_start(
    machine: Machine,
) -> None:
    with machine.running("serve") as serve:
        url, key = machine.ready["url"], (machine.data / "admin.key").read_text().strip()
        answer = httpx.get(f"{url}/api/jobs", headers={"Authorization": f"Bearer {key}"})
        same_folder = machine.run("serve")
        port = url.rpartition(":")[2]
        same_port = machine.run("serve", INGEST_PORT=port, INGEST_DATA_DIR="other")
        database = machine.postgres()
        serve.terminate()
        serve.wait(PATIENCE)

    assert answer.status_code == 200
    assert (machine.data / "admin.key").stat().st_mode & 0o777 == 0o600
    assert same_folder.returncode == 2
    assert f"in use by another process (pid {serve.pid})" in same_folder.stderr
    assert same_port.returncode == 2
    assert same_port.stderr.startswith(f"ingest: INGEST_PORT: port {port} of 127.0.0.1 is in use")
    assert same_port.stderr.count("\n") == 1
    assert not (machine.folder / "other").exists()
    assert serve.returncode == 0
    assert is_gone(database)
    assert not (machine.data / "server.json").exists()


def test_kill_9_leaves_no_process_and_loses_nothing(machine: Machine) -> None:
    machine.write("docs/harbour.md")
    with machine.running("serve") as serve:
        machine.run("upload", "docs")
        database = machine.postgres()
        serve.kill()
        until(lambda: is_gone(database))
    away = machine.run("sources")
    with machine.running("serve"):
        sources = machine.lines("sources")

    assert away.returncode == 2
    assert "start the service with `ingest serve`" in away.stderr
    assert [row["status"] for row in sources] == ["completed"]


def test_api_and_worker_run_apart_on_one_data_folder(machine: Machine) -> None:
    machine.write("docs/harbour.md")
    migrated = machine.run("migrate")
    with machine.running("api") as api:
        machine.run("upload", "docs", "--no-wait")
        waiting = machine.lines("sources")
        with machine.running("worker") as worker:
            done = machine.run("watch", waiting[0]["id"], "--json")
            worker.terminate()
            worker.wait(PATIENCE)
        still = machine.lines("search", "harbour")
        api.terminate()
        api.wait(PATIENCE)

    assert migrated.returncode == 0
    assert [row["status"] for row in waiting] == ["pending"]
    assert done.returncode == 0
    assert json.loads(done.stdout.splitlines()[-1])["status"] == "completed"
    assert (worker.returncode, api.returncode) == (0, 0)
    assert still[0]["uri"] == "docs/harbour.md"


def test_a_second_signal_ends_the_service_at_once(machine: Machine) -> None:
    with machine.running("serve") as serve:
        database = machine.postgres()
        key = (machine.data / "admin.key").read_bytes().strip()
        host, _, port = machine.ready["url"].removeprefix("http://").partition(":")
        with socket.create_connection((host, int(port))) as slow:
            # A request that never ends keeps the first signal waiting.
            slow.sendall(
                b"POST /upload/documents HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n"
                b"Content-Type: multipart/form-data; boundary=x\r\n"
                b"Authorization: Bearer %b\r\n\r\n" % key
            )
            httpx.get(f"{machine.ready['url']}/healthz").raise_for_status()
            serve.terminate()
            until(lambda: refuses(host, int(port)))
            serve.terminate()
            serve.wait(PATIENCE)
        until(lambda: is_gone(database))

    assert serve.returncode == 128 + signal.SIGTERM


def refuses(host: str, port: int) -> bool:
    try:
        socket.create_connection((host, port)).close()
    except ConnectionRefusedError:
        return True
    return False
