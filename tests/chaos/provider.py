"""The embedding provider of a chaos run: it fails in every way that clients have met."""

import threading
from collections import Counter
from typing import Any, Final, Literal, get_args

from harness.patience import PATIENCE
from tests.acceptance.openai_server import EmbeddingServer

Mood = Literal["well", "429", "500", "hangs", "slow", "dimension", "garbage", "cut"]
MOODS: Final[dict[str, Mood]] = {mood: mood for mood in get_args(Mood)}

_GARBAGE: Final[tuple[Any, ...]] = (
    {"unexpected": True},
    [],
    {"object": "list", "data": "none", "model": "x"},
    {"object": "list", "data": [], "model": "x"},
    {"object": "list", "data": [{"index": 0, "embedding": [float("nan")] * 32}], "model": "x"},
)


class MoodyProvider(EmbeddingServer):
    def __init__(self) -> None:
        super().__init__()
        self.delay = 0.05
        self.served_badly: Counter[str] = Counter()
        """Requests by the mood that they met, apart from `well`."""
        self._mood: Mood = "well"
        self._changed = threading.Condition()

    def set(self, mood: Mood) -> None:
        with self._changed:
            self._mood = mood
            self._changed.notify_all()

    def close(self) -> None:
        self.set("well")
        super().close()

    def answer(self, body: Any, key: str) -> tuple[int, Any]:
        with self._changed:
            mood = self._mood
            if mood != "well":
                self.served_badly[mood] += 1
            if mood in ("hangs", "slow"):
                wait = PATIENCE if mood == "hangs" else 1.5
                self._changed.wait_for(lambda: self._mood != mood, wait)
        match mood:
            case "429":
                return 429, {"error": {"message": "too many requests", "type": "requests"}}
            case "500":
                return 500, {"error": {"message": "out of order", "type": "server_error"}}
            case "cut":
                raise ConnectionAbortedError
            case "garbage":
                return 200, _GARBAGE[self.served_badly[mood] % len(_GARBAGE)]
        status, answer = super().answer(body, key)
        if mood == "dimension" and status == 200:
            for item in answer["data"]:
                item["embedding"] = [0.5] * 7
        return status, answer
