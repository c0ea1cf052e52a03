"""JSON and JSON Lines: records, nesting, odd numbers, and what is no JSON."""

import io
import json
from typing import Any

import pytest

from ingest.formats.json import document as json_text
from ingest.formats.registry import extract as extract_file
from ingest.model import Document


def extract(data: str | bytes, name: str = "a.json") -> Document:
    return extract_file(io.BytesIO(data.encode() if isinstance(data, str) else data), name=name)


def text_of(value: Any) -> str:
    return extract(json.dumps(value)).text


def test_a_list_of_objects_is_a_list_of_records() -> None:
    assert text_of(
        [{"sku": "A-1", "price": 12.5, "sold": True}, {"sku": "A-2", "price": None}]
    ) == ("- sku: A-1; price: 12.5; sold: true\n- sku: A-2")


def test_objects_within_objects_are_paths_and_plain_lists_are_joined() -> None:
    assert text_of([{"name": "Ann", "home": {"town": {"name": "Rome"}}, "tags": ["a", "b"]}]) == (
        "- name: Ann; home.town.name: Rome; tags: a, b"
    )


def test_lists_of_objects_are_nested_items() -> None:
    assert text_of([{"order": 1, "lines": [{"sku": "x", "sizes": [[1, 2], [3]]}, "rest"]}]) == (
        "- order: 1\n  - lines:\n    - sku: x\n      - sizes:\n        - 1, 2\n        - 3\n"
        "    - rest"
    )


def test_a_list_of_objects_in_an_object_is_a_section() -> None:
    assert text_of({"name": "Shop", "goods": [{"sku": "x"}], "open": "daily"}) == (
        "- name: Shop\n\n## goods\n\n- sku: x\n\n- open: daily"
    )


def test_a_single_value_is_text() -> None:
    assert extract('"# just words"').text == "\\# just words"


def test_numbers_keep_their_spelling() -> None:
    number = "9" * 5000

    assert extract(f'[{{"a": {number}, "b": 1e400, "c": 1.10, "d": NaN}}]').text == (
        f"- a: {number}; b: 1e400; c: 1.10; d: NaN"
    )


def test_keys_that_occur_twice_are_kept_twice() -> None:
    assert extract('[{"a": 1, "a": 2}]').text == "- a: 1; a: 2"


@pytest.mark.parametrize(("left", "right"), [("[", "]"), ('{"k": ', "}"), ('{"k": [', "]}")])
def test_deep_nesting_accepted_by_the_parser_is_read(left: str, right: str) -> None:
    document = extract(left * 150 + '"word"' + right * 150)

    assert "word" in document.text
    assert " " * 100 not in document.text
    assert document.warnings == ()


def test_too_deeply_nested_json_is_read_as_text() -> None:
    document = extract("[" * 100_000)

    assert document.text == "[" * 100_000
    assert document.warnings == ("invalid_json",)


def test_invalid_json_is_read_as_text() -> None:
    document = extract('{"a": 1, // a comment\n "b": [1, 2\n')

    assert document.text == '{"a": 1, // a comment\n "b": [1, 2\n'
    assert document.warnings == ("invalid_json",)


@pytest.mark.parametrize("data", ['[{"a": 1} {"b": 2}]', '[{"a": 1}] more', '[{"a": 1},'])
def test_list_that_becomes_invalid_later_is_read_as_text(data: str) -> None:
    assert extract(data).text == data


@pytest.mark.parametrize("between", ["\n", "\n\n", " ", "\x1e"])
def test_values_one_after_the_other_are_records(between: str) -> None:
    words = "some words " * 6

    text = extract(between.join([f'{{"a": "{words}"}}', '{"a": 2}'])).text

    assert text == f"- a: {words.strip()}\n- a: 2"


def test_invalid_line_is_read_as_text_and_the_others_as_records() -> None:
    document = extract('{"a": 1}\n{"a": oops}\n{"a": 3}\n', "a.jsonl")

    assert document.text == '- a: 1\n{"a": oops}\n- a: 3'
    assert document.warnings == ("invalid_json",)


def test_after_many_broken_lines_the_rest_is_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_text, "_MOST_FAILURES", 2)

    assert extract('[1\n[2\n{"a": 3}\n', "a.jsonl").text == '[1\n[2\n{"a": 3}'


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32-le", "cp1252"])
def test_any_encoding_is_read(encoding: str) -> None:
    data = json.dumps([{"straße": "Königsallee für Fußgänger"}], ensure_ascii=False)

    assert extract(data.encode(encoding)).text == "- straße: Königsallee für Fußgänger"


def test_lone_surrogate_is_removed() -> None:
    assert extract(r'[{"a": "x\ud83dy", "b": "\ud83d\ude00"}]').text == "- a: xy; b: 😀"


def test_an_empty_list_holds_no_text() -> None:
    assert text_of([{}, {"a": ["x"]}, []]) == "- a: x"
