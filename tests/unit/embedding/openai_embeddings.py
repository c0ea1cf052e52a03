"""An endpoint of OpenAI's embeddings that answers as the real one does."""

import base64
import json
from typing import Any

import httpx
import numpy as np

from ingest.model import EmbeddingModel

URL = "https://models.test/v1"
KEY = "sk-secret-key"
MODEL = EmbeddingModel(
    provider="openai",
    name="text-embedding-3-small",
    dimension=4,
    max_tokens=8191,
    tokenizer="cl100k_base",
)


def numbers(text: str) -> list[float]:
    """Some vector of length 1 that tells texts apart."""
    angle = float(text.split()[-1])
    return [float(np.cos(angle)), float(np.sin(angle)), 0.0, 0.0]


def encoded(text: str) -> str:
    return base64.b64encode(np.array(numbers(text), "<f4").tobytes()).decode()


def answer(*embeddings: Any) -> httpx.Response:
    data = [
        {"object": "embedding", "index": index, "embedding": embedding}
        for index, embedding in enumerate(embeddings)
    ]
    return httpx.Response(200, json={"object": "list", "data": data})


def echo(request: httpx.Request) -> httpx.Response:
    return answer(*(encoded(text) for text in sent(request)["input"]))


def sent(request: httpx.Request) -> dict[str, Any]:
    body: dict[str, Any] = json.loads(request.content)
    return body
