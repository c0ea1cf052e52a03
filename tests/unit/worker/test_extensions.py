"""Extensions (handlers, formats, embedders): what they import, and how they are loaded."""

import ast
import re
import sys
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest

from harness.patience import AGES
from ingest.errors import SetupError
from ingest.extend import embedders, formats, handlers
from ingest.formats import catalog
from ingest.formats.registry import extract
from ingest.model import ChunkSettings
from ingest.providers.embedders.base import Embedder
from ingest.providers.embedders.factory import build_embedder
from ingest.sandbox.messages import ParseRequest
from ingest.sandbox.pool import ParserPool
from ingest.settings.loading import load_settings
from ingest.settings.settings import Settings

ROOT = Path(__file__).parents[3]
EXAMPLES = ROOT / "docs/examples"
TEXTILE = b"""h1. Opening hours

* Monday to Friday
** not in August
# first floor
See "the map":https://map.example/a_b.
bc. ring(2)
"""


@pytest.fixture(autouse=True)
def _own_modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Modules can be imported from the examples and from `tmp_path`; no format is left behind."""
    monkeypatch.syspath_prepend(EXAMPLES)
    monkeypatch.syspath_prepend(tmp_path)
    yield
    for name in [name for name in sys.modules if name.startswith("own_")]:
        del sys.modules[name]
    catalog._EXTENSIONS.clear()
    catalog.forget()


def imports_of(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
    return found


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.stem)
def test_examples_import_only_the_public_surface(path: Path) -> None:
    ours = {name for name in imports_of(path) if name.partition(".")[0] in ("ingest", "api")}

    assert ours
    assert {name for name in ours if not name.startswith("ingest.extend.")} == set()


@pytest.mark.parametrize("module", [handlers, formats, embedders], ids=lambda found: found.__name__)
def test_public_names_are_documented(module: object) -> None:
    page = (ROOT / "docs/extending.md").read_text()
    names = vars(module)["__all__"]

    assert [name for name in names if not re.search(rf"`{name}\b", page)] == []


def test_the_package_is_marked_as_typed() -> None:
    assert (ROOT / "ingest/py.typed").exists()


def test_a_format_module_adds_its_format() -> None:
    catalog.load_extensions(["textile"])

    document = extract(BytesIO(TEXTILE), name="hours.textile")

    assert document.media_type == "text/x-textile"
    assert document.title == "Opening hours"
    assert document.text.splitlines() == [
        "# Opening hours",
        "",
        "- Monday to Friday",
        "   - not in August",
        "1. first floor",
        "See [the map](https://map.example/a_b).",
        "    ring(2)",
    ]


def test_a_format_module_is_loaded_once() -> None:
    catalog.load_extensions(["textile"])
    catalog.load_extensions(["textile"])

    assert [found.label for found in catalog.formats()].count("a Textile file") == 1


def test_a_suffix_of_an_extension_wins_over_a_programming_language(tmp_path: Path) -> None:
    (tmp_path / "own_sql.py").write_text(
        "from ingest.extend.formats import Format\n"
        "FORMATS = (Format(media_type='text/x-own', label='a query', suffixes='.sql',"
        " reader='textile', is_text=True),)\n"
    )
    catalog.load_extensions(["own_sql"])

    assert extract(BytesIO(b"h1. One"), name="a.sql").text == "# One"


async def test_parser_processes_read_the_format_of_an_extension(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(TEXTILE)
    pool = ParserPool(size=1, timeout=AGES, memory=1024**3, formats=["textile"])
    request = ParseRequest(
        name="a.textile",
        declared=None,
        max_pages=1,
        chunk=ChunkSettings(tokenizer="minilm", size=64, overlap=0),
        ocr=None,
    )
    try:
        parsed = await pool.parse(path, request)
    finally:
        await pool.close()

    assert parsed.document.media_type == "text/x-textile"
    assert parsed.chunks[0].headings == ("Opening hours",)


FORMAT = "from ingest.extend.formats import Format\nFORMATS = (Format(label='x', "


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("raise OSError('two\\nlines')", "cannot import own_format: OSError: two lines"),
        ("FORMAT = ()", "own_format has no FORMATS"),
        ("FORMATS = ('pdf',)", "own_format has no FORMATS"),
        (FORMAT + "media_type='text/x-own'),)", "text/x-own has no reader"),
        (FORMAT + "media_type='application/pdf', reader='x'),)", "application/pdf is taken"),
    ],
)
def test_an_unusable_format_module_stops_the_start_with_one_line(
    tmp_path: Path, text: str, why: str
) -> None:
    (tmp_path / "own_format.py").write_text(text)

    with pytest.raises(SetupError, match=f"^INGEST_FORMATS: .*{why}") as raised:
        catalog.load_extensions(["own_format"])

    assert "\n" not in str(raised.value)


async def test_an_embedder_of_a_module_is_built() -> None:
    embedder = await build_embedder(Settings(embedder="hashing_embedder:HashingEmbedder"))

    same, also, other, blank = await embedder.embed(
        ["opening hours", "Hours: opening", "a map", "…"]
    )

    assert isinstance(embedder, Embedder)
    assert embedder.model.dimension == 512
    assert np.allclose(same, also)
    assert np.dot(same, other) < 0.5
    assert np.isclose(np.linalg.norm(blank), 1)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (None, "cannot import own_embedder: ModuleNotFoundError"),
        ("builder = None", "own_embedder has no function build"),
        ("def build(): raise OSError('two\\nlines')", "own_embedder:build: OSError: two lines"),
        ("def build(): return 'x'", "own_embedder:build: the function does not return an Embedder"),
        (
            "from dataclasses import replace\n"
            "from hashing_embedder import HashingEmbedder\n"
            "class build(HashingEmbedder):\n"
            "    model = replace(HashingEmbedder.model, tokenizer='mine')\n",
            "own_embedder:build: there is no tokenizer mine",
        ),
    ],
)
async def test_an_unusable_embedder_stops_the_start_with_one_line(
    tmp_path: Path, text: str | None, why: str
) -> None:
    if text is not None:
        (tmp_path / "own_embedder.py").write_text(text)

    with pytest.raises(SetupError, match=f"^INGEST_EMBEDDER: .*{why}") as raised:
        await build_embedder(Settings(embedder="own_embedder:build"))

    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("value", ["hashing_embedder", "a/b.py:build", "a:", ":build", "a:b c"])
def test_an_embedder_setting_without_module_and_function_is_refused(
    monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    monkeypatch.setenv("INGEST_EMBEDDER", value)

    with pytest.raises(SetupError, match=r"^INGEST_EMBEDDER: must be .* or module:function"):
        load_settings()


def test_a_format_setting_names_modules_separated_by_commas(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("INGEST_FORMATS", "textile, acme.formats")

    assert load_settings().formats == ("textile", "acme.formats")
