"""Clients of the live WebSocket: each follows one source, times its events, and checks them.

Run as `python -m benchmarks.live.clients` with the arguments as JSON on standard input. Prints
`ready` when every client has its snapshot, `done` when all sources are done, and then the totals as
JSON. Messages are only recorded on arrival and parsed afterwards: the clients share the machine.
"""

import asyncio
import json
import statistics
import sys
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import pairwise
from typing import Any, Final

import orjson
from websockets.asyncio.client import connect

_CONNECTING_AT_ONCE: Final = 32
_PATIENCE_SECONDS: Final = 300.0

Note = tuple[float, str]
"""When a message arrived, in seconds since 1970, and the message."""


async def follow(
    url: str,
    headers: Mapping[str, str],
    source: str,
    slots: asyncio.Semaphore,
    ready: asyncio.Event,
) -> list[Note]:
    """All messages about a source, from the snapshot to `done`. Sets `ready` after the first."""
    async with slots:
        socket = await connect(url, additional_headers=dict(headers), compression=None)
        await socket.send(json.dumps({"type": "subscribe", "knowledgeSourceIds": [source]}))
        first = await socket.recv()
    notes = [(time.time(), str(first))]
    ready.set()
    async with asyncio.timeout(_PATIENCE_SECONDS):
        async for message in socket:
            now = time.time()
            if message == '{"type":"ping"}':
                continue
            notes.append((now, str(message)))
            if '"type":"done"' in notes[-1][1]:
                break
    await socket.close()
    return notes


def judge(notes: Sequence[Note], *, after: int) -> list[tuple[float, float, int]]:
    """For each event after number `after`: its arrival time, latency in seconds, and characters.

    Raises an error if one is missing or came twice.
    """
    messages = [(came, len(text), orjson.loads(text)) for came, text in notes]
    for (_, _, before), (_, _, message) in pairwise(messages):
        assert message["seq"] == before["seq"] + 1, (before, message)
    return [
        (came, came - datetime.fromisoformat(message["at"]).timestamp(), length)
        for came, length, message in messages[1:]
        if message["seq"] > after
    ]


def summary(all_notes: Sequence[Sequence[Note]]) -> dict[str, Any]:
    """Totals over all clients; latencies in seconds."""
    snapshots = [orjson.loads(notes[0][1]) for notes in all_notes]
    began: defaultdict[str, int] = defaultdict(int)
    for first in snapshots:
        assert first["type"] == "snapshot", first
        source = first["knowledgeSourceId"]
        began[source] = max(began[source], first["seq"])
    events = [
        event
        for notes, first in zip(all_notes, snapshots, strict=True)
        for event in judge(notes, after=began[first["knowledgeSourceId"]])
    ]
    arrivals, latencies, lengths = zip(*events, strict=True)
    return {
        "deliveries": len(events),
        "characters": sum(lengths),
        "seconds": max(arrivals) - min(arrivals),
        "p50": statistics.median(latencies),
        "p99": statistics.quantiles(latencies, n=100)[98],
        "longest": max(latencies),
        "began": began,
    }


async def main(arguments: Any) -> None:
    slots = asyncio.Semaphore(_CONNECTING_AT_ONCE)
    followed = [(source, asyncio.Event()) for source in arguments["sources"]]
    async with asyncio.TaskGroup() as group:
        tasks = [
            group.create_task(follow(arguments["url"], arguments["headers"], source, slots, ready))
            for source, ready in followed
        ]
        for _, ready in followed:
            await ready.wait()
        print("ready", flush=True)
    print("done", flush=True)
    print(json.dumps(summary([task.result() for task in tasks])))


if __name__ == "__main__":
    asyncio.run(main(json.loads(sys.stdin.readline())))
