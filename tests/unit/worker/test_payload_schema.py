"""Which schemas of payloads are taken, and what they say of a payload."""

from typing import Any

import pytest

from api.schema.payload_schema import (
    MAX_PAYLOAD_BYTES,
    MAX_VALUES,
    PayloadError,
    limit_size,
    payload_errors,
    validate_schema,
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

    assert payload_errors(payload, validate_schema(SCHEMA)) == [
        PayloadError(("names", "1"), 'does not satisfy pattern: "^[a-z]+$"'),
        PayloadError(("count",), 'does not satisfy type: "integer"'),
    ]


def test_missing_and_unknown_fields_name_their_object() -> None:
    assert set(payload_errors({"SECRET": 1}, validate_schema(SCHEMA))) == {
        PayloadError((), "has unknown fields"),
        PayloadError((), "required fields are missing: names, count"),
    }


def test_valid_payload_is_accepted() -> None:
    assert payload_errors({"names": ["a", "b"], "count": 1}, validate_schema(SCHEMA)) == []


def test_oversized_payload_is_refused_unread() -> None:
    [wrong] = payload_errors({"names": ["a"] * MAX_VALUES}, {})

    assert wrong.path == ()


def test_the_end_of_a_pattern_is_the_end_of_the_text() -> None:
    schema = validate_schema({"properties": {"a": {"pattern": "^a$"}}})

    assert payload_errors({"a": "a"}, schema) == []
    assert payload_errors({"a": "a\n"}, schema) != []


def test_property_names_are_not_read_as_keywords() -> None:
    schema = {
        "properties": {"pattern": {"type": "integer"}, "$ref": {}, "$id": {}},
        "dependentRequired": {"pattern": ["a"]},
        "enum": [{"$ref": "#/nowhere"}],
    }

    assert validate_schema(schema) == schema


@pytest.mark.parametrize(
    ("schema", "why"),
    [
        ({"type": "nonsense"}, "not a valid JSON Schema"),
        ({"required": "a"}, "not a valid JSON Schema"),
        ({"$ref": "https://x.example/s"}, "own \\$defs"),
        ({"$ref": "#"}, "own \\$defs"),
        ({"$ref": "#/$defs/missing", "$defs": {}}, "own \\$defs"),
        ({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}}, "circular"),
        (doubling(12), "too many"),
        (nested(33), "too many"),
        ({"$id": "https://x.example/s"}, "not supported"),
        ({"$dynamicRef": "#a"}, "not supported"),
        ({"patternProperties": {"(a+)+$": {}}}, "not supported"),
        ({"not": {"pattern": "(?=a)a"}}, "RE2"),
        ({"$schema": "http://json-schema.org/draft-07/schema#"}, "2020-12"),
    ],
)
def test_invalid_or_expensive_schema_is_refused(schema: dict[str, Any], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        validate_schema(schema)


@pytest.mark.parametrize(
    ("value", "why"),
    [({"a": "x" * MAX_PAYLOAD_BYTES}, "larger than"), (nested(17), "deeper than")],
)
def test_a_value_that_is_too_large_or_too_deep_is_refused(value: Any, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        limit_size(value, MAX_PAYLOAD_BYTES)


def test_unstorable_characters_of_a_payload_are_removed() -> None:
    assert limit_size({"a\0": "b\ud800"}, MAX_PAYLOAD_BYTES) == {"a": "b"}


def test_deepest_accepted_schema_can_be_checked() -> None:
    schema = validate_schema(nested(15))

    assert payload_errors({"a": {"a": {}}}, schema) == []


def test_integer_beyond_float_range_violates_a_float_schema() -> None:
    schema = validate_schema({"properties": {"a": {"multipleOf": 0.5}}})

    assert [item.message for item in payload_errors({"a": 10**400}, schema)] == [
        "has a number that is too large"
    ]
