"""Follow sources live: the WebSocket /api/ws.

The client sends JSON objects:
  {"type": "subscribe", "knowledgeSourceIds": [...] or "all", "after": {"<source>": seq}}
  {"type": "unsubscribe", "knowledgeSourceIds": [...] or "all"}
Subscriptions add up. The server sends, for each source, one `snapshot` and then its events
(`progress`, `job`, `source`, `done`), each with `knowledgeSourceId` and `seq`.

The rule of `seq`: after a message with `seq` n, a snapshot or an event, the next event of that
source is n + 1. Without `after` a snapshot has the number of the last event that its state
reflects. With `after` it has the client's own number: events n + 1 and later are replayed, while
the state is already that of `latestSeq`. (The number may differ from the one in `after`: a number
from the future is reduced, and events that are no longer stored are skipped.) So a client stores
the `seq` of the last message per source, sends them in `after` when it reconnects, and sees every
event once and in order.

`all` sends every unfinished source, the newest 1,000 finished ones and those in `after`. Every
other source of the application, including new ones, follows as soon as it has an event.

`error` messages (`not_found` with the source, `invalid_message`, `too_many_subscriptions`,
`forbidden`: a key that is limited to collections subscribes by id) leave the connection open. A
`ping` comes every 20 seconds besides the protocol's own; it needs no reply. Close codes: 4400 too
many invalid messages; 4401 no valid key or ticket, or the key was revoked (checked every 20
seconds, like what a limited key may see); 4403 not allowed; 4408 the client does not read:
reconnect with `after`; 1013 the database does not respond: likewise. A handshake over the rate
limit of the key, or over the number of sockets of the key or its application, is answered with 429
(messages are not counted), one with an unknown query parameter with 422.
"""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from typing import Final, cast
from uuid import UUID

import psycopg
import structlog
from fastapi import APIRouter, WebSocket
from fastapi.requests import HTTPConnection
from pydantic import ValidationError
from starlette.websockets import WebSocketDisconnect

from api.authentication import Key, authenticate, runtime_of, until_revoked, visible_sources
from api.live import messages
from api.live.client_queue import Message, QueueClosed
from api.live.hub import Hub
from api.live.messages import COMMAND, MAX_SUBSCRIPTION, Command
from api.live.subscriptions import Subscriber
from api.middleware.in_use import in_use_of
from api.middleware.rate_limits import rate_limit_response
from api.problems import RateLimited, Unauthorized, shorten, validation_problem
from api.schema.query import TICKET, unknown_parameters
from ingest.asynchronous.tasks import cancel_all
from ingest.errors import IngestError, QuotaExceeded
from ingest.postgres.database import transaction
from ingest.store.limits import usage

log = structlog.get_logger()
router = APIRouter()

INVALID, NO_KEY, FORBIDDEN, DOES_NOT_READ, TRY_AGAIN = 4400, 4401, 4403, 4408, 1013

MAX_MESSAGE_BYTES: Final = 2 * 1024 * 1024
"""Bytes. The largest subscription, with `after` for each source, takes half of it."""

_PING_SECONDS: Final = 20.0
# A client whose socket buffers stay full for this long does not read.
_SEND_SECONDS: Final = 10.0
# Time for the client to drain the buffers and receive the close code.
_CLOSE_SECONDS: Final = 60.0
_MESSAGES_PER_YIELD: Final = 50
_MAX_INVALID_MESSAGES: Final = 20
# Characters shown of an error's location and message.
_MAX_LOCATION_CHARACTERS: Final = 60
_MAX_MESSAGE_CHARACTERS: Final = 140
# Each of them may have the maximum size.
_MAX_QUEUED_COMMANDS: Final = 8


def hub_of(connection: HTTPConnection) -> Hub:
    """The hub that the application's lifespan started."""
    return cast(Hub, connection.app.state.hub)


@router.websocket("/api/ws")
async def live(websocket: WebSocket) -> None:
    """Events of knowledge sources as they happen; see the module."""
    wrong = unknown_parameters(websocket, {TICKET})
    if wrong:
        await websocket.send_denial_response(validation_problem(wrong))
        return
    in_use = in_use_of(websocket)
    try:
        key = await authenticate(websocket, allow_ticket=True)
        async with transaction(runtime_of(websocket).pool) as conn:
            settings = runtime_of(websocket).settings
            room = await usage.room(conn, key.application_id, settings.quotas)
        in_use.check("sockets", key, room.quotas)
    except (RateLimited, QuotaExceeded) as error:
        await websocket.send_denial_response(rate_limit_response(error))
        return
    except IngestError as error:
        await websocket.close(NO_KEY if isinstance(error, Unauthorized) else FORBIDDEN, str(error))
        return
    with in_use.counted("sockets", key):
        await _serve(websocket, key)


async def _serve(websocket: WebSocket, key: Key) -> None:
    await websocket.accept()
    hub = hub_of(websocket)
    subscriber = Subscriber(application_id=key.application_id)
    try:
        code = await Session(websocket, hub, subscriber, key).run()
    finally:
        hub.drop(subscriber)
    if code is not None:
        with suppress(TimeoutError, RuntimeError, WebSocketDisconnect):
            async with asyncio.timeout(_CLOSE_SECONDS):
                await websocket.close(code)


class Session:
    """One accepted socket: receives, executes commands and sends at the same time."""

    def __init__(self, websocket: WebSocket, hub: Hub, subscriber: Subscriber, key: Key) -> None:
        self._websocket = websocket
        self._hub = hub
        self._subscriber = subscriber
        self._key = key
        self._commands: asyncio.Queue[str] = asyncio.Queue(_MAX_QUEUED_COMMANDS)
        self._sending_since: float | None = None
        """By the loop's clock; None between messages."""

    async def run(self) -> int | None:
        """Run until one side ends it; returns the close code, None if the client has gone."""
        tasks = [
            asyncio.create_task(self._receive()),
            asyncio.create_task(self._handle_commands()),
            asyncio.create_task(self._send()),
            asyncio.create_task(self._watch_sending()),
            asyncio.create_task(self._ping()),
            asyncio.create_task(self._watch_key()),
            asyncio.create_task(self._watch_visibility()),
        ]
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            return done.pop().result()
        finally:
            await cancel_all(*tasks)

    async def _receive(self) -> int | None:
        # Always reading, even during a long replay: the protocol's pongs arrive here too.
        while True:
            received = await self._websocket.receive()
            if received["type"] == "websocket.disconnect":
                return None
            await self._commands.put(received.get("text") or "")

    async def _watch_key(self) -> int:
        pool = runtime_of(self._websocket).pool.of(self._key.application_id)
        await until_revoked(pool, self._key, check_seconds=_PING_SECONDS)
        return NO_KEY

    async def _watch_visibility(self) -> None:
        """End the subscriptions of sources that have left the collections of a limited key."""
        while True:
            await asyncio.sleep(_PING_SECONDS)
            if self._key.collection_ids is None:
                continue
            ids = tuple(self._subscriber.subscribed_ids)
            try:
                await self._without_invisible(ids)
            except psycopg.Error as error:
                # Without a database there are no events either.
                log.warning("live.visibility_not_checked", error=type(error).__name__)

    async def _without_invisible(self, ids: Sequence[UUID]) -> Sequence[UUID]:
        """Those that the key may see; the others are unsubscribed and reported as not found."""
        visible = await visible_sources(runtime_of(self._websocket).pool, self._key, ids)
        gone = [id for id in ids if id not in visible]
        self._hub.unsubscribe(self._subscriber, gone)
        for id in gone:
            await self._reply(messages.not_found(id))
        return [id for id in ids if id in visible]

    async def _handle_commands(self) -> int | None:
        invalid = 0
        while True:
            text = await self._commands.get()
            try:
                command = COMMAND.validate_json(text)
            except ValidationError as error:
                invalid += 1
                if invalid > _MAX_INVALID_MESSAGES:
                    return INVALID
                await self._reply(messages.error("invalid_message", _describe_error(error)))
                continue
            try:
                await self._execute(command)
            except QueueClosed:
                return DOES_NOT_READ
            except psycopg.Error as error:
                log.warning("live.failed", error=type(error).__name__)
                return TRY_AGAIN

    async def _execute(self, command: Command) -> None:
        match command:
            case messages.Subscribe():
                await self._subscribe(command)
            case messages.Unsubscribe(knowledge_source_ids="all"):
                self._hub.unsubscribe_all(self._subscriber)
            case messages.Unsubscribe(knowledge_source_ids=ids) if ids != "all":
                self._hub.unsubscribe(self._subscriber, ids)
            case messages.Ping():
                await self._reply(messages.PONG)

    async def _subscribe(self, command: messages.Subscribe) -> None:
        subscriber = self._subscriber
        ids = command.knowledge_source_ids
        if ids == "all":
            if self._key.collection_ids is not None:
                detail = "this key is limited to collections; subscribe to sources by id"
                await self._reply(messages.error("forbidden", detail))
                return
            await self._hub.follow(subscriber, command.after)
            return
        subscribed_ids = subscriber.subscribed_ids.union(ids)
        if len(subscribed_ids) > MAX_SUBSCRIPTION:
            detail = f"a connection can follow at most {MAX_SUBSCRIPTION} sources by id"
            await self._reply(messages.error("too_many_subscriptions", detail))
            return
        visible = await self._without_invisible(list(dict.fromkeys(ids)))
        subscriber.subscribed_ids = subscriber.subscribed_ids.union(visible)
        await self._hub.subscribe(subscriber, visible, command.after)

    async def _reply(self, message: Message) -> None:
        with suppress(QueueClosed):  # the sender ends the connection
            await self._subscriber.queue.put(message)

    async def _ping(self) -> int:
        while True:
            await asyncio.sleep(_PING_SECONDS)
            if not self._subscriber.queue.offer(messages.PING):
                return DOES_NOT_READ

    async def _send(self) -> int | None:
        # No timer per message and client: timers would cost more than everything else here.
        loop = asyncio.get_running_loop()
        sent = 0
        try:
            while True:
                message = await self._subscriber.queue.take()
                self._sending_since = loop.time()
                await self._websocket.send_text(message.text)
                self._sending_since = None
                sent += 1
                if sent % _MESSAGES_PER_YIELD == 0:
                    await asyncio.sleep(0)
        except QueueClosed:
            return DOES_NOT_READ
        except (WebSocketDisconnect, RuntimeError):
            # RuntimeError if the server has closed the socket, as after too large a message.
            return None

    async def _watch_sending(self) -> int:
        """End when a message has been in transit for too long."""
        loop = asyncio.get_running_loop()
        waited = 0.0
        while waited < _SEND_SECONDS:
            await asyncio.sleep(_SEND_SECONDS - waited)
            since = self._sending_since
            waited = 0.0 if since is None else loop.time() - since
        return DOES_NOT_READ


def _describe_error(error: ValidationError) -> str:
    """The first error, shortened: its location and message may contain huge input."""
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    where = shorten(".".join(str(part) for part in first["loc"]), _MAX_LOCATION_CHARACTERS)
    what = shorten(first["msg"], _MAX_MESSAGE_CHARACTERS)
    return f"{where}: {what}" if where else what
