"""Files for the command line."""

from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture
def files(tmp_path: Path) -> Callable[..., list[str]]:
    def write(**contents: str) -> list[str]:
        paths = []
        for name, content in contents.items():
            path = tmp_path / name
            path.write_text(content)
            paths.append(str(path))
        return paths

    return write
