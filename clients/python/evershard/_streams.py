"""What is read message by message: reads and subscriptions, which go on where they were when a connection breaks."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import logging
import time
from collections.abc import AsyncIterator, Callable, Iterator
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import grpc
import grpc.aio

from . import _wire
from ._doors import Door
from ._errors import EvershardError, ForkChangedError, OverloadedError, TimeoutError, UnavailableError
from ._history import FORK
from ._reading import ReadCursor
from ._recorded import FeedItem, RecordedEvent
from ._retry import Backoff, Patience, worth_retrying
from ._values import Query
from .v1 import service_pb2

if TYPE_CHECKING:
    from .aio import Client

_AWAY_AFTER_S = 1.0  # a shorter break is nobody's business
_log = logging.getLogger("evershard")


def ms_of(seconds: float | None) -> int:
    return 2**32 - 1 if seconds is None else min(int(seconds * 1000), 2**32 - 1)


def is_cancelled() -> bool:
    """The task itself, not only a call it waits for."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _looked_at(reading: asyncio.Future[Any]) -> None:
    if not reading.cancelled():
        reading.exception()  # whoever left early does not want to hear of it


class _Stream:
    """A call whose next message is waited for with an end, and that can be closed from another task."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._call: Any = None
        self._door: Door | None = None  # where the call goes
        self._reading: asyncio.Future[Any] | None = None  # the call's next message
        self._closed = asyncio.Event()

    async def close(self) -> None:
        """Ends the call; whoever waits for its next message is told that nothing follows."""
        self._closed.set()
        self._drop()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    def __del__(self) -> None:
        with contextlib.suppress(Exception):
            self._drop()

    async def _open(self) -> Any:
        """The stubs of the door that works now."""
        self._door = await self._client._doors.pick()
        return self._door.events

    def _came(self, watermark: int) -> None:
        if self._door is not None:
            self._client._doors.worked(self._door)
        self._client._doors.see(watermark)

    def _failed(self) -> None:
        """The next try goes to another door, where there is one."""
        if self._door is not None:
            self._client._doors.failed(self._door)
        self._door = None

    def _failure(self, failed: grpc.aio.AioRpcError) -> EvershardError:
        error = _wire.failure(failed)
        return error if self._door is None else self._client._doors.fault(self._door, error)

    def _drop(self) -> None:
        if self._call is not None:
            self._call.cancel()
        self._call = self._reading = None

    @property
    def _ended(self) -> bool:
        return self._closed.is_set() or self._client._closed

    async def _next_message(self, timeout: float | None) -> Any:
        """None: the stream has ended. Errors: EvershardError, builtins.TimeoutError. Cancelled, it can be asked again: the read goes on."""
        if self._reading is None:
            self._reading = asyncio.ensure_future(self._call.read())
            self._reading.add_done_callback(_looked_at)
        reading = self._reading
        await asyncio.wait({reading}, timeout=timeout)
        if not reading.done():
            raise asyncio.TimeoutError
        self._reading = None
        try:
            message = reading.result()
        except grpc.aio.AioRpcError as failed:
            raise self._failure(failed) from None
        except (grpc.aio.UsageError, asyncio.CancelledError):
            raise UnavailableError("the call was cancelled") from None  # by close(), here or of the client
        if message is not grpc.aio.EOF:
            return message
        call = self._call
        code = grpc.StatusCode.OK if call is None else await call.code()
        if code != grpc.StatusCode.OK:
            raise self._failure(
                grpc.aio.AioRpcError(
                    code,
                    await call.initial_metadata(),
                    await call.trailing_metadata(),
                    await call.details(),
                )
            )
        return None

    async def _pause(self, seconds: float) -> None:
        """Or until it is closed."""
        try:
            async with asyncio.timeout(seconds):
                await self._closed.wait()
        except asyncio.TimeoutError:
            pass


class EventReader(_Stream):
    """Iterates over events, a page fetched at a time; `async for`, or next_page(). Leaving early: close(), or `async with`.

    Goes on behind the last event when a connection breaks, within the time-out.
    """

    def __init__(self, client: Client, cursor: ReadCursor, timeout: float | None) -> None:
        super().__init__(client)
        self._cursor = cursor
        self._timeout = timeout
        self._page: list[RecordedEvent] = []  # backwards
        self._fork = ""  # of the first page

    @property
    def watermark(self) -> int | None:
        """What the whole read is bounded by; None before its first page."""
        return self._cursor.watermark

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> RecordedEvent:
        if not self._page:
            page = await self.next_page()
            if not page:
                raise StopAsyncIteration
            self._page = list(reversed(page))
        return self._page.pop()

    def _hears(self, metadata: Any) -> None:
        """All pages of a read are of one fork, also at one address, where another one may be served from one page to the next."""
        fork = next((value for key, value in metadata or () if key == FORK), "")
        if fork and self._fork and fork != self._fork:
            raise ForkChangedError(
                f"the store is fork {fork} now, and the read began on fork {self._fork}: the store was restored, or another one is served here"
            )
        self._fork = fork or self._fork
        self._client._doors.history.hear(metadata)

    async def next_page(self) -> tuple[RecordedEvent, ...]:
        """Events that follow; none: there are no more."""
        until = None if self._timeout is None else time.monotonic() + self._timeout
        backoff = Backoff()
        patience = Patience(self._client._unavailable_timeout, time.monotonic())
        before: EvershardError | None = None
        while not self._cursor.complete and not self._ended:
            left = None if until is None else max(until - time.monotonic(), 0.0)
            try:
                if self._call is None:
                    if self._client._read_own_writes:
                        self._cursor.begins_behind(self._client.seen)
                    events_of = await self._open()
                    self._call = events_of.Read(
                        self._cursor.request(ms_of(self._client._doors.wait_at_one(left))),
                        metadata=self._client._metadata,
                    )
                message = await self._next_message(None if left is None else left + 0.5)
                if message is None:
                    raise UnavailableError("the read ended before it was complete")
                self._hears(await self._call.initial_metadata())
                self._came(message.watermark)
                events = self._cursor.took(message)
                if events:
                    return events
            except EvershardError as failed:
                self._drop()
                wait = backoff.next(failed)
                if self._ended:
                    break
                # One that has not come so far in its time is left alone, where there are others.
                behind = (
                    self._cursor.waits
                    and self._client._doors.several
                    and isinstance(failed, TimeoutError)
                    and failed.told_by_server
                )
                again = behind or (worth_retrying(failed) and patience.bears(failed, time.monotonic()))
                if again and not isinstance(failed, OverloadedError):
                    self._failed()
                if not again or (until is not None and time.monotonic() + wait >= until):
                    raise
                before = failed
                await self._pause(wait)
            except asyncio.TimeoutError:
                door = self._door
                self._drop()
                if before is not None:
                    raise before from None  # why it took so long says more
                if door is not None and door.channel.get_state() != grpc.ChannelConnectivity.READY:
                    raise UnavailableError(f"{_wire.NO_CONNECTION}{door.address} in time") from None
                raise TimeoutError(f"no page in {self._timeout:g} s") from None
            except asyncio.CancelledError:
                self._drop()
                raise
        self._drop()
        return ()


class Subscription(_Stream):
    """Iterates over FeedItems until it is closed. `watermark` is that of the last item: what a later subscription goes on after. `away`: why the
    server is, while it has been for a second; None: it is there."""

    def __init__(
        self,
        client: Client,
        query: Query,
        after: int | None,
        heartbeat: float | None,
        page_events_max: int | None,
        retry_for: float | None,
        on_away: Callable[[EvershardError | None], None] | None = None,
    ) -> None:
        super().__init__(client)
        self._query = _wire.query(query)
        self._after = after
        self._heartbeat_ms = 0 if heartbeat is None else int(heartbeat * 1000)
        self._page_events_max = page_events_max
        self._retry_for = retry_for
        self._backoff = Backoff()
        self._broken_since: float | None = None
        self._on_away = on_away
        self._fork = ""
        self._led = ""  # whose order the answers follow, as they said last
        self.away: EvershardError | None = None
        self.reconnects = 0
        self._rest: tuple[FeedItem, int] | None = None  # of an item that was left in its middle: from which event on
        self._request(after)

    @property
    def watermark(self) -> int | None:
        if self._rest is not None:
            item, begin = self._rest
            return item.events[begin - 1].position
        return self._after

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> FeedItem:
        if self._rest is not None:
            (item, begin), self._rest = self._rest, None
            return dataclasses.replace(item, events=item.events[begin:])
        while not self._ended:
            try:
                found = await self._next_item()
                self._backoff.reset()
                self._broken_since = None
                self._told_away(None)
                if found is not None:
                    return found
            except EvershardError as failed:
                self._drop()
                if self._ended:
                    break
                if worth_retrying(failed) and not isinstance(failed, OverloadedError):
                    self._failed()
                await self._broken(failed)
        self._drop()
        raise StopAsyncIteration

    async def events(self) -> AsyncIterator[RecordedEvent]:
        """The events alone. Left and begun again, it goes on behind the last one."""
        async for item in self:
            for event in self._each(item):
                yield event

    def _each(self, item: FeedItem) -> Iterator[RecordedEvent]:
        """Its events, one by one; what is not taken of them is the next item."""
        for n, event in enumerate(item.events, 1):
            self._rest = (item, n) if n < len(item.events) else None
            yield event

    async def _next_item(self) -> FeedItem | None:
        stall = 3 * self._heartbeat_ms / 1000 if self._heartbeat_ms else None
        if self._call is None:
            if self._after is None:  # "now" is the same after a broken connection
                self._after = await (
                    self._client.head() if self._retry_for is None else self._client.head(timeout=self._retry_for)
                )
            if not self._fork and self._after:  # a position is of the fork that this client was answered by
                self._fork = self._client._doors.history.fork
            self._led = ""
            self._call = (await self._open()).Subscribe(self._request(self._after), metadata=self._client._metadata)
        try:
            message = await self._next_message(stall)
        except EvershardError:
            raise
        except asyncio.TimeoutError:
            raise UnavailableError(f"no word in {stall:g} s, three heartbeats") from None
        if message is None:
            raise UnavailableError("the server ended the subscription")
        if message.fork_id and self._fork and message.fork_id != self._fork:
            raise ForkChangedError(
                f"the store is fork {message.fork_id} now, and fork {self._fork} was followed, up to position {self._after}"
            )
        self._fork = message.fork_id or self._fork
        self._led = message.led or self._led
        self._client._doors.history.hear_led(self._led)
        # Its watermark may be no more than what was asked for, beyond the head.
        self._came(message.events[-1].position if message.events else 0)
        item = _wire.feed_item(message)
        self._after = max(message.watermark, self._after)  # another node than before may be behind what was given
        return item if item is None else dataclasses.replace(item, watermark=self._after)

    async def _broken(self, failed: EvershardError) -> None:
        now = time.monotonic()
        if self._broken_since is None:
            self._broken_since = now
        if not isinstance(failed, (UnavailableError, TimeoutError)) or failed.lasting:
            raise failed
        if self._retry_for is not None and now - self._broken_since >= self._retry_for:
            raise failed
        if self._broken_since == now:
            _log.warning(
                "a subscription is broken and goes on behind position %s as soon as it can: %s",
                self._after,
                failed,
            )
        if now - self._broken_since >= _AWAY_AFTER_S:
            self._told_away(failed)
        self.reconnects += 1
        await self._pause(self._backoff.next(failed))

    def _told_away(self, why: EvershardError | None) -> None:
        changed = (self.away is None) != (why is None)
        self.away = why
        if changed and self._on_away is not None:
            self._on_away(why)

    def _request(self, after: int | None) -> service_pb2.SubscribeRequest:
        return _wire.checked(  # type: ignore[no-any-return]
            service_pb2.SubscribeRequest,
            query=self._query,
            after=after,
            page_events_max=self._page_events_max,
            heartbeat_ms=self._heartbeat_ms,
            fork_id=self._fork,
        )
