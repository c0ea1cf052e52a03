"""Fixtures for office files."""

import pytest
from python_calamine import CalamineError

from ingest.formats.sheets import calamine_sheets


class Refusing:
    @staticmethod
    def from_filelike(stream: object) -> None:
        raise CalamineError("refused")


@pytest.fixture(params=["calamine", "second reader"])
def any_reader(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "second reader":
        monkeypatch.setattr(calamine_sheets, "CalamineWorkbook", Refusing)
