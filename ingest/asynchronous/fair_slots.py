"""Slots that are shared fairly by cost: a free one goes to the waiting owner that uses them least.

First-come, first-served would let one owner with forty slow requests delay everybody else's. Here
each owner has a queue of its own. The next slot goes to the owner that holds the fewest slots;
among equals, to the one that has held slots for the shortest time recently; then to the first that
came.

A running request is never interrupted. So a few slots are a `reserve` beyond the usual number, only
for owners that hold few slots and have used at most half of what every other holder has. With one
owner, or owners of equal use, the reserve stays unused.

A usual slot is kept free only where slots share something else, as searches share the processors of
the database: there, `beside_others` limits the slots of an owner while others ask too.
"""

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Hashable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import count
from typing import Final, Generic, TypeVar

Owner = TypeVar("Owner", bound=Hashable)

_HALF_LIFE_SECONDS: Final = 30.0
# Shorter use counts as none: order of arrival then decides, so that nobody waits for ever while new
# owners arrive.
_NEGLIGIBLE_SECONDS: Final = 0.05
# Use grows while requests run, so who may take the reserve changes without any event.
_RECHECK_SECONDS: Final = 0.05
# An owner that has asked for nothing for so long is not considered by `beside_others`.
_ACTIVE_SECONDS: Final = 10.0


@dataclass(slots=True, eq=False)
class Turn(Generic[Owner]):
    """A request for a slot."""

    owner: Owner
    number: int
    """Order of arrival."""


@dataclass(slots=True)
class _Account(Generic[Owner]):
    waiting: deque[Turn[Owner]] = field(default_factory=deque)
    running: dict[Turn[Owner], float] = field(default_factory=dict)
    """With the time of the grant."""
    used: float = 0.0
    """Slot seconds of ended requests, as of `used_at`; halved every half-life."""
    used_at: float = 0.0

    def ended_use(self, now: float) -> float:
        decayed: float = self.used * 0.5 ** ((now - self.used_at) / _HALF_LIFE_SECONDS)
        return decayed

    def use(self, now: float) -> float:
        """Recent slot seconds, running requests included."""
        return self.ended_use(now) + sum(now - since for since in self.running.values())


class SlotScheduler(Generic[Owner]):
    """Decides who gets a slot. Pure but for its clock (seconds, monotonic)."""

    def __init__(
        self,
        slots: int,
        *,
        reserve: int = 0,
        beside_others: int | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._slots = slots
        self._reserve = reserve
        self._beside_others = beside_others or slots + reserve
        self._clock = clock
        self._accounts: dict[Owner, _Account[Owner]] = {}
        self._holders: set[Owner] = set()
        self._numbers = count()
        self._busy = 0
        self._newest: Owner | None = None
        """The owner of the newest request."""
        self._others_at = float("-inf")
        """When the newest request of another owner came."""
        self._newest_at = float("-inf")
        self._forget_at = clock() + _HALF_LIFE_SECONDS

    @property
    def may_grant_later(self) -> bool:
        """Whether somebody waits who might get a reserved slot without another event."""
        return self._busy < self._slots + self._reserve and any(
            account.waiting and self._holders != {owner}
            for owner, account in self._accounts.items()
        )

    def waiting(self, owner: Owner) -> int:
        """Requests of the owner that wait."""
        account = self._accounts.get(owner)
        return 0 if account is None else len(account.waiting)

    def enter(self, owner: Owner) -> Turn[Owner]:
        """Queue a request; `grant` says when it may run."""
        turn = Turn(owner, next(self._numbers))
        if owner != self._newest:
            self._newest, self._others_at = owner, self._newest_at
        self._newest_at = self._clock()
        account = self._accounts.get(owner)
        if account is None:
            account = self._accounts[owner] = _Account(used_at=self._clock())
        account.waiting.append(turn)
        return turn

    def leave(self, turn: Turn[Owner]) -> None:
        """End a request: free its slot, or take it out of the queue."""
        account = self._accounts[turn.owner]
        since = account.running.pop(turn, None)
        if since is None:
            account.waiting.remove(turn)
        else:
            now = self._clock()
            account.used = account.ended_use(now) + now - since
            account.used_at = now
            self._busy -= 1
            if not account.running:
                self._holders.discard(turn.owner)
        self._forget_idle()

    def grant(self) -> list[Turn[Owner]]:
        """Give out all slots that may be given now, in order."""
        granted = []
        while (account := self._next()) is not None:
            turn = account.waiting.popleft()
            account.running[turn] = self._clock()
            self._holders.add(turn.owner)
            self._busy += 1
            granted.append(turn)
        return granted

    def _next(self) -> _Account[Owner] | None:
        now = self._clock()
        able = (
            account
            for owner, account in self._accounts.items()
            if account.waiting and len(account.running) < self._most(owner, now)
        )
        if self._busy >= self._slots:
            able = (account for account in able if self._is_light(account, now))
        return min(able, key=lambda account: self._rank(account, now), default=None)

    def _most(self, owner: Owner, now: float) -> int:
        """Slots that the owner may hold."""
        others_at = self._others_at if owner == self._newest else self._newest_at
        is_alone = now - others_at > _ACTIVE_SECONDS and self._holders <= {owner}
        return self._slots + self._reserve if is_alone else self._beside_others

    def _rank(self, account: _Account[Owner], now: float) -> tuple[int, float, int]:
        use = account.use(now)
        recent = use if use >= _NEGLIGIBLE_SECONDS else 0.0
        return len(account.running), recent, account.waiting[0].number

    def _is_light(self, account: _Account[Owner], now: float) -> bool:
        """Whether it may take a reserved slot; the last ones are for those that hold none."""
        if len(account.running) >= self._slots + self._reserve - self._busy:
            return False
        use = 2 * account.use(now)
        return all(
            use <= other.use(now)
            for other in map(self._accounts.__getitem__, self._holders)
            if other is not account
        )

    def _forget_idle(self) -> None:
        """Drop owners whose use has decayed."""
        now = self._clock()
        if now < self._forget_at:
            return
        self._forget_at = now + _HALF_LIFE_SECONDS
        for owner, account in list(self._accounts.items()):
            is_idle = not account.waiting and not account.running
            if is_idle and account.use(now) < _NEGLIGIBLE_SECONDS:
                del self._accounts[owner]


class NoSlot(Exception):
    """No slot came free in time."""


class FairSlots(Generic[Owner]):
    """An asyncio semaphore whose slots are shared fairly among owners."""

    def __init__(self, slots: int, *, reserve: int = 0, beside_others: int | None = None) -> None:
        self._scheduler = SlotScheduler[Owner](slots, reserve=reserve, beside_others=beside_others)
        self._futures: dict[Turn[Owner], asyncio.Future[None]] = {}
        self._recheck: asyncio.TimerHandle | None = None

    def waiting(self, owner: Owner) -> int:
        """Requests of the owner that wait."""
        return self._scheduler.waiting(owner)

    @asynccontextmanager
    async def hold(self, owner: Owner, *, within: timedelta | None = None) -> AsyncIterator[None]:
        """Wait for a slot, and hold it for the block. Raises NoSlot if none is free `within`."""
        turn = self._scheduler.enter(owner)
        self._futures[turn] = future = asyncio.get_running_loop().create_future()
        try:
            self._grant()
            await _done(future, within)
            yield
        finally:
            self._futures.pop(turn, None)
            self._scheduler.leave(turn)
            self._grant()

    def _grant(self) -> None:
        for turn in self._scheduler.grant():
            future = self._futures[turn]
            if not future.done():  # a cancelled one leaves next
                future.set_result(None)
        if self._recheck is None and self._scheduler.may_grant_later:
            loop = asyncio.get_running_loop()
            self._recheck = loop.call_later(_RECHECK_SECONDS, self._check_again)

    def _check_again(self) -> None:
        self._recheck = None
        self._grant()


async def _done(future: asyncio.Future[None], within: timedelta | None) -> None:
    try:
        async with asyncio.timeout(None if within is None else within.total_seconds()):
            await future
    except TimeoutError:
        raise NoSlot from None
