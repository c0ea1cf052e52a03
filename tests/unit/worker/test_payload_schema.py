"""Which schemas of payloads are taken, and what they say of a payload."""

from typing import Any

import pytest

from api.schema.payload_schema import (
    LARGEST_PAYLOAD,
    MOST_VALUES,
    Wrong,
    bounded,
    checked_schema,
    wrong_with,
)

NAMES = {"type": "array", "items": {"$ref": "#/$defs/name"}, "uniqueItems": True}
SCHEMA: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "$defs": {"name": {"type": "string", "pattern": "^[a-z]+$"}},
    "type": "object",
    "properties": {"names": NAMES, "count": {"type": "integer"}},
    "required": ["names", "count"],
    "additionalProperties": False,
}


def doubling(levels: int) -> dict[str, Any]:
    """Every definition refers twice to the next one."""
    definitions = {f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(levels)}
    return {"$ref": "#/$defs/d0", "$defs": {**definitions, f"d{levels}": {}}}


def nested(levels: int) -> dict[str, Any]:
    schema: dict[str, Any] = {}
    for _ in range(levels):
        schema = {"properties": {"a": schema}}
    return schema


def test_payload_violation_names_path_and_rule_but_no_value() -> None:
    payload = {"names": ["ok", "SECRET"], "count": "SECRET"}

    assert wrong_with(payload, checked_schema(SCHEMA)) == [
        Wrong(("names", "1"), 'breaks the rule pattern: "^[a-z]+$"'),
        Wrong(("count",), 'breaks the rule type: "integer"'),
    ]


def test_missing_and_unknown_fields_name_their_object() -> None:
    assert set(wrong_with({"SECRET": 1}, checked_schema(SCHEMA))) == {
        Wrong((), "has fields that the schema does not know"),
        Wrong((), "misses names, count"),
    }


def test_a_payload_that_keeps_the_rules_is_taken() -> None:
    assert wrong_with({"names": ["a", "b"], "count": 1}, checked_schema(SCHEMA)) == []


def test_oversized_payload_is_refused_unread() -> None:
    [wrong] = wrong_with({"names": ["a"] * MOST_VALUES}, {})

    assert wrong.path == ()


def test_the_end_of_a_pattern_is_the_end_of_the_text() -> None:
    schema = checked_schema({"properties": {"a": {"pattern": "^a$"}}})

    assert wrong_with({"a": "a"}, schema) == []
    assert wrong_with({"a": "a\n"}, schema) != []


def test_names_of_properties_are_no_keywords() -> None:
    schema = {
        "properties": {"pattern": {"type": "integer"}, "$ref": {}, "$id": {}},
        "dependentRequired": {"pattern": ["a"]},
        "enum": [{"$ref": "#/nowhere"}],
    }

    assert checked_schema(schema) == schema


@pytest.mark.parametrize(
    ("schema", "why"),
    [
        ({"type": "nonsense"}, "no JSON Schema"),
        ({"required": "a"}, "no JSON Schema"),
        ({"$ref": "https://x.example/s"}, "own \\$defs"),
        ({"$ref": "#"}, "own \\$defs"),
        ({"$ref": "#/$defs/missing", "$defs": {}}, "own \\$defs"),
        ({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}}, "circle"),
        (doubling(12), "too many"),
        (nested(33), "too many"),
        ({"$id": "https://x.example/s"}, "not taken"),
        ({"$dynamicRef": "#a"}, "not taken"),
        ({"patternProperties": {"(a+)+$": {}}}, "not taken"),
        ({"not": {"pattern": "(?=a)a"}}, "RE2"),
        ({"$schema": "http://json-schema.org/draft-07/schema#"}, "2020-12"),
    ],
)
def test_a_schema_that_is_none_or_could_be_expensive_is_refused(
    schema: dict[str, Any], why: str
) -> None:
    with pytest.raises(ValueError, match=why):
        checked_schema(schema)


@pytest.mark.parametrize(
    ("value", "why"),
    [({"a": "x" * LARGEST_PAYLOAD}, "larger than"), (nested(17), "deeper than")],
)
def test_a_value_that_is_too_large_or_too_deep_is_refused(value: Any, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        bounded(value, LARGEST_PAYLOAD)


def test_unstorable_characters_of_a_payload_are_removed() -> None:
    assert bounded({"a\0": "b\ud800"}, LARGEST_PAYLOAD) == {"a": "b"}


def test_the_deepest_schema_that_is_taken_can_be_checked() -> None:
    schema = checked_schema(nested(15))

    assert wrong_with({"a": {"a": {}}}, schema) == []


def test_an_integer_that_is_no_float_breaks_a_schema_that_needs_one() -> None:
    schema = checked_schema({"properties": {"a": {"multipleOf": 0.5}}})

    assert [item.message for item in wrong_with({"a": 10**400}, schema)] == [
        "has a number that is too large"
    ]
