"""A worker of a consumer group: one Work stream, and the next one when it breaks."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import time
from collections import deque
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import grpc
import grpc.aio

from . import _wire
from ._errors import CallCancelledError, EvershardError, FencedError, UnavailableError
from ._recorded import RecordedEvent
from ._retry import Backoff
from ._streams import is_cancelled
from .v1 import groups_pb2

if TYPE_CHECKING:
    from .aio import Client

_Kind = groups_pb2.WorkRequest.Settlement
_LEAVE_S = 2.0


@dataclass(frozen=True, slots=True)
class GroupDelivery:
    """An event that a worker was given: its own until it is settled, or its lease ran out."""

    event: RecordedEvent
    delivery: int
    attempt: int  # from 1
    _stay: Any = field(default=None, repr=False, compare=False)  # the worker's, in which it was given


@dataclass(frozen=True, slots=True)
class GroupInfo:
    """How a group is; see docs/groups.md."""

    name: str
    position: int
    read_to: int
    head: int
    unsettled: int
    in_flight: int
    waiting: int
    parked: int
    acknowledged: int
    workers: tuple[str, ...]

    @property
    def lag(self) -> int:
        return max(self.head - self.position, 0)


def group_info(m: groups_pb2.GroupInfo) -> GroupInfo:
    return GroupInfo(
        m.name,
        m.position,
        m.read_to,
        m.head,
        m.unsettled,
        m.in_flight,
        m.waiting,
        m.parked,
        m.acknowledged,
        tuple(one.name for one in m.workers),
    )


@dataclass(slots=True, eq=False)
class _Stay:
    """From joining to the end of its stream."""

    call: Any
    answers: AsyncIterator[Any]  # not call.read(): that gives no answer any more once a write has failed
    lease: float = 30.0
    queue: deque[GroupDelivery] = field(default_factory=deque)
    batches: dict[int, asyncio.Future[bool]] = field(default_factory=dict)
    over: EvershardError | None = None
    said: float = 0.0
    renewed: float = 0.0  # what is not taken yet
    takes_begun: bool = False
    writing: asyncio.Lock = field(default_factory=asyncio.Lock)


class GroupWorker:
    """Takes events of a group one by one, and settles each. Iterate over it, or call next(). One task at a time takes; any may settle.

    Every call says that it is there. What takes longer than a lease calls renew() now and then, or others are given its events. A broken connection
    is made again: what was not settled comes again, and who settles it meanwhile is told so by False, not by an error that would end a loop.
    """

    def __init__(self, client: Client, group: str, worker: str | None, credit: int) -> None:
        self._client = client
        self._join = _wire.checked(
            groups_pb2.WorkRequest.Join,
            group=group,
            worker=worker or f"{socket.gethostname()}:{os.getpid()}",
            credit=credit,
        )
        self._stay: _Stay | None = None
        self._reader: asyncio.Task[None] | None = None
        self._changed = asyncio.Event()
        self._last_batch = 0
        self._writes: set[asyncio.Task[None]] = set()
        self._closed = False

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    def __aiter__(self) -> AsyncIterator[GroupDelivery]:
        return self._all()

    async def _all(self) -> AsyncIterator[GroupDelivery]:
        while not self._closed:
            delivery = await self.next()
            if delivery is not None:
                yield delivery

    async def next(self, timeout: float | None = None) -> GroupDelivery | None:
        """The next event; None: there was none for `timeout` seconds (None: waits on and on), or it was closed. Errors: NotFoundError: the group is gone"""
        until = None if timeout is None else time.monotonic() + timeout
        backoff = Backoff()
        while not self._closed:
            self._changed.clear()
            stay = self._stay
            if stay is None or stay.over is not None:
                try:
                    await self._open()
                    continue
                except UnavailableError as failed:
                    if failed.lasting:
                        raise
                    if self._client._closed:
                        raise CallCancelledError("the client was closed") from None
                    wait = backoff.next()
            elif time.monotonic() - stay.said >= stay.lease and stay.queue:
                stay.queue.clear()  # it hung for a lease: others have these, and may have settled them; the server is about to say so
                await self._alive(stay)
                continue
            elif stay.queue:
                delivery = stay.queue.popleft()
                try:
                    await self._alive(stay)
                    await self._begin(stay, delivery)
                except BaseException:  # nobody was given it
                    stay.queue.appendleft(delivery)
                    raise
                return delivery
            else:
                await self._alive(stay)
                wait = stay.lease / 3
            left = None if until is None else until - time.monotonic()
            if left is not None and left <= 0:
                return None
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self._changed.wait(), wait if left is None else min(wait, left))
        return None

    async def acknowledge(self, delivery: GroupDelivery) -> bool:
        """It is done. Returns: True when that is durable; False: the connection broke, or a lease ran out: it comes again, here or elsewhere"""
        return await self._settle(delivery, kind=_Kind.KIND_ACKNOWLEDGE)

    async def reject(self, delivery: GroupDelivery, reason: str, *, after: float | None = None) -> bool:
        """Again later (`after`: seconds; None: as the group is set), or parked, when that was its last attempt. Returns: as acknowledge()"""
        return await self._settle(
            delivery,
            kind=_Kind.KIND_REJECT,
            reason=reason,
            after_ms=None if after is None else int(after * 1000),
        )

    async def park(self, delivery: GroupDelivery, reason: str) -> bool:
        """Aside, until somebody replays or discards it. Returns: as acknowledge(). Errors: OverloadedError: no more can be parked"""
        return await self._settle(delivery, kind=_Kind.KIND_PARK, reason=reason)

    async def renew(self, *deliveries: GroupDelivery) -> bool:
        """The leases of these begin anew; none: only what it has not been given yet stays its own. Returns: False: they come again, as in acknowledge()"""
        stay = self._stay
        if stay is None or stay.over is not None or any(one._stay not in (None, stay) for one in deliveries):
            return False
        try:
            await self._renew(stay, [one.event.position for one in deliveries])
        except UnavailableError:
            return False
        return True

    async def close(self) -> None:
        """Leaves; what it has is given to others, and no attempt is counted."""
        self._closed = True
        stay, self._stay = self._stay, None
        if stay is not None and stay.over is None:
            with contextlib.suppress(
                EvershardError,
                grpc.aio.AioRpcError,
                asyncio.InvalidStateError,
                asyncio.TimeoutError,
            ):
                await self._write(stay, groups_pb2.WorkRequest(leave=True))
                if self._reader is not None:
                    await asyncio.wait_for(asyncio.shield(self._reader), _LEAVE_S)
        if stay is not None:
            stay.call.cancel()
        if self._reader is not None:
            await asyncio.gather(self._reader, return_exceptions=True)
        self._changed.set()

    async def _open(self) -> None:
        door = await self._client._doors.pick()
        with self._unless_closed():
            call = door.groups.Work(metadata=self._client._metadata)
            self._client._doors.ends(call)
            stay = _Stay(call, aiter(call))
        joined = groups_pb2.WorkRequest()
        joined.join.CopyFrom(self._join)
        try:
            await self._write(stay, joined)
            with self._unless_closed():
                async with asyncio.timeout(self._client._timeout):
                    first = await anext(stay.answers, None)
            if first is None:
                raise UnavailableError("the server ended the stay")
            self._client._doors.worked(door)
            stay.lease = first.joined.lease_ms / 1000
            stay.takes_begun = first.joined.takes_begun
            if not self._closed:  # while it joined
                self._stay = stay
                self._reader = asyncio.get_running_loop().create_task(self._read(stay))
        except grpc.aio.AioRpcError as failed:
            self._client._doors.failed(door)
            raise self._client._doors.fault(door, _wire.failure(failed)) from None
        except (TimeoutError, UnavailableError) as failed:
            self._client._doors.failed(door)
            if isinstance(failed, EvershardError) and (error := self._client._doors.fault(door, failed)).lasting:
                raise error from None
            raise UnavailableError(f"the server does not say whether the worker has joined: {failed}") from None
        finally:
            if self._stay is not stay:
                stay.call.cancel()

    @contextlib.contextmanager
    def _unless_closed(self) -> Iterator[None]:
        """What gRPC says where the client is closed. Errors: CallCancelledError"""
        try:
            yield
        except (asyncio.CancelledError, grpc.aio.UsageError):
            if not self._client._closed or is_cancelled():
                raise
            raise CallCancelledError("the client was closed") from None

    async def _read(self, stay: _Stay) -> None:
        try:
            async for message in stay.answers:
                if message.deliveries and not stay.queue:
                    stay.renewed = time.monotonic()
                stay.queue.extend(
                    GroupDelivery(_wire.recorded(one.event), one.delivery, one.attempt, stay)
                    for one in message.deliveries
                )
                if message.lost:
                    stay.queue = deque(one for one in stay.queue if one.event.position not in message.lost)
                waits = stay.batches.pop(message.batch, None) if message.outcomes else None
                if waits is not None and not waits.done():
                    outcome = message.outcomes[0]
                    refused = _wire.error(outcome.refused) if outcome.HasField("refused") else None
                    if refused is None or isinstance(refused, FencedError):
                        waits.set_result(refused is None)
                    else:
                        waits.set_exception(refused)
                self._changed.set()
            stay.over = UnavailableError("the server ended the worker's stay")
        except (
            grpc.aio.AioRpcError,
            asyncio.CancelledError,
            grpc.aio.UsageError,
        ) as failed:
            stay.over = (
                _wire.failure(failed)
                if isinstance(failed, grpc.aio.AioRpcError)
                else CallCancelledError("the client was closed")
            )
        for waits in stay.batches.values():
            if not waits.done():
                waits.set_result(False)  # nobody knows: it may come again
        stay.queue.clear()
        self._changed.set()

    async def _write(self, stay: _Stay, request: groups_pb2.WorkRequest) -> None:
        """In a task of its own: gRPC ends the whole call where somebody cancels a write."""
        stay.said = time.monotonic()

        async def write() -> None:
            async with stay.writing:
                await stay.call.write(request)

        task = asyncio.get_running_loop().create_task(write())
        self._writes.add(task)
        task.add_done_callback(self._written)
        with self._unless_closed():
            await asyncio.shield(task)

    def _written(self, task: asyncio.Task[None]) -> None:
        self._writes.discard(task)
        if not task.cancelled():
            task.exception()  # whoever waited for it was told

    async def _alive(self, stay: _Stay) -> None:
        now = time.monotonic()  # what it settles says that it is there, and nothing of what it has not taken yet
        if now - stay.said >= stay.lease / 4 or (stay.queue and now - stay.renewed >= stay.lease / 4):
            with contextlib.suppress(EvershardError):
                await self._renew(stay, [])

    async def _begin(self, stay: _Stay, delivery: GroupDelivery) -> None:
        """Its handler begins: only that, or being settled, counts as an attempt. The answer has no batch: nobody waits for it."""
        if stay.takes_begun:
            begun = _Kind(
                kind=_Kind.KIND_BEGIN,
                position=delivery.event.position,
                delivery=delivery.delivery,
            )
            with contextlib.suppress(EvershardError, grpc.aio.AioRpcError, asyncio.InvalidStateError):
                await self._write(stay, groups_pb2.WorkRequest(settlements=[begun]))

    async def _renew(self, stay: _Stay, positions: list[int]) -> None:
        stay.renewed = time.monotonic()
        try:
            await self._write(
                stay,
                groups_pb2.WorkRequest(renew=[*positions, *(one.event.position for one in stay.queue)]),
            )
        except (grpc.aio.AioRpcError, asyncio.InvalidStateError):
            raise UnavailableError("the connection of the worker broke: its events are given out again") from None

    async def _settle(self, delivery: GroupDelivery, **settlement: Any) -> bool:
        stay: _Stay | None = delivery._stay or self._stay
        if stay is None or stay.over is not None or stay is not self._stay:
            return False
        message = _wire.checked(
            _Kind,
            position=delivery.event.position,
            delivery=delivery.delivery,
            **settlement,
        )
        self._last_batch += 1
        waits: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        stay.batches[self._last_batch] = waits
        try:
            await self._write(
                stay,
                groups_pb2.WorkRequest(settlements=[message], batch=self._last_batch),
            )
            return await waits
        except (grpc.aio.AioRpcError, asyncio.InvalidStateError):
            waits.cancel()
            return False
