"""The TypeScript client and the dashboard agree with the service."""

from tests import make_client_types


def test_the_types_of_the_client_are_those_of_the_api() -> None:
    """If this fails: python -m tests.make_client_types."""
    assert make_client_types.TYPES.read_text() == make_client_types.current()
