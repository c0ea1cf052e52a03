"""What a run prints: each round as it ends, then the sums and the verdict."""

from collections import Counter
from typing import Final

from tests.chaos.plan import KINDS, Plan
from tests.chaos.round import Result

_VERDICT: Final = ("lost", "doubled", "leaked", "hung")
_MUST_HAPPEN: Final = (
    "jobs tried again",
    "walls asked",
    "events followed",
    "Firecrawl events that came again",
    "webhooks taken",
)


class Report:
    def __init__(self) -> None:
        self._results: list[Result] = []

    def begin(self, plan: Plan, number: int) -> None:
        print(
            f"round {number + 1}: seed {plan.seed}, {plan.workers} workers, "
            f"{plan.max_attempts} attempts, {len(plan.faults)} faults",
            flush=True,
        )

    def add(self, result: Result) -> None:
        self._results.append(result)
        print(
            f"  {result.seconds:.0f} s, at rest {result.settled_after:.0f} s after the last fault; "
            f"{result.done.total()} changes, {result.end['reads']} reads, "
            f"{result.injected.total()} faults, {result.effective.total()} of them met the service"
        )
        for kind, what in result.problems[:20]:
            print(f"  {kind}: {what[:1500]}")
        if result.problems:
            print(f"  again: python -m tests.chaos --seed {result.seed} --rounds 1")
            if result.logs is not None:
                print(f"  logs: {result.logs}")
        print("", end="", flush=True)

    def verdict(self) -> int:
        """Print the sums; the exit code."""
        injected, effective, end, answers, done, found = (Counter[str]() for _ in range(6))
        unavailable: set[str] = set()
        for result in self._results:
            injected += result.injected
            effective += result.effective
            end += result.end
            answers += result.answers
            done += result.done
            unavailable |= result.unavailable
            found += Counter(kind if kind in _VERDICT else "other" for kind, _ in result.problems)
        print(f"\n{'fault':<30}{'injected':>10}{'met the service':>18}")
        for kind in KINDS:
            if kind in injected:
                print(f"{kind:<30}{injected[kind]:>10}{effective[kind]:>18}")
        for title, counts in (("done", done), ("answers", answers), ("in the end", end)):
            said = ", ".join(f"{name} {count}" for name, count in sorted(counts.items()))
            print(f"{title}: {said}")
        if unavailable:
            print(f"not possible on this machine: {', '.join(sorted(unavailable))}")
        idle = self._without_effect(injected, effective, end)
        for what in idle:
            print(f"proves nothing: {what}")
        failed = [result.seed for result in self._results if result.problems]
        print(f"{len(self._results)} rounds; seeds that failed: {failed or 'none'}")
        print("verdict: " + ", ".join(f"{found[kind]} {kind}" for kind in (*_VERDICT, "other")))
        return 1 if failed or idle else 0

    @staticmethod
    def _without_effect(
        injected: Counter[str], effective: Counter[str], end: Counter[str]
    ) -> list[str]:
        """Why the run could have passed without anything having happened."""
        idle = [f"{kind} never met the service" for kind in injected if not effective[kind]]
        if not injected:
            idle.append("no fault was injected")
        return idle + [f"{what}: 0" for what in _MUST_HAPPEN if not end[what]]
