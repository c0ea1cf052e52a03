"""Source code: a fence of its language, and nothing lost."""

import io

import pytest

from ingest.errors import Permanent
from ingest.formats import registry
from ingest.model import Document


def extract(text: str, name: str) -> Document:
    return registry.extract(io.BytesIO(text.encode()), name=name)


def test_source_code_stands_in_a_fence_of_its_language() -> None:
    code = "# no heading\ndef f():\n    return 1\n"

    document = extract(code, "lib/tool.py")

    assert document.text == f"```python\n{code}```"
    assert document.title == "tool.py"
    assert document.metadata == {"programmingLanguage": "python"}


@pytest.mark.parametrize(
    ("name", "text", "language"),
    [
        ("Dockerfile", "FROM x\n# y\n", "dockerfile"),
        ("a/Makefile", "all:\n\tx\n", "makefile"),
        ("run", "#!/usr/bin/env python3\n# x\n", "python"),
        ("run", "#!/bin/sh\n# x\n", "bash"),
        ("A.RS", "fn main() {}", "rust"),
        ("values.yaml", "# x\na: 1\n", "yaml"),
    ],
)
def test_programming_language_is_detected_by_name_or_shebang(
    name: str, text: str, language: str
) -> None:
    assert extract(text, name).metadata["programmingLanguage"] == language


def test_a_fence_inside_of_code_does_not_end_it() -> None:
    assert extract('x = """\n````\n"""', "a.py").text.startswith("`````python\n")


def test_blank_source_code_is_empty_content() -> None:
    with pytest.raises(Permanent) as caught:
        extract("\n\n", "a.py")

    assert caught.value.code == "empty_content"
