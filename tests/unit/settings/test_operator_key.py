"""The operator key: generated once, replaced by `ingest key rotate` while processes run."""

import os
import stat
import threading
import time
from datetime import timedelta
from pathlib import Path

import pytest
from pydantic import SecretStr

from ingest.errors import SetupError
from ingest.settings import operator_key as module
from ingest.settings.operator_key import SETTLED_AFTER, OperatorKey, operator_key, rotate
from ingest.settings.settings import Settings
from ingest.store.tenants.api_keys import TICKET_LIFETIME

NO_GRACE = timedelta(0)
GRACE = timedelta(minutes=10)


def of(data: Path) -> OperatorKey:
    return operator_key(Settings(data_dir=data))


def test_a_running_process_uses_the_new_key_at_once_and_refuses_the_old_one(tmp_path: Path) -> None:
    running, replica = of(tmp_path), of(tmp_path)
    old = running.current

    new = rotate(tmp_path, grace=NO_GRACE)

    for process in (running, replica, of(tmp_path)):
        assert process.current == new != old
        assert process.accepts(new)
        assert not process.accepts(old)
        assert not process.accepts("")


def test_with_a_grace_the_old_key_is_valid_until_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    running = of(tmp_path)
    old = running.current
    new = rotate(tmp_path, grace=GRACE)
    processes = (running, of(tmp_path))
    within = [(process.accepts(old), process.accepts(new)) for process in processes]

    later = time.time() + GRACE.total_seconds() + 1
    monkeypatch.setattr(time, "time", lambda: later)

    assert within == [(True, True)] * 2
    assert [(process.accepts(old), process.accepts(new)) for process in processes] == [
        (False, True)
    ] * 2


def test_a_rotation_without_grace_ends_the_grace_of_an_earlier_one(tmp_path: Path) -> None:
    running = of(tmp_path)
    old = running.current
    second = rotate(tmp_path, grace=GRACE)
    assert running.accepts(old)

    rotate(tmp_path, grace=NO_GRACE)

    assert not running.accepts(old)
    assert not running.accepts(second)


@pytest.mark.parametrize("completed", [0, 1])
def test_a_rotation_that_is_killed_leaves_the_old_key_valid(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, completed: int
) -> None:
    running = of(tmp_path)
    old, steps, replace = running.current, [None] * completed, Path.replace

    def until_killed(self: Path, target: Path) -> Path:
        if not steps:
            raise KeyboardInterrupt
        steps.pop()
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", until_killed)
    with pytest.raises(KeyboardInterrupt):
        rotate(tmp_path, grace=GRACE)

    assert (tmp_path / "admin.key.previous").exists() is bool(completed)
    assert running.accepts(old)
    assert of(tmp_path).current == old


def test_two_rotations_at_once_leave_one_key_that_all_accept(tmp_path: Path) -> None:
    running = of(tmp_path)
    made: list[str] = []

    def run() -> None:
        made.append(rotate(tmp_path, grace=NO_GRACE))

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sum(running.accepts(key) for key in made) == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["admin.key"]


def test_a_rotation_waits_for_another_one(tmp_path: Path) -> None:
    of(tmp_path)
    waiting = threading.Thread(target=rotate, args=[tmp_path], kwargs={"grace": GRACE})
    with module._locked(tmp_path):
        waiting.start()
        waiting.join(0.3)  # time to do it wrong
        module._replace(tmp_path / "admin.key", "rk_first", like=tmp_path / "admin.key")
    waiting.join()

    final = of(tmp_path)
    assert final.current != "rk_first"
    assert final.accepts("rk_first")


@pytest.mark.parametrize("content", [None, "", "\n"])
def test_a_key_file_that_vanished_or_is_half_written_changes_nothing(
    tmp_path: Path, content: str | None
) -> None:
    running = of(tmp_path)
    old, file = running.current, tmp_path / "admin.key"
    file.unlink()
    if content is not None:
        file.write_text(content)

    assert running.accepts(old)
    assert not running.accepts("")


def test_a_damaged_file_of_the_previous_key_gives_no_access(tmp_path: Path) -> None:
    of(tmp_path)
    for content in ("rk_x", "rk_x soon", "rk_x 1 2", ""):
        (tmp_path / "admin.key.previous").write_text(content)

        assert not of(tmp_path).accepts("rk_x")
        assert not of(tmp_path).accepts("")


def test_an_empty_key_file_stops_the_start(tmp_path: Path) -> None:
    (tmp_path / "admin.key").write_text("\n")

    with pytest.raises(SetupError, match="is empty: delete it"):
        of(tmp_path)


def test_the_files_are_private_and_keep_their_owner(tmp_path: Path) -> None:
    of(tmp_path)
    if os.geteuid() == 0:
        os.chown(tmp_path / "admin.key", 1234, 1234)
    owner = (tmp_path / "admin.key").stat().st_uid

    rotate(tmp_path, grace=GRACE)

    for name in ("admin.key", "admin.key.previous"):
        status = (tmp_path / name).stat()
        assert (stat.S_IMODE(status.st_mode), status.st_uid) == (0o600, owner)


def test_the_target_of_a_link_is_replaced_and_not_the_link(tmp_path: Path) -> None:
    (data := tmp_path / "data").mkdir()
    (tmp_path / "secret").write_text("rk_old\n")
    (data / "admin.key").symlink_to(tmp_path / "secret")
    running = of(data)

    new = rotate(data, grace=NO_GRACE)

    assert (data / "admin.key").is_symlink()
    assert running.accepts(new)


def test_without_a_generated_key_the_message_says_where_to_look(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match=r"no generated key in .*admin\.key"):
        rotate(tmp_path, grace=NO_GRACE)


def test_connections_of_an_old_key_and_of_its_tickets_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = time.monotonic()
    monkeypatch.setattr(time, "monotonic", lambda: now)
    running = of(tmp_path)
    before = running.is_replaced_for(now)
    rotate(tmp_path, grace=NO_GRACE)
    at_once = running.is_replaced_for(now)
    ticket_time = now + 59
    now += 61

    assert SETTLED_AFTER >= TICKET_LIFETIME
    assert (before, at_once) == (False, False)
    assert running.is_replaced_for(ticket_time)
    assert not running.is_replaced_for(now)


def test_the_environment_may_name_the_key_before() -> None:
    settings = Settings(admin_key=SecretStr("new"), admin_key_previous=SecretStr("old"))

    key = operator_key(settings)

    assert key.current == "new"
    assert [key.accepts(given) for given in ("new", "old", "older", "")] == [
        True,
        True,
        False,
        False,
    ]


def test_a_key_of_the_examples_and_a_previous_key_alone_stop_the_start() -> None:
    with pytest.raises(SetupError, match="INGEST_ADMIN_KEY: this is the value of an example"):
        operator_key(Settings(admin_key=SecretStr("change-me")))
    with pytest.raises(SetupError, match="INGEST_ADMIN_KEY_PREVIOUS: needs INGEST_ADMIN_KEY"):
        operator_key(Settings(admin_key_previous=SecretStr("old")))
