"""`python -m tests.chaos`: faults of every kind against a whole installation, by seed.

    python -m tests.chaos                      three minutes of rounds from a random seed
    python -m tests.chaos --minutes 120        two hours
    python -m tests.chaos --seed 7 --rounds 1  one round again

A round starts Postgres, an API, workers and stand-ins of all that they talk to; three applications
upload, change, delete, cancel, retry and crawl, others search and follow, while the faults of the
plan are injected. Then all must come to rest, and everything must be there once. The seed decides
which faults come in which order; timing is that of the machine, so a seed that failed may pass.

Exit code 0: nothing lost, doubled, leaked or hung, and every kind of fault was injected and met
the service. Only the loopback is used, and only own processes are signalled.
"""

import argparse
import signal
import sys
import tempfile
import time
from pathlib import Path
from random import SystemRandom

from tests.chaos import host
from tests.chaos.plan import KINDS, draw
from tests.chaos.report import Report
from tests.chaos.round import play


def main() -> int:
    options = _parser().parse_args()
    mounts = host.isolate()
    kinds = options.kinds.split(",") if options.kinds else KINDS
    seed = options.seed if options.seed is not None else SystemRandom().randrange(1_000_000)
    end = time.monotonic() + 60 * options.minutes
    report = Report()
    asked_to_stop: list[int] = []
    signal.signal(signal.SIGINT, lambda number, _: _stop_after_round(asked_to_stop, number))
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    number = 0
    while not asked_to_stop and (
        number < options.rounds if options.rounds else not number or time.monotonic() < end
    ):
        plan = draw(seed + number, kinds=kinds, per_lane=options.per_lane)
        report.begin(plan, number)
        logs = options.logs / f"seed-{plan.seed}"
        result = play(plan, mounts=mounts, hurry=options.hurry, test_checks=number == 0, logs=logs)
        report.add(result)
        number += 1
        if result.problems and options.stop:
            break
    return report.verdict()


def _stop_after_round(asked: list[int], number: int) -> None:
    """The first Ctrl-C ends the run after its round, the second ends it at once."""
    if asked:
        raise KeyboardInterrupt
    asked.append(number)
    sys.stderr.write("the run ends after this round\n")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tests.chaos",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("--minutes", type=float, default=3, help="begin rounds for so long (default 3)")
    add("--rounds", type=int, help="so many rounds instead")
    add("--seed", type=int, help="of the first round; each further round has the next number")
    add("--kinds", help=f"only these, separated by commas: {', '.join(KINDS)}")
    add("--per-lane", type=int, help="at most so many faults of each group: a shorter round")
    add("--hurry", action="store_true", help="fire the ticks of each minute at once")
    add("--stop", action="store_true", help="end after the first round with a problem")
    logs = Path(tempfile.gettempdir()) / "rag-ingest-chaos"
    add("--logs", type=Path, default=logs, help=f"where those of failed rounds go ({logs})")
    return parser


if __name__ == "__main__":
    sys.exit(main())
