"""Faults of single steps and libraries that are not installed: what the parent makes of them."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from types import SimpleNamespace
from typing import cast
from uuid import uuid4

import pytest
from structlog.testing import capture_logs

from harness.patience import AGES
from ingest.errors import Permanent
from ingest.formats import registry
from ingest.handlers.context import Progress
from ingest.model import ChunkSettings
from ingest.observability.metrics import REGISTRY
from ingest.sandbox.installed_parsers import checking
from ingest.sandbox.messages import ParseRequest
from ingest.sandbox.pool import ParserPool
from ingest.store.queue.jobs import ClaimedJob
from tests.builders import make_files
from tests.builders.rich_files import rich_files

FILES = rich_files()
CUT = ChunkSettings(tokenizer="wordllama", size=256, overlap=0)


def broken_pool(child: str = "tests.servers.faulty_parser") -> ParserPool:
    return ParserPool(size=1, timeout=AGES, memory=2 * 1024**3, child=child)


@pytest.fixture
async def parser_pool() -> AsyncIterator[ParserPool]:
    parser_pool = broken_pool()
    yield parser_pool
    await parser_pool.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("rich.pdf", "a.html"):
        (tmp_path / name).write_bytes(FILES[name])
    return tmp_path


def request(name: str) -> ParseRequest:
    return ParseRequest(name=name, declared=None, max_pages=100, chunk=CUT)


def skipped_headings() -> float:
    labels = {"format": "pdf", "step": "headings"}
    return REGISTRY.get_sample_value("rag_ingest_parser_steps_skipped_total", labels) or 0.0


async def test_a_step_that_fails_is_logged_and_counted(
    parser_pool: ParserPool, folder: Path
) -> None:
    before = skipped_headings()

    with capture_logs() as logs:
        parsed = await parser_pool.parse(folder / "rich.pdf", request("rich.pdf"))

    assert "Pumps" in parsed.document.text
    assert "headings_skipped" in parsed.document.warnings
    assert [step.step for step in parsed.document.skipped] == ["headings"]
    (line,) = [entry for entry in logs if entry["event"] == "parser_step_skipped"]
    assert (line["step"], line["format"], line["times"]) == ("headings", "pdf", 1)
    assert line["cause"].startswith("IndexError at ")
    assert "Pumps" not in str(line)
    assert skipped_headings() == before + 1


async def test_the_log_of_the_job_has_the_cause(parser_pool: ParserPool, folder: Path) -> None:
    progress = Progress(cast(ClaimedJob, SimpleNamespace(id=uuid4(), attempts=1)))

    progress.log_parsed(await parser_pool.parse(folder / "rich.pdf", request("rich.pdf")))

    details = progress.lines[0].details
    assert details is not None
    (step,) = details["skippedSteps"]
    assert (step["step"], step["times"]) == ("headings", 1)
    assert step["cause"].startswith("IndexError at ")


async def test_a_file_that_fails_all_the_same_has_its_skipped_steps_logged(
    parser_pool: ParserPool, folder: Path
) -> None:
    blank = folder / "blank.pdf"
    await asyncio.to_thread(blank.write_bytes, make_files.pdf([None]))

    with capture_logs() as logs, pytest.raises(Permanent, match="no text"):
        await parser_pool.parse(blank, request("blank.pdf"))

    assert [entry["step"] for entry in logs if "step" in entry] == ["headings"]


async def test_a_file_whose_parser_is_not_installed_has_a_code_of_its_own(
    parser_pool: ParserPool, folder: Path
) -> None:
    with pytest.raises(Permanent) as raised:
        await parser_pool.parse(folder / "a.html", request("a.html"))

    assert raised.value.code == "parser_missing"
    assert "html_to_markdown is not installed" in str(raised.value)


async def test_missing_modules_are_reported_with_their_formats() -> None:
    with capture_logs() as logs:
        async with checking(broken_pool()) as checked:
            (missing,) = (await checked).missing

    assert missing.module == "html_to_markdown"
    assert {"html", "docx", "epub", "eml", "xml"} <= set(missing.formats)
    assert "pdf" not in missing.formats
    (line,) = [entry for entry in logs if entry["event"] == "parsers_missing"]
    assert line["missing"] == {"html_to_markdown": list(missing.formats)}


async def test_complete_installation_lacks_no_module() -> None:
    async with checking(broken_pool("ingest.sandbox.child")) as checked:
        assert (await checked).missing == ()


async def test_cancelled_parser_check_ends() -> None:
    async with checking(broken_pool()) as checked:
        pass

    assert checked.done()


def test_a_fault_at_the_import_of_an_extractor_names_the_module(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fails(name: str) -> None:
        try:
            raise ModuleNotFoundError(name="the_library")
        except ModuleNotFoundError:
            raise ImportError("install the library") from None

    monkeypatch.setattr("importlib.import_module", fails)

    missing = registry.missing_parsers()

    assert list(missing) == ["the_library"]
    assert {"pdf", "docx", "html"} <= set(missing["the_library"])
