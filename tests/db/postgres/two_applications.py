"""Two applications with one row in each table, for tests of what one may see of the other."""

from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from typing import Any, Final, LiteralString
from uuid import UUID

import psycopg
from psycopg import sql

OURS: Final = UUID(int=0xA)
THEIRS: Final = UUID(int=0xB)
"""Id of an application and of everything that belongs to it."""

_VALUES: Final[Mapping[str, Any]] = {
    "uuid": THEIRS,
    "text": "x",
    "boolean": False,
    "smallint": 1,
    "integer": 1,
    "bigint": 1,
    "real": 1.0,
    "double precision": 1.0,
    "numeric": 1,
    "bytea": THEIRS.bytes,
    "jsonb": "{}",
    "date": date(2026, 1, 1),
    "timestamp with time zone": datetime(2026, 1, 1, tzinfo=UTC),
    "interval": timedelta(seconds=1),
    "vector": "[1]",
    "tsquery": "x",
}
"""By type: what rows and parameters of the tests have."""

TABLES: Final[LiteralString] = """
select format('%I.%I', relnamespace::regnamespace, relname), relrowsecurity, relforcerowsecurity,
       exists (select from pg_policy where polrelid = class.oid)
  from pg_class as class
  join pg_attribute on attrelid = class.oid and attname = 'application_id' and not attisdropped
 where relkind in ('r', 'p') and relnamespace::regnamespace::text in ('app', 'rag')
 order by 1
"""

_COLUMNS: Final[LiteralString] = """
select attname, format_type(atttypid, null),
       (select substring(pg_get_constraintdef(oid) from '''([^'']*)''::text') from pg_constraint
         where conrelid = attrelid and contype = 'c' and conkey = array[attnum]) as allowed
  from pg_attribute
  left join pg_attrdef on adrelid = attrelid and adnum = attnum
 where attrelid = %s::regclass and attnum > 0 and not attisdropped
   and attidentity = '' and attgenerated = '' and (attnotnull and adbin is null or attname = 'id'
       or format_type(atttypid, null) = 'uuid')
"""


def tables(conn: psycopg.Connection[Any]) -> list[str]:
    """All tables with `application_id`, but the one that only a view reads."""
    return [row[0] for row in conn.execute(TABLES) if row[0] != "rag.unprotected_chunks"]


def add_row(conn: psycopg.Connection[Any], table: str, owner: UUID) -> None:
    """A row of an application, with a value in each column that needs one; ids are the owner's."""
    columns = conn.execute(_COLUMNS, [table]).fetchall()
    values = [
        allowed or {"uuid": owner, "bytea": owner.bytes}.get(type) or value_of("", type)
        for _, type, allowed in columns
    ]
    conn.execute(
        sql.SQL("insert into {} ({}) values ({})").format(
            sql.Identifier(*table.split(".")),
            sql.SQL(", ").join(sql.Identifier(name) for name, _, _ in columns),
            sql.SQL(", ").join(sql.Placeholder() * len(values)),
        ),
        values,
    )


_TEXTS: Final = {"status": "pending", "type": "file", "types": "file", "role": "viewer"}


def value_of(name: str, type: str) -> Any:
    if name in ("limit", "bound", "most", "batch", "ranked"):
        return 100
    if type.endswith("[]"):
        return [value_of(name, type.removesuffix("[]"))]
    return _TEXTS.get(name, _VALUES[type]) if type == "text" else _VALUES[type]


def delete_all_of(conn: psycopg.Connection[Any], owner: UUID) -> None:
    for table in tables(conn):
        name = sql.Identifier(*table.split("."))
        conn.execute(sql.SQL("delete from {} where application_id = {}").format(name, owner))
