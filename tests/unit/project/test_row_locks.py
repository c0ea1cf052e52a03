"""Locks are read from the text of statements, and docs/locks.md names them all."""

import re

import pytest

from tests.support.lock_recorder import DOCUMENT, LockOrder
from tests.support.row_locks import Lock, locks, statements

ORDER = LockOrder.read(DOCUMENT.read_text())


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("select id from rag.crawls where id = %(id)s for no key update", [("rag.crawls", True)]),
        ("select id from rag.crawls for update skip locked", [("rag.crawls", False)]),
        (
            "select a.id from rag.crawls as a join rag.chunks as b on b.id = a.id for share of b",
            [("rag.chunks", True)],
        ),
        (
            "with a as (select id from rag.ready_jobs as job for update skip locked) "
            "update rag.processing_jobs set n = 1",
            [("rag.processing_jobs", False)],
        ),
        ("delete from only rag.chunks where id = 1", [("rag.chunks", True)]),
        ("insert into rag.chunks (id) values (1)", []),
        ("insert into rag.chunks (id) values (1) on conflict do nothing", [("rag.chunks", True)]),
        ("select pg_advisory_xact_lock(7245110383)", [("7245110383", True)]),
        ("select pg_try_advisory_xact_lock(7245110385)", [("7245110385", False)]),
        ("select 'delete from rag.chunks' -- update rag.crawls", []),
    ],
)
def test_the_locks_of_a_statement_are_read_in_order(
    statement: str, expected: list[tuple[str, bool]]
) -> None:
    assert list(locks(statement.encode())) == [Lock(*lock) for lock in expected]


def test_every_lock_that_a_statement_takes_has_its_place_in_the_document() -> None:
    known = {*ORDER.rank, *ORDER.guard}

    unknown = {
        f"{name}: {lock.name}"
        for text, name in statements().items()
        for lock in locks(text)
        if lock.name not in known
    }

    assert unknown == set()


def test_the_document_names_only_statements_and_locks_that_exist() -> None:
    taken = {(name, lock.name) for text, name in statements().items() for lock in locks(text)}
    used = {lock for _, lock in taken} | {"7245110381"}  # taken by the migrations themselves

    assert ORDER.again | ORDER.exempt <= taken
    assert ORDER.rank.keys() | ORDER.guard.keys() <= used
    assert set(ORDER.guard.values()) <= used


def test_statements_that_wait_for_several_rows_sort_them() -> None:
    unsorted = [
        name
        for text, name in statements().items()
        for query in re.findall(
            r"\bselect\b(?:(?!\bselect\b).)*?\bfor (?:update|no key update|share|key share)\b"
            r"(?: of \w+)?(?! skip locked)(?=\W)",
            re.sub(r"--[^\n]*", "", text.decode()),
            re.DOTALL,
        )
        if "any(" in query and "order by" not in query and " skip locked" not in query
    ]

    assert unsorted == []
