"""Workbooks that are read, and those that are refused."""

import io

import pytest

from ingest.errors import Permanent
from ingest.formats.registry import extract as extract_file
from ingest.model import Document
from tests.builders.make_sheets import Cell

PEOPLE: list[list[Cell]] = [["Name", "Age"], ["Ann", 34], ["Bob", 7]]


def extract(data: bytes, name: str = "a.xlsx") -> Document:
    return extract_file(io.BytesIO(data), name=name)


def refusal(data: bytes, name: str = "a.xlsx") -> Permanent:
    with pytest.raises(Permanent) as caught:
        extract(data, name)
    return caught.value
