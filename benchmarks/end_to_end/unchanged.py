"""The same text files a second time: the cost of finding out that nothing has changed."""

import statistics

from benchmarks.core.results import Goal, Race
from benchmarks.end_to_end.field import OURS, Result
from benchmarks.end_to_end.ours import OurOutcome

_UPLOAD = "bare server, the upload alone"
_UNCHANGED = "unchanged re-ingest of 1,000 text files"
_RIVALS = ("cocoindex", "llama-index")


def unchanged_race(result: Result) -> Race:
    """The contestants that ingested the files a second time."""
    rounds = {
        name: [outcome.again for outcome in outcomes if outcome.again is not None]
        for name, outcomes in result.outcomes.items()
    }
    rounds[_UPLOAD] = [outcome.second.upload for outcome in _ours(result) if outcome.second]
    return Race(
        title="The same text files again, unchanged",
        unit="s",
        reference=OURS,
        is_more_better=False,
        rounds={name: seconds for name, seconds in rounds.items() if seconds},
        note=(
            "The peers read the folder again; the service is sent all files again. The bare "
            "server, with the same parser, receives the same request and writes its files."
        ),
        absent=result.absent,
    )


def unchanged_goals(result: Result, race: Race) -> list[Goal]:
    seconds = [outcome.second for outcome in _ours(result) if outcome.second]
    first = statistics.median(outcome.seconds for outcome in _ours(result))
    rivals = [name for name in race.rounds if name.startswith(_RIVALS)]
    best = race.best(rivals)
    return [
        Goal(
            text=f"{_UNCHANGED}: embedding calls",
            measured=max(second.embedding_calls for second in seconds),
            at_most=0,
            unit="",
        ),
        Goal(
            text=f"{_UNCHANGED}: parser runs",
            measured=max(second.parser_runs for second in seconds),
            at_most=0,
            unit="",
        ),
        Goal(
            text=f"{_UNCHANGED}: faster than the first time",
            measured=first / race.median(OURS),
            at_least=10,
        ),
        Goal(
            text=f"{_UNCHANGED}: against LlamaIndex and CocoIndex, with the bare upload added",
            measured=None if best is None else _with_upload(race, best) / race.median(OURS),
            at_least=1,
        ),
    ]


def _with_upload(race: Race, peer: str) -> float:
    return race.median(peer) + race.median(_UPLOAD)


def _ours(result: Result) -> list[OurOutcome]:
    return [outcome for outcome in result.outcomes[OURS] if isinstance(outcome, OurOutcome)]
