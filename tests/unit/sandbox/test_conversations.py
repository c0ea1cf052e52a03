"""Small files that wait together are sent to a process at once: each still fails alone."""

import asyncio
import gc
from dataclasses import replace
from functools import partial
from pathlib import Path
from uuid import uuid4

import pytest

from harness.patience import PATIENCE
from ingest.model import OcrSettings
from ingest.sandbox import scratch_quota
from ingest.sandbox.process import Child
from tests.support.movable_clock import MovableClock
from tests.unit.sandbox.groups import Group, outcomes
from tests.unit.sandbox.hostile_files import LINUX, MIB, REQUEST, noted_pid, until_gone

pytestmark = LINUX  # the hostile parser counts what was sent to it

# Of the requests that must not fail, whatever the limit of the others.
PATIENT = replace(REQUEST, ocr=OcrSettings(engine="slow", page_timeout=PATIENCE))


async def test_each_file_has_its_own_answer(group: Group) -> None:
    said = [f"say {number}" for number in range(20)]

    files = group.start("behind 3 say first", *said)

    assert await outcomes(files) == ["first", *map(str, range(20))]


@pytest.mark.parametrize(
    ("end", "code"),
    [
        ("signal 9", "parser_crashed"),
        ("exit 9", "parser_crashed"),
        ('lie {"resident": 1}', "parser_crashed"),
        ("chatter 10000", "parser_crashed"),
        ("allocate 5000", "parser_memory"),
    ],
)
async def test_a_file_fails_alone(group: Group, end: str, code: str) -> None:
    files = group.start("say a", f"behind 2 {end}", "say c", "say d", "say e")

    assert await outcomes(files) == ["a", code, "c", "d", "e"]


async def test_an_answer_is_never_that_of_another_file(group: Group) -> None:
    files = group.start("behind 3 answer_twice 1", "say b", "say c", "say d")

    # The second answer comes where that of the next file should be.
    assert await outcomes(files) == ["corrupt", "parser_crashed", "c", "d"]


async def test_an_answer_left_over_is_not_that_of_a_later_file(group: Group) -> None:
    owner = uuid4()

    assert await outcomes(group.start("answer_twice 1", owner=owner)) == ["corrupt"]
    assert await outcomes(group.start("say b", owner=owner)) == ["parser_crashed"]
    assert await outcomes(group.start("say c", owner=owner)) == ["c"]


async def test_a_process_without_memory_reads_no_other_file(group: Group) -> None:
    first, code, last = await outcomes(group.start("pid", "behind 1 allocate 5000", "pid"))

    assert code == "parser_memory"
    assert first != last


async def test_the_time_limit_is_that_of_the_file_that_is_read(
    group: Group, tmp_path: Path, movable_clock: MovableClock
) -> None:
    slow = f"behind 1 wait {tmp_path / 'pid'} {tmp_path / 'end'}"
    commands = {"a": "say a", "slow": slow, "b": "say b"}
    owner = uuid4()
    files = []
    for name, command in commands.items():
        (path := tmp_path / name).write_text(command)
        request = REQUEST if name == "slow" else PATIENT
        files.append(asyncio.create_task(group.pool.parse(path, request, owner=owner)))
    await files[0]  # the limit is now that of the next
    await noted_pid(tmp_path / "pid")
    movable_clock.forward(PATIENCE)

    assert await outcomes(files) == ["a", "parser_timeout", "b"]


async def test_files_behind_a_slow_one_are_read_elsewhere(tmp_path: Path) -> None:
    group = Group(tmp_path, size=2)
    names = [tmp_path / name for name in ("pid", "end", "pid of other", "end of other")]
    pid, end, pid_of_other, end_of_other = (str(name).replace(" ", "_") for name in names)
    (other,) = group.start(f"wait {pid_of_other} {end_of_other}")
    await noted_pid(Path(pid_of_other))
    slow, *behind = group.start(f"behind 1 wait {pid} {end}", "say b", "say c", "say d")
    await noted_pid(Path(pid))
    try:
        await asyncio.to_thread(Path(end_of_other).touch)  # a process is free
        assert await outcomes([other, *behind]) == ["waited", "b", "c", "d"]
        assert not slow.done()
        await asyncio.to_thread(Path(end).touch)
        assert await outcomes([slow]) == ["waited"]
    finally:
        await group.pool.close()


async def test_a_file_that_cannot_be_opened_fails_alone(group: Group) -> None:
    files = group.start("behind 1 say a", "say b", "say c")
    group.paths[1].unlink()

    assert await outcomes(files) == ["a", "internal", "c"]


async def test_a_file_whose_request_cannot_be_sent_fails_alone(
    group: Group, tmp_path: Path
) -> None:
    owner = uuid4()
    requests = [REQUEST, replace(REQUEST, url="https://example.org/\udcff"), REQUEST, REQUEST]
    files = []
    for number, request in enumerate(requests):
        path = tmp_path / str(number)
        path.write_text("behind 2 say 0" if number == 0 else f"say {number}")
        files.append(asyncio.create_task(group.pool.parse(path, request, owner=owner)))

    assert await outcomes(files) == ["0", "TypeError", "2", "3"]


async def test_long_requests_do_not_wait_for_a_long_answer(group: Group, tmp_path: Path) -> None:
    """A process that writes its answer reads no request, and pipes hold only so much."""
    owner = uuid4()
    blocks = tuple((f"{number:016x}", "https://example.org/" + 300 * "a") for number in range(500))
    request = replace(REQUEST, chunk=replace(REQUEST.chunk, furniture=blocks))
    files = []
    for name, command in {"a": f"behind 1 repeat {4 * MIB}", "b": "say b", "c": "say c"}.items():
        (path := tmp_path / name).write_text(command)
        files.append(asyncio.create_task(group.pool.parse(path, request, owner=owner)))

    first, *others = await outcomes(files)

    assert len(first) == 4 * MIB
    assert others == ["b", "c"]


async def test_each_file_has_its_own_folder_for_files_inside(group: Group, tmp_path: Path) -> None:
    owner = uuid4()
    requests = [replace(REQUEST, members=str(tmp_path / f"of{name}")) for name in "abc"]
    (tmp_path / "folder").write_text("folder")
    (tmp_path / "attach").write_text("attach x.txt")
    files = [
        asyncio.create_task(group.pool.parse(tmp_path / name, request, owner=owner))
        for name, request in zip(("folder", "attach", "folder"), requests, strict=True)
    ]

    first, _, last = await outcomes(files)

    assert first != last
    assert (tmp_path / "ofb" / "0").read_bytes() == b"attached"
    assert not (tmp_path / "ofa").exists()


async def test_what_a_file_leaves_behind_does_not_count_for_the_next(
    group: Group, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scratch_quota, "_OWN_BYTES", 24 * MIB)

    files = group.start("behind 1 keep 16", "keep 16")

    assert await outcomes(files) == ["kept", "kept"]


async def test_another_application_does_not_wait_for_all_files(group: Group) -> None:
    done: list[str] = []
    files = group.start(*["sleep 0.05"] * 20)
    (other,) = group.start("say other")
    for file, name in [*zip(files, "a" * 20, strict=True), (other, "other")]:
        file.add_done_callback(partial(_note, done, name))

    await outcomes([*files, other])

    assert done.index("other") < 15


def _note(done: list[str], name: str, _: object) -> None:
    done.append(name)


async def test_a_folder_that_cannot_be_tidied_ends_its_process_only(
    group: Group, monkeypatch: pytest.MonkeyPatch
) -> None:
    failed: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: failed.append(context))

    async def refuse(_: Child) -> None:
        raise FileNotFoundError

    monkeypatch.setattr(Child, "tidy", refuse)

    first = await outcomes(group.start("pid"))
    assert await outcomes(group.start("say b")) == ["b"]
    await group.pool.close()
    gc.collect()
    await until_gone(int(first[0]))
    assert failed == []
