"""Handlers of one's own are found, or the start stops with one line."""

from pathlib import Path

import pytest

from ingest.errors import SetupError
from ingest.handlers.registry import HANDLERS, load_handlers
from ingest.settings.settings import Settings

BUILT_IN = {"file", "url", "site_crawl", "crawl_page", "rescrape", "purge"}


def write(folder: Path, name: str, text: str) -> None:
    (folder / f"{name}.py").write_text(text)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """From which modules can be imported."""
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


def test_the_built_in_handlers_are_always_there() -> None:
    assert load_handlers().keys() >= BUILT_IN


def test_a_module_adds_its_handlers(folder: Path) -> None:
    write(
        folder,
        "own_handlers",
        "from ingest.handlers.registry import handler\n"
        "@handler('my_own')\n"
        "async def run(job, ctx, progress): ...\n",
    )
    try:
        loaded = load_handlers(["own_handlers"])
    finally:
        HANDLERS.pop("my_own", None)

    assert loaded.keys() >= BUILT_IN | {"my_own"}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (None, "cannot import own_broken: ModuleNotFoundError"),
        ("import", "cannot import own_broken: SyntaxError"),
        ("raise RuntimeError('two\\nlines')", "cannot import own_broken: RuntimeError: two lines"),
        (
            "from ingest.handlers.registry import handler\nhandler('file')(None)",
            "two handlers are named 'file'",
        ),
    ],
)
def test_a_module_that_cannot_be_used_stops_the_start_with_one_line(
    folder: Path, text: str | None, why: str
) -> None:
    if text is not None:
        write(folder, "own_broken", text)

    with pytest.raises(SetupError, match=f"^INGEST_HANDLERS: .*{why}") as raised:
        load_handlers(["own_broken"])

    assert "\n" not in str(raised.value)


def test_the_setting_names_modules_separated_by_commas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INGEST_HANDLERS", "word_count, acme.handlers")

    assert Settings().handlers == ("word_count", "acme.handlers")


def test_path_is_not_a_module_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INGEST_HANDLERS", "docs/examples/word_count.py")

    with pytest.raises(ValueError, match="not the name of a module"):
        Settings()
