"""A small fixed part of tests/fuzz.py: broken files are refused, and no process dies of them."""

from tests.fuzz import BAD, run
from tests.fuzz_seeds import seeds

_CASES = 240


async def test_broken_files_fail_with_known_codes_and_no_crash() -> None:
    found = await run(range(_CASES), 1, seeds(), workers=1)

    assert [case for case in found if case[1] in BAD] == []
    # Neither were all too broken to get far, nor none broken at all.
    assert 0.2 * _CASES < sum(code == "ok" for _, code in found) < 0.9 * _CASES
