"""The limit: a server of the `websockets` library that only sends prepared frames.

Run as `python -m benchmarks.live.bare_server PORT FILE`. It implements only the part of the
protocol that the clients need: it answers a subscription with a snapshot. After a line on standard
input, it sends each event of FILE (`Script.as_json` in sources.py) at its stated time to all
clients that follow the source, by the library's `broadcast`.
"""

import asyncio
import json
import sys
from collections import defaultdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from websockets.asyncio.server import ServerConnection, broadcast, serve

_PING_SECONDS: Final = 20


class Server:
    def __init__(self, script: Any) -> None:
        self._script = script
        self._followers: defaultdict[str, set[ServerConnection]] = defaultdict(set)

    async def follow(self, socket: ServerConnection) -> None:
        [source] = json.loads(await socket.recv())["knowledgeSourceIds"]
        self._followers[source].add(socket)
        began = {"seq": self._script["began"][source], "knowledgeSourceId": source}
        await socket.send(json.dumps({"type": "snapshot", **began}))
        await socket.wait_closed()
        self._followers[source].discard(socket)

    async def replay(self) -> None:
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(None, sys.stdin.readline)
        started = loop.time()
        for seconds, source, before, after in self._script["events"]:
            if (pause := started + seconds - loop.time()) > 0:
                await asyncio.sleep(pause)
            broadcast(self._followers[source], f"{before}{datetime.now(UTC).isoformat()}{after}")


async def main(port: int, script: Any) -> None:
    server = Server(script)
    async with serve(
        server.follow, "127.0.0.1", port, compression=None, ping_interval=_PING_SECONDS
    ):
        print("ready", flush=True)
        await server.replay()
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), json.loads(Path(sys.argv[2]).read_bytes())))
