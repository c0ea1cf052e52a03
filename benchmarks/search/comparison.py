"""Search: speed, recall and quality.

Speed and recall are measured on databases with 10,000 and 100,000 chunks of one application or of
100, filled with sentences of Python's manual and their vectors (static embedder, 256 dimensions).
The largest one with a single application is compared with the plain queries of a hand-written
search. Quality is measured with the Cranfield collection, uploaded to a real service, if its folder
is given.
"""

from dataclasses import dataclass
from typing import Final

from benchmarks.core.options import Options
from benchmarks.core.postgres import Server
from benchmarks.core.results import Race, Section, Table
from benchmarks.search import bare, cranfield
from benchmarks.search.installation import installation
from benchmarks.search.quality import quality
from benchmarks.search.races import goal, races
from benchmarks.search.shares import shares
from benchmarks.search.tables import Tables
from benchmarks.search.texts import Texts


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sizes:
    chunks: tuple[int, ...] = (10_000, 100_000)
    applications: tuple[int, ...] = (100, 1)
    questions: int = 200


_SMALL: Final = _Sizes(chunks=(500,), applications=(1,), questions=8)

_TEXT: Final = """\
The questions are words of sentences that are in no chunk. `vector`, `keyword` and `hybrid` are \
the modes of POST /api/search; the function is what answers the route: it embeds the question \
(static embedder), searches, and reads the hits. The embedded Postgres has its defaults of this \
project (sized by the machine, up to 1 GB of shared buffers)."""


def run(server: Server, options: Options) -> Section:
    sizes = _SMALL if options.is_small else _Sizes()
    texts = Texts(questions=sizes.questions)
    tables = Tables()
    raced: list[Race] = []
    profile: list[Table] = []
    for count in sizes.chunks:
        chunks = texts.chunks(count)
        for applications in sizes.applications:
            with installation(server, texts, chunks, applications=applications) as place:
                print(f"  {place.title}", flush=True)
                tables.measure(place, rounds=options.rounds)
                if count == max(sizes.chunks) and applications == 1:
                    tables.measure_filters(place, rounds=options.rounds)
                    profile.append(shares(place))
                    with bare.installation(server, chunks) as dsn:
                        raced = races(place, dsn, rounds=options.rounds)
    if options.cranfield is not None:
        profile.append(quality(server, cranfield.load(options.cranfield), options))
    return Section(
        name="search",
        title="Search",
        text=_TEXT,
        races=raced,
        tables=[*tables.tables(), *profile],
        goals=[goal(raced[-1]), tables.goal()],
    )
