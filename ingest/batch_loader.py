"""Questions of many jobs to the database, asked together.

What comes while one query is under way waits for the next: alone, a caller waits for nobody; when
many ask at once, a few statements do for all of them.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Collection, Hashable, Mapping, Sequence
from typing import Final, Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

_ENOUGH_KEYS: Final = 1000


class BatchLoader(Generic[K, V]):
    """Answers each caller with what one query has found for all that were waiting."""

    def __init__(self, load: Callable[[Sequence[K]], Awaitable[Mapping[K, V]]]) -> None:
        """`load` gets distinct keys, and may leave out those that it does not find."""
        self._load = load
        self._waiting: deque[tuple[Collection[K], asyncio.Future[Mapping[K, V]]]] = deque()
        self._task: asyncio.Task[None] | None = None

    async def get(self, keys: Collection[K]) -> Mapping[K, V]:
        """What is stored now of `keys`, and maybe of others. Raises what the query raised."""
        answer: asyncio.Future[Mapping[K, V]] = asyncio.get_running_loop().create_future()
        self._waiting.append((keys, answer))
        if self._task is None:
            self._task = asyncio.create_task(self._run(), name="batch loader")
        return await answer

    async def _run(self) -> None:
        # A task of its own: that a caller is cancelled is no reason for the others to begin anew.
        try:
            while self._waiting:
                await self._answer()
        finally:
            self._task = None
            for _, answer in self._waiting:
                answer.cancel()
            self._waiting.clear()

    async def _answer(self) -> None:
        keys: dict[K, None] = {}
        answers: list[asyncio.Future[Mapping[K, V]]] = []
        while self._waiting and len(keys) < _ENOUGH_KEYS:
            asked, answer = self._waiting.popleft()
            if not answer.done():  # else its caller was cancelled
                keys |= dict.fromkeys(asked)
                answers.append(answer)
        try:
            found = await self._load(list(keys)) if keys else {}
        except Exception as error:
            for answer in answers:
                if not answer.done():
                    answer.set_exception(error)
        else:
            for answer in answers:
                if not answer.done():
                    answer.set_result(found)
        finally:
            for answer in answers:
                answer.cancel()  # of a loader that was cancelled; else they are done
