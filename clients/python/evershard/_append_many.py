"""Many appends over a stream to each node that decides some of them, and over the next one when it breaks."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Iterable
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

import grpc
import grpc.aio

from . import _wire
from ._append import Append, AppendOutcome
from ._doors import Door
from ._errors import (
    CallCancelledError,
    EvershardError,
    ProtocolError,
    TimeoutError,
    UnavailableError,
)
from ._history import FORK
from ._pipeline import Lanes, Order, Pipeline
from ._retry import Backoff, Patience, worth_retrying
from ._streams import is_cancelled

if TYPE_CHECKING:
    from .aio import Client

T = TypeVar("T")


class AppendMany:
    """Iterates over AppendOutcomes, in the order of the appends. Ends when each has been given; raises what `appends` raised, or what ended it early,
    behind an outcome for each append that was taken. close(): what was not sent yet is not sent.
    """

    def __init__(
        self,
        client: Client,
        appends: AsyncIterable[Append] | Iterable[Append],
        in_flight: int,
        timeout: float | None,
    ) -> None:
        self._client = client
        self._appends = appends
        self._order = Order(max(in_flight, 1))
        self._lanes = Lanes()
        self._pipelines: dict[int, Pipeline] = {}  # by node; 0: whichever door works
        self._changed = asyncio.Event()  # whoever waits looks again
        self._timeout = timeout
        self._source_ended = False
        self._failed: BaseException | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self._done = False

    def __aiter__(self) -> Self:
        return self

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def close(self) -> None:
        self._done = True
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._change()

    async def __anext__(self) -> AppendOutcome:
        if not self._tasks and not self._done:
            self._tasks = [asyncio.ensure_future(self._take_appends())]
        while not self._done:
            outcome = self._order.take()
            if outcome is not None:
                self._change()  # there is room
                return outcome
            if self._order.is_empty and (self._source_ended or self._failed is not None):
                await self.close()
                if self._failed is not None:
                    raise self._failed
                break
            await self._change_seen()
        raise StopAsyncIteration

    async def next_ready(self) -> list[AppendOutcome]:
        """The next outcome, and those behind it that are there already; none: there are no more."""
        try:
            ready = [await self.__anext__()]
        except StopAsyncIteration:
            return []
        while len(ready) < 64 and (more := self._order.take()) is not None:
            ready.append(more)
        self._change()
        return ready

    def _change(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

    async def _change_seen(self, timeout: float | None = None) -> None:
        try:
            async with asyncio.timeout(timeout):
                await self._changed.wait()
        except asyncio.TimeoutError:
            pass

    async def _take_appends(self) -> None:
        source = self._appends if isinstance(self._appends, AsyncIterable) else _as_async(self._appends)
        try:
            async for append in source:
                await self._send(append)
                self._change()
                while not self._order.has_room and self._failed is None:
                    await self._change_seen()
                if self._failed is not None:
                    return
        except Exception as error:
            self._failed = self._failed or error
        finally:
            self._source_ended = True
            self._change()
            if isinstance(source, AsyncGenerator):
                await source.aclose()

    async def _send(self, append: Append) -> None:
        """By the lane of its shard, when what is under way by another one is answered."""
        while True:
            shard, node = self._client._doors.shard_and_node(append)
            lane = self._lanes.lane(shard, node)
            if lane is not None or self._failed is not None:
                break
            await self._change_seen()
        lane = lane or 0
        if self._failed is not None:
            error = self._failed if isinstance(self._failed, EvershardError) else ProtocolError(repr(self._failed))
            Pipeline(self._timeout, self._order).refuse(append, error)
            return
        pipeline = self._pipelines.get(lane)
        if pipeline is None:
            pipeline = self._pipelines[lane] = Pipeline(self._timeout, self._order, self._client._unavailable_timeout)
            self._tasks.append(asyncio.ensure_future(self._exchange(lane, pipeline)))
        self._lanes.goes(shard, lane, pipeline.add(append, time.monotonic()))

    async def _exchange(self, lane: int, pipeline: Pipeline) -> None:
        """One connection after the other, until everything is answered or it is too late."""
        backoff, patience = Backoff(), Patience(self._client._unavailable_timeout, time.monotonic())
        try:
            while not (self._source_ended and not pipeline.has_work):
                if not pipeline.has_work:
                    await self._change_seen()
                    continue
                failed = await self._exchange_once(lane, pipeline, backoff, patience)
                goes_on = failed is None or pipeline.refuse_largest(failed)
                pipeline.broke(failed or UnavailableError("the stream ended"))
                if failed is None or goes_on:
                    self._change()
                    continue
                if not pipeline.has_work and not self._client._closed:
                    continue  # nobody waits for this node: what is wrong with it ends nothing of the others'
                if (
                    self._client._closed
                    or not worth_retrying(failed)
                    or pipeline.is_late(time.monotonic())
                    or not patience.bears(failed, time.monotonic())
                ):
                    return self._give_up(pipeline, failed)
                await asyncio.sleep(backoff.next(failed))
        except Exception as error:  # whoever iterates must not wait forever
            failed = error if isinstance(error, EvershardError) else ProtocolError(repr(error))
            pipeline.broke(UnavailableError(failed.message))  # what was sent may have arrived
            self._give_up(pipeline, failed)

    def _give_up(self, pipeline: Pipeline, failed: EvershardError) -> None:
        """Nothing more is taken. What is under way by other pipelines is answered."""
        self._failed = self._failed or failed
        pipeline.give_up(failed)
        self._change()

    async def _exchange_once(
        self, lane: int, pipeline: Pipeline, backoff: Backoff, patience: Patience
    ) -> EvershardError | None:
        """What ended it; None: all is answered."""
        doors = self._client._doors
        try:
            # Where the node's own door is not open, any other one takes its appends.
            door = (doors.door_of(lane) if lane != 0 else None) or await doors.pick()
            await doors.connected(door, pipeline.left(time.monotonic()))
        except EvershardError as nobody:
            return nobody
        failed = await self._exchange_with(door, pipeline, backoff, patience)
        if failed is not None and worth_retrying(failed):
            doors.failed(door)
        return failed

    async def _exchange_with(
        self, door: Door, pipeline: Pipeline, backoff: Backoff, patience: Patience
    ) -> EvershardError | None:
        call = door.events.AppendMany(metadata=self._client._metadata)
        self._client._doors.ends(call)
        writing = asyncio.ensure_future(self._write(call, pipeline))
        heard = False
        led = ""  # whose order the answers follow, as they said last
        try:
            answers = aiter(call)
            while (message := await self._answer(answers, pipeline)) is not None:
                if not heard and not self._client._doors.history.several:
                    told = {key: value for key, value in await call.initial_metadata() or ()}
                    self._client._doors.history.hear_fork(str(told.get(FORK, "")))
                heard = True
                led = message.led or led
                self._client._doors.history.hear_led(led)
                backoff.reset()
                patience.worked()
                self._client._doors.worked(door)
                self._client._doors.see(message.appended.watermark, message.appended.last_position)
                pipeline.answered(message, time.monotonic())
                self._change()
            return UnavailableError("the server ended the stream") if pipeline.has_work else None
        except grpc.aio.AioRpcError as failed:
            return self._client._doors.fault(door, _wire.failure(failed))
        except grpc.aio.UsageError as closed:
            return CallCancelledError(f"the client was closed: {closed}")
        except EvershardError as failed:
            return failed
        except asyncio.CancelledError:
            if is_cancelled():
                raise
            return CallCancelledError("the client was closed")
        finally:
            call.cancel()
            writing.cancel()
            await asyncio.gather(writing, return_exceptions=True)

    async def _answer(self, answers: AsyncIterator[Any], pipeline: Pipeline) -> Any:
        """The next message; None: the stream ended well. Errors: TimeoutError: appends are on their way, and no answer came for the time-out

        Iterated and not asked by call.read(): once a write has failed, that gives no answer any more, also none that has come.
        """
        read = asyncio.ensure_future(anext(answers, None))
        try:
            while not read.done():
                await asyncio.wait({read}, timeout=None if self._timeout is None else self._timeout / 4)
                if not read.done() and pipeline.waits_for_answers and pipeline.is_late(time.monotonic()):
                    raise TimeoutError(f"no answer in {self._timeout:g} s")
            return read.result()
        finally:
            if not read.done():
                read.cancel()
                await asyncio.gather(read, return_exceptions=True)

    async def _write(self, call: Any, pipeline: Pipeline) -> None:
        try:
            while not (self._source_ended and not pipeline.has_work):
                when = pipeline.when_next()
                now = time.monotonic()
                if when is None or when > now:
                    await self._change_seen(None if when is None else when - now)
                    continue
                await call.write(pipeline.send_next(now))
            await call.done_writing()
        except (grpc.aio.AioRpcError, grpc.aio.UsageError, asyncio.InvalidStateError):
            pass  # the reading side says what it was


async def _as_async(items: Iterable[T]) -> AsyncIterator[T]:
    for item in items:
        yield item
        await asyncio.sleep(0)
