"""What a refused request is told about its fields."""

from api.problems import field_errors


def test_what_a_validator_of_ours_says_stands_without_the_prefix_of_pydantic() -> None:
    wrong = {"loc": ("body", "query"), "msg": "Value error, it is empty", "type": "value_error"}
    assert field_errors([wrong])[0]["message"] == "it is empty"
