"""The least that receiving an upload takes: parse the request, write each file to a folder.

The same web server and the same parser as the service has, in a process of its own, and nothing
else: no hash, no look at the content, no database. What it takes for a request is the upload
itself. As a program it serves: `receiver.py FOLDER` prints its port.
"""

import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import httpx
import uvicorn
from python_multipart.multipart import MultipartParser, parse_options_header

_REQUESTS = 3


def seconds_to_receive(files: Sequence[tuple[str, bytes]]) -> float:
    """The quickest of some requests that hold all the files."""
    with (
        tempfile.TemporaryDirectory() as folder,
        subprocess.Popen(
            [sys.executable, __file__, folder], stdout=subprocess.PIPE, text=True
        ) as process,
    ):
        try:
            assert process.stdout is not None
            url = f"http://127.0.0.1:{int(process.stdout.readline())}/"
            return min(_send(url, files) for _ in range(_REQUESTS))
        finally:
            process.kill()


def _send(url: str, files: Sequence[tuple[str, bytes]]) -> float:
    started = time.perf_counter()
    answer = httpx.post(url, files=[("files", file) for file in files], timeout=120)
    taken = time.perf_counter() - started
    assert answer.json() == len(files)
    return taken


class _Files:
    """What a parser calls: one file for each part."""

    def __init__(self, folder: Path) -> None:
        self.count = 0
        self._folder = folder
        self._file: BinaryIO | None = None

    def begin(self) -> None:
        self._file = (self._folder / str(self.count)).open("wb")

    def data(self, data: bytes, start: int, end: int) -> None:
        assert self._file is not None
        self._file.write(data[start:end])

    def end(self) -> None:
        assert self._file is not None
        self._file.close()
        self.count += 1


class Receiver:
    """An ASGI application; answers how many parts a request had."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    async def __call__(
        self,
        scope: dict[str, Any],
        receive: Callable[[], Awaitable[dict[str, Any]]],
        send: Callable[[dict[str, Any]], Awaitable[None]],
    ) -> None:
        headers = dict(scope["headers"])
        _, options = parse_options_header(headers[b"content-type"])
        files = _Files(self._folder)
        parser = MultipartParser(
            options[b"boundary"],
            {"on_part_begin": files.begin, "on_part_data": files.data, "on_part_end": files.end},
        )
        more = True
        while more:
            message = await receive()
            parser.write(message.get("body", b""))
            more = message.get("more_body", False)
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": str(files.count).encode()})


def main() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        print(listener.getsockname()[1], flush=True)
        config = uvicorn.Config(
            Receiver(Path(sys.argv[1])),
            log_level="warning",
            lifespan="off",
        )
        uvicorn.Server(config).run(sockets=[listener])


if __name__ == "__main__":
    main()
