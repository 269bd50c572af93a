"""The doors of a store: which one is asked, whether it is of our store, and who writes which shard."""

from __future__ import annotations

import asyncio
import time
import weakref
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

import grpc
import grpc.aio

from . import _wire
from ._append import Append
from ._connect_faults import ConnectFaults
from ._door_choice import DoorChoice, rest
from ._errors import EvershardError, InvalidArgumentError, UnavailableError
from ._history import LED, History, OtherHistoryError
from ._route import HASH_ID, shard_of
from .v1 import (
    asks_pb2_grpc,
    documents_pb2_grpc,
    groups_pb2_grpc,
    projections_pb2_grpc,
    retention_pb2_grpc,
    scheduled_pb2_grpc,
    service_pb2,
    service_pb2_grpc,
    tables_pb2_grpc,
)

_MEETING_S = 2.0
_MAP_AGE_MOST_S = 30.0
_MAP_AGE_LEAST_S = 0.2  # what is doubtful is asked for again, but no storm is made of it
_WAIT_AT_ONE_S = 3.0
_PASSING = (
    grpc.StatusCode.UNAVAILABLE,
    grpc.StatusCode.DEADLINE_EXCEEDED,
    grpc.StatusCode.CANCELLED,
    grpc.StatusCode.UNKNOWN,
    grpc.StatusCode.INTERNAL,
    grpc.StatusCode.RESOURCE_EXHAUSTED,
)


@dataclass(slots=True, eq=False)
class Door:
    number: int
    address: str
    channel: grpc.aio.Channel
    events: Any
    groups: Any
    others: tuple[Any, ...]

    def method(self, name: str) -> Any:
        """`Append`; `ScheduledAppends.Get` where an earlier service has one of that name, too."""
        service, _, call = name.rpartition(".")
        return next(
            getattr(stub, call)
            for stub in (self.events, self.groups, *self.others)
            if hasattr(stub, call) and service in ("", type(stub).__name__.removesuffix("Stub"))
        )


class Doors:
    """Belongs to an event loop. Where there are several addresses, each is asked whose it is before it is used: an append that was sent to one
    store is never sent again to another."""

    def __init__(
        self,
        addresses: list[str],
        make_channel: Callable[[str, bool], grpc.aio.Channel],
        metadata: Any,
        follow_shards: bool,
        seen: int,
    ) -> None:
        self._make_channel = make_channel
        self._metadata = metadata
        self._follow = follow_shards
        self._choice = DoorChoice(addresses)
        self._doors = [self._door(n, address, len(addresses) > 1) for n, address in enumerate(addresses)]
        self._faults = ConnectFaults(len(addresses))
        self._meeting = asyncio.Lock()
        self._tasks: set[asyncio.Task[None]] = set()
        self._calls = weakref.WeakSet[Any]()
        self._trouble = "no server was reached"
        self._store: tuple[str, str, int] | None = None
        self._forked = ""  # the fork that a door serves now which answered as ours before; empty: none does
        self._owners: list[tuple[int, int]] = []  # of each shard: its node, under which epoch
        self._addresses: dict[int, str] = {}
        self._met: dict[int, int] = {}  # a node's door, as it said itself
        self._wanted: set[int] = set()
        self._map_known = False
        self._map_asked = -1e9
        self.history = History(several=len(addresses) > 1)
        self.seen = seen  # the greatest position that any answer told

    def _door(self, number: int, address: str, several: bool) -> Door:
        channel = self._make_channel(address, several)
        others: list[Any] = [
            service_pb2_grpc.AdministrationStub,
            projections_pb2_grpc.ProjectionsStub,
            tables_pb2_grpc.TablesStub,
            documents_pb2_grpc.DocumentsStub,
            retention_pb2_grpc.RetentionStub,
            scheduled_pb2_grpc.ScheduledAppendsStub,
            asks_pb2_grpc.AggregatesStub,
        ]
        return Door(
            number,
            address,
            channel,
            service_pb2_grpc.EventStoreStub(channel),  # type: ignore[no-untyped-call]
            groups_pb2_grpc.GroupsStub(channel),  # type: ignore[no-untyped-call]
            tuple(stub(channel) for stub in others),
        )

    def ends(self, call: Any) -> None:
        """The call is cancelled as the client is closed. An older grpcio finds only calls that a task awaits itself (1.51.3)."""
        self._calls.add(call)

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        for call in list(self._calls):
            call.cancel()
        for door in self._doors:
            await door.channel.close()

    @property
    def several(self) -> bool:
        return len(self._doors) > 1

    def see(self, *positions: int) -> None:
        self.seen = max(self.seen, *positions)

    def wait_at_one(self, left: float | None) -> float | None:
        """How long one door is waited for to come to a position: another may be there already."""
        if not self.several:
            return left
        return _WAIT_AT_ONE_S if left is None else min(left, _WAIT_AT_ONE_S)

    async def pick(self) -> Door:
        """The door to ask. Errors: UnavailableError: none answers now; InvalidArgumentError: all of them are another store's;
        ForkChangedError: none answers, and one that did serves another fork by now"""
        while True:
            candidate = self._choice.to_meet(time.monotonic())
            if candidate is None:
                break
            async with self._meeting:
                if candidate == self._choice.to_meet(time.monotonic()):
                    await self._meet(candidate)
        current = self._choice.current
        if current is not None:
            return self._doors[current]
        self.history.hear_fork(self._forked)
        if self._choice.all_foreign:
            raise InvalidArgumentError(self._trouble)
        raise self._faults.final or UnavailableError(self._trouble)

    def fault(self, door: Door, error: EvershardError) -> EvershardError:
        """What a call at this door ended with; or that no address will ever work, which is final."""
        return self._faults.failed(door.number, door.address, error, time.monotonic())

    async def connected(self, door: Door, left: float | None) -> None:
        """Waits until a call on the door is sent, or fails, at once: what is not sent in time has not arrived. Errors: UnavailableError"""
        until = None if left is None else time.monotonic() + left
        pause = 0.001
        while door.channel.get_state(try_to_connect=True) in (
            grpc.ChannelConnectivity.IDLE,
            grpc.ChannelConnectivity.CONNECTING,
        ):
            if until is not None and time.monotonic() >= until:
                raise UnavailableError(f"{_wire.NO_CONNECTION}{door.address} in time")
            await asyncio.sleep(pause)
            pause = min(pause * 2, 0.020)

    def worked(self, door: Door) -> None:
        self._faults.heard()
        self._choice.worked(door.number)

    def failed(self, door: Door) -> None:
        self._choice.failed(
            door.number,
            time.monotonic(),
            rest(self._choice.doors[door.number].failures),
        )
        self.learn_shards(doubtful=True)

    # Shards

    def home(self, append: Append) -> Door | None:
        """The door of the node that decides the append, where it is open now."""
        _, node = self.shard_and_node(append)
        return self.door_of(node)

    def shard_and_node(self, append: Append) -> tuple[int | None, int]:
        """The append's shard, and the node that decides it, where its door is known; None and 0: not known."""
        self.learn_shards()
        shard = shard_of(append, len(self._owners)) if self._owners else None
        if shard is None:
            return None, 0
        node = self._owners[shard][0]
        if node not in self._met:
            self._look_for(node)
            return shard, 0
        return shard, node

    def door_of(self, node: int) -> Door | None:
        """Of a node, where it is open now."""
        number = self._met.get(node)
        if number is None or self._choice.rests(number, time.monotonic()):
            return None
        door = self._doors[number]
        # One that is not open is not waited for: any other takes the append.
        return door if door.channel.get_state(try_to_connect=True) == grpc.ChannelConnectivity.READY else None

    def learn_shards(self, doubtful: bool = False) -> None:
        """Asks who writes which shard, beside everything else, where that is not known, or old."""
        age = time.monotonic() - self._map_asked
        if not self._follow or age < (
            _MAP_AGE_MOST_S if self._map_known and not (doubtful and self._owners) else _MAP_AGE_LEAST_S
        ):
            return
        current = self._choice.current
        if current is not None:
            self._map_asked = time.monotonic()
            self._beside(self._meet(current))

    def _look_for(self, node: int) -> None:
        number = next(
            (door.number for door in self._doors if door.address == self._addresses.get(node)),
            None,
        )
        if (
            number is None
            or number in self._wanted
            or self._choice.doors[number].ours is not None
            or self._choice.rests(number, time.monotonic())
        ):
            return
        self._wanted.add(number)
        self._beside(self._meet(number))

    def _beside(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()  # whoever needs the map asks again

    async def _meet(self, number: int) -> None:
        door = self._doors[number]
        try:
            call = door.events.Members(
                service_pb2.MembersRequest(),
                metadata=self._metadata,
                timeout=_MEETING_S,
            )
            said = await call
            self.history.hear_met(await call.initial_metadata(), given=number == 0)
        except OtherHistoryError as other:  # asked again later: its coordinator may be the one that leads by then
            self._trouble = f"{door.address}: {other.message}"
            self._choice.failed(number, time.monotonic(), rest(self._choice.doors[number].failures))
        except grpc.aio.AioRpcError as failed:
            error = _wire.failure(failed)
            self.fault(door, error)
            if failed.code() in _PASSING:
                self._trouble = f"{door.address}: {error.message}"
                self._choice.failed(number, time.monotonic(), rest(self._choice.doors[number].failures))
            else:  # of an earlier release, or our token may not ask: what it says to the calls themselves counts
                self._map_known = True
                self._choice.is_ours(number, True)
        except (grpc.aio.UsageError, asyncio.CancelledError):
            task = asyncio.current_task()
            if task is not None and task.cancelling() > 0:
                raise
            raise UnavailableError("the client was closed") from None
        else:
            self._faults.heard()
            self._learn(number, said)
        finally:
            self._wanted.discard(number)

    def _learn(self, number: int, said: service_pb2.MembersResponse) -> None:
        store = (said.store_id, said.fork_id, said.shards)
        self._map_known = True
        if self._store is None:
            self._store = store
        if store != self._store and not self.history.several and number == 0:
            # One address: whatever it is, it is what was asked for. Who else serves that has to say so anew.
            self._store, self._owners = store, []
            self._addresses.clear()
            self._met.clear()
            self._choice.forget_all_but(0)
        if store != self._store:
            if self.history.several and self._choice.doors[number].ours and said.store_id == self._store[0]:
                self._forked = said.fork_id
            self._trouble = (
                f"{self._doors[number].address} serves another store: {store}, the first one is {self._store}"
            )
            self._choice.is_ours(number, False)
            return
        self._choice.is_ours(number, True)
        self._forked = ""
        self.history.hear_fork(said.fork_id)
        if not self._follow or said.hash != HASH_ID or len(said.owners) != len(said.epochs):
            return
        if said.here != 0:
            self._met.setdefault(said.here, number)
        if not self._owners:
            self._owners = [(0, 0)] * len(said.owners)
        # Of the same epoch the later word counts: the node may have gone.
        told = zip(said.owners, said.epochs, strict=True)
        self._owners = [new if new[1] >= old[1] else old for old, new in zip(self._owners, told, strict=False)]
        for member in said.members:
            if not member.address:
                continue
            self._addresses[member.node] = member.address
            if member.node not in self._met and all(door.address != member.address for door in self._doors):
                self._doors.append(self._door(self._choice.add(member.address), member.address, True))
