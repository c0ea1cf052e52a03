"""Every statement of the store is understood by the server, whichever version that is."""

import re
from typing import Final

import psycopg

from tests.db.postgres.named_statements import numbered, statements

# Others are parts that are filled into statements.
_STATEMENT: Final = re.compile(
    rb"(--[^\n]*\n|\s)*(select|with|insert|update|delete|merge)\b", re.IGNORECASE
)


def test_the_server_can_prepare_every_named_statement(dsn: str) -> None:
    refused, prepared = {}, 0
    with psycopg.connect(dsn, autocommit=True) as conn:
        for name, text in statements().items():
            if not _STATEMENT.match(text):
                continue
            try:
                conn.execute(b"prepare probe as " + numbered(text)[0])
                conn.execute("deallocate probe")
                prepared += 1
            # psycopg says which type a parameter has; without that, the server may not know.
            except psycopg.errors.IndeterminateDatatype:
                pass
            except psycopg.Error as error:
                refused[name] = str(error)

    assert refused == {}
    assert prepared > 440
