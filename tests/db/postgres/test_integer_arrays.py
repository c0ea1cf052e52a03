"""Arrays of many rows that are sent as one."""

import numpy as np
import pytest

from ingest.postgres.database import Connection
from ingest.store.documents.integer_arrays import end_to_end

_SLICES = """
select (%(array)b::integer[])[row.first:row.last]
  from unnest(%(starts)b::integer[], %(ends)b::integer[]) with ordinality as row(first, last, place)
 order by place
"""


@pytest.mark.parametrize(
    "rows",
    [
        [[1, -(2**31), 2**31 - 1], [], [0], [7, 7], []],
        [[], [5]],
        [[], []],
    ],
)
async def test_each_row_gets_its_own_numbers(conn: Connection, rows: list[list[int]]) -> None:
    sent = end_to_end([np.array(row, np.int32) for row in rows])

    cursor = await conn.execute(
        _SLICES, {"array": sent.array, "starts": sent.starts, "ends": sent.ends}
    )

    assert [numbers for (numbers,) in await cursor.fetchall()] == rows


async def test_lists_whose_type_is_stated_are_still_written(conn: Connection) -> None:
    await conn.execute("create temp table lists (numbers integer[])")
    async with conn.cursor() as cur:
        async with cur.copy("copy lists from stdin (format binary)") as copy:
            copy.set_types(["int4[]"])
            await copy.write_row(([1, 2],))
        rows = await (await cur.execute("select numbers from lists")).fetchall()

    assert rows == [([1, 2],)]
