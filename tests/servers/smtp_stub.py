"""A mail server that takes letters, or answers a step with what a test wants."""

import asyncio
import base64
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from email.message import EmailMessage

from ingest.asynchronous.tasks import cancel_all


@dataclass(slots=True, kw_only=True)
class SmtpStub:
    answers: Mapping[str, str]
    """By command: instead of the usual answer."""
    port: int = 0
    letters: list[EmailMessage] = field(default_factory=list)
    envelopes: list[tuple[str, str]] = field(default_factory=list)
    """Sender and recipient of each letter."""
    logins: list[str] = field(default_factory=list)
    """`user:password`"""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await self._talk(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass  # the client has gone
        finally:
            writer.close()

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        sender = recipient = ""
        writer.write(b"220 mail.test ESMTP\r\n")
        while line := (await reader.readline()).decode().strip():
            command = line.split(" ")[0].upper()
            argument = line.partition(":")[2].partition(" ")[0].strip("<>")
            match command:
                case "MAIL":
                    sender = argument
                case "RCPT":
                    recipient = argument
                case "AUTH":
                    decoded = base64.b64decode(line.split(" ")[2]).decode()
                    self.logins.append(decoded.strip("\0").replace("\0", ":"))
            answer = self.answers.get(command, _USUAL.get(command, "250 fine"))
            writer.write(f"{answer}\r\n".encode())
            if command == "QUIT":
                break
            if command == "DATA" and answer.startswith("354"):
                self._take(await reader.readuntil(b"\r\n.\r\n"), sender, recipient)
                writer.write(b"250 taken\r\n")

    def _take(self, data: bytes, sender: str, recipient: str) -> None:
        letter = message_from_bytes(data.removesuffix(b".\r\n"), policy=policy.default)
        assert isinstance(letter, EmailMessage)
        self.letters.append(letter)
        self.envelopes.append((sender, recipient))


_USUAL = {
    "EHLO": "250-mail.test\r\n250 AUTH PLAIN",
    "AUTH": "235 welcome",
    "DATA": "354 go on",
    "QUIT": "221 bye",
}


@asynccontextmanager
async def smtp_stub(**answers: str) -> AsyncIterator[SmtpStub]:
    stub = SmtpStub(answers=answers)
    tasks: set[asyncio.Task[None]] = set()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.ensure_future(stub.serve(reader, writer))
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    server = await asyncio.start_server(accept, "127.0.0.1", 0)
    stub.port = server.sockets[0].getsockname()[1]
    try:
        yield stub
    finally:
        server.close()
        await cancel_all(*tasks)
        await server.wait_closed()
