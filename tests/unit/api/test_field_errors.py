"""What a refused request is told about its fields."""

from api.problems import field_errors


def test_own_validator_message_has_no_pydantic_prefix() -> None:
    wrong = {"loc": ("body", "query"), "msg": "Value error, it is empty", "type": "value_error"}
    assert field_errors([wrong])[0]["message"] == "it is empty"
