"""The minimum for receiving an upload: parse the request and write each file to a folder.

It uses the same web server and the same parser as the service, in a separate process, and does
nothing else: no hash, no type detection, no database. So the time it takes for a request is that of
the upload itself. As a program, `receiver.py FOLDER` serves requests and prints its port.
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
    """The shortest time of several requests, each with all files."""
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
    """The target of a parser: one file for each part."""

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
    """An ASGI application; answers with the number of parts in the request."""

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
