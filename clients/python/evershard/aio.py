"""The client for asyncio. evershard.Client is the same, for programs without."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import (
    AsyncIterable,
    AsyncIterator,
    Callable,
    Iterable,
    Mapping,
    Sequence,
)
from datetime import datetime, timedelta
from types import TracebackType
from typing import Any, Self, Unpack

import grpc
import grpc.aio

from . import _connection, _derived, _retention, _scheduled, _wire
from ._administration import AdministrationCalls, Progress
from ._append import Append
from ._append_many import AppendMany
from ._commands import CommandCalls
from ._connection import DEFAULT, Tls
from ._derived import Document, IndexPage, ProjectionInfo, Scalar, TablePage, ValuePage
from ._doors import Door, Doors
from ._errors import (
    CallCancelledError,
    EvershardError,
    InvalidArgumentError,
    OutcomeUnknownError,
    OverloadedError,
    ProtocolError,
    TimeoutError,
    UnavailableError,
)
from ._groups import GroupInfo, GroupWorker, group_info
from ._reading import AggregateBounds, ReadBounds, ReadCursor
from ._recorded import (
    AggregateInfo,
    Appended,
    RecordedEvent,
    RecordedSnapshot,
)
from ._retention import RetentionEntry, RetentionPolicy, RetentionResult
from ._retry import Backoff, Patience, not_done, worth_retrying
from ._scheduled import ScheduledAppend
from ._streams import EventReader, Subscription, is_cancelled, ms_of
from ._values import (
    AggregateId,
    AggregateIdLike,
    AppendCondition,
    CommandRecord,
    Event,
    ExpectedVersionLike,
    Query,
    Snapshot,
    microseconds_of,
)
from ._write_outcome import WriteOutcome
from .v1 import (
    documents_pb2,
    groups_pb2,
    projections_pb2,
    retention_pb2,
    scheduled_pb2,
    service_pb2,
    tables_pb2,
)

_SCHEDULED_PAGE = 100  # each has an append with it, whose payloads may be large

__all__ = ["AppendMany", "Client", "EventReader", "GroupWorker", "Subscription"]


class Client(AdministrationCalls, CommandCalls):
    """A connection to a server, or to the nodes of a cluster. Made and used inside of one event loop; any number of calls at once.

    `address`: HOST:PORT, or unix:PATH; several nodes of one store as HOST:PORT,HOST:PORT or as a list: it keeps to one that works, the first
    before the others, and goes on to another when that is gone or cannot. `token`: as the server's operator gave it; without `tls` it travels in the clear. `tls`: True (the system's
    certificates) or a Tls. `timeout`: seconds that a call may take with its retries, or that a stream may wait for its next message; None: no
    end. `keepalive`: seconds between asking a silent server whether it is there (None: 20; of several 5, and 3 seconds later it is gone). `options`:
    further gRPC channel options. `follow_shards`: of a cluster, learns its members and sends each append to the node that decides it; False behind a
    load balancer. `read_own_writes`: every read waits for what this client has seen, on whatever node, unless it says itself, by `at_least`, what
    it waits for. `seen`: what it has seen already, another client's `seen`. `unavailable_timeout`: seconds, from the first time on, for which a call
    is tried again that a server answers as `unavailable`.

    Errors, of every call: a subclass of EvershardError. What is safe to retry was retried: no connection and `overloaded` until the time-out,
    `unavailable` that a server says for `unavailable_timeout`, what is `lasting` not at all.
    """

    def __init__(
        self,
        address: str | Sequence[str] = "127.0.0.1:7420",
        *,
        token: str | None = None,
        tls: Tls | bool = False,
        timeout: float | None = 30.0,
        message_bytes_max: int = 64 << 20,
        keepalive: float | None = None,
        options: Sequence[tuple[str, Any]] = (),
        follow_shards: bool = True,
        read_own_writes: bool = True,
        seen: int = 0,
        unavailable_timeout: float = 5.0,
    ) -> None:
        def make_channel(one: str, several: bool) -> grpc.aio.Channel:
            return _connection.channel(one, tls, message_bytes_max, keepalive, options, several)

        self._token: tuple[tuple[str, str], ...] = () if token is None else (("authorization", f"Bearer {token}"),)
        self._doors = Doors(
            _connection.addresses_of(address),
            make_channel,
            self._token,
            follow_shards,
            seen,
        )
        self._read_own_writes = read_own_writes
        self._timeout = timeout
        self._unavailable_timeout = unavailable_timeout
        self._closed = False

    @property
    def _metadata(self) -> tuple[tuple[str, str], ...]:
        """Of a call: who it is, and which history it goes on with."""
        return self._token + self._doors.history.metadata

    async def close(self) -> None:
        """Ends every call that is under way."""
        self._closed = True
        await self._doors.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    @property
    def seen(self) -> int:
        """The greatest position that any answer told: reads there see all that was written and read by this client. For another client's see()."""
        return self._doors.seen

    def see(self, position: int) -> None:
        """Reads of this client see at least this from now on."""
        self._doors.see(position)

    # Writing

    async def append(
        self,
        events: Event | Append | Iterable[Event],
        *,
        expect: Mapping[AggregateIdLike, ExpectedVersionLike] | Mapping[str, ExpectedVersionLike] | None = None,
        fail_if: Query | AppendCondition | Iterable[Query | AppendCondition] = (),
        snapshots: Snapshot | Iterable[Snapshot] = (),
        command: CommandRecord | None = None,
        conflicts_max: int = 0,
        timeout: float | None = DEFAULT,
    ) -> Appended:
        """Writes all of the events or none; they are durable when it returns. Takes an Append, or what one is made of.

        Errors: VersionConflictError, ConditionFailedError, DuplicateEventError, InvalidArgumentError, TooLargeError, OutcomeUnknownError (sent, and
        no answer in time; its `append` can be sent again)
        """
        if isinstance(events, Append):
            append = events
        else:
            append = Append(
                events,
                expect=expect,
                fail_if=fail_if,
                snapshots=snapshots,
                command=command,
                conflicts_max=conflicts_max,
            )
        try:
            return _wire.appended(
                await self._unary(
                    "Append",
                    lambda _: _wire.append(append),
                    timeout,
                    write=True,
                    append=append,
                )
            )
        except OutcomeUnknownError as error:
            error.append = append
            raise

    def append_many(
        self,
        appends: AsyncIterable[Append] | Iterable[Append],
        *,
        in_flight: int = 256,
        timeout: float | None = DEFAULT,
    ) -> AppendMany:
        """Appends, many of them under way at once; gives each one's own outcome, in order. `appends` is taken as there is room: not more than
        `in_flight` are without an outcome that was taken from here.

        One that is refused ends nothing. One that the server was too busy for is sent again, behind those already sent.
        """
        return AppendMany(self, appends, in_flight, self._timeout_of(timeout))

    async def put_snapshot(self, snapshot: Snapshot, *, timeout: float | None = DEFAULT) -> None:
        """Errors: NotFoundError (the version does not exist)"""
        await self._unary("PutSnapshot", lambda _: _wire.snapshot(snapshot), timeout, write=True)

    # Scheduled appends: events that are stored at a later time, once.

    async def schedule(
        self,
        events: Event | Append | Iterable[Event],
        *,
        due: datetime | None = None,
        after: timedelta | None = None,
        id: str | None = None,
        replace: bool = False,
        expect: Mapping[AggregateIdLike, ExpectedVersionLike] | Mapping[str, ExpectedVersionLike] | None = None,
        fail_if: Query | AppendCondition | Iterable[Query | AppendCondition] = (),
        timeout: float | None = DEFAULT,
    ) -> ScheduledAppend:
        """Has an append made when it is `due` (a time with a zone), or `after` so long from now by the server's clock. What it expects, and what it may
        fail by, is checked then; it can have no snapshots and no command. `id` names it, for later and for retries (None: the client makes one): the
        same id and the same Append, or Events, again are scheduled once. `replace`: one of this id that still waits is replaced. Needs the scope
        `append`, as cancel_scheduled() does.

        Errors: VersionConflictError (another append has that id, or, with `replace`, it does not wait any more), InvalidArgumentError, TooLargeError,
        OutcomeUnknownError (its `schedule_id`)
        """
        append = events if isinstance(events, Append) else Append(events, expect=expect, fail_if=fail_if)
        request = _scheduled.schedule_request(append, due, after, id, replace)
        try:
            return _scheduled.scheduled(
                await self._unary("ScheduledAppends.Schedule", lambda _: request, timeout, write=True)
            )
        except OutcomeUnknownError as error:
            error.schedule_id = request.id
            raise

    async def cancel_scheduled(self, id: str, *, timeout: float | None = DEFAULT) -> ScheduledAppend:
        """It is not made any more; one that is cancelled already stays so. Errors: NotFoundError, ConditionFailedError (it was made, or refused)"""
        request = _wire.checked(scheduled_pb2.CancelScheduledRequest, id=id)
        return _scheduled.scheduled(
            await self._unary("ScheduledAppends.Cancel", lambda _: request, timeout, write=True)
        )

    async def get_scheduled(
        self, id: str, *, at_least: int | None = None, timeout: float | None = DEFAULT
    ) -> ScheduledAppend:
        """How it is, or what became of it. Errors: NotFoundError"""
        return _scheduled.scheduled(
            await self._unary(
                "ScheduledAppends.Get",
                lambda ms: _wire.checked(scheduled_pb2.GetScheduledRequest, id=id, at_least=self._behind(at_least, ms)),
                timeout,
            )
        )

    async def list_scheduled(
        self,
        *,
        all: bool = False,
        limit: int | None = None,
        at_least: int | None = None,
        timeout: float | None = DEFAULT,
    ) -> AsyncIterator[ScheduledAppend]:
        """Those that wait, in order of when they are due; with `all` also those that were made, refused or cancelled, in order of id. Fetched a page at a
        time. Errors: TimeoutError"""
        left, behind = limit, ""
        while left is None or left > 0:
            answer = await self._unary(
                "ScheduledAppends.List",
                lambda ms: _wire.checked(
                    scheduled_pb2.ListScheduledRequest,
                    all=all,
                    after=behind,
                    limit=_SCHEDULED_PAGE if left is None else min(left, _SCHEDULED_PAGE),
                    at_least=self._behind(at_least, ms),
                ),
                timeout,
            )
            for one in answer.scheduled:
                yield _scheduled.scheduled(one)
            if left is not None:
                left -= len(answer.scheduled)
            behind = answer.next
            if not behind:
                return

    # Reading

    def read(
        self, query: Query | None = None, *, timeout: float | None = DEFAULT, **bounds: Unpack[ReadBounds]
    ) -> EventReader:
        """Everything, or what a query matches, in global order. `after`, `before`: exclusive; `up_to`: as of this
        position; `per_aggregate`: at most so many events of each aggregate. `at_least`: waits until the watermark is
        there, to read what was written. `timeout` is a page's.
        """
        cursor = ReadCursor(Query.all() if query is None else query, bounds)
        return EventReader(self, cursor, self._timeout_of(timeout))

    def read_aggregate(
        self, aggregate: AggregateIdLike, *, timeout: float | None = DEFAULT, **bounds: Unpack[AggregateBounds]
    ) -> EventReader:
        """One aggregate's events, by seq_nr from `from_seq_nr` (inclusive) on. One that does not exist has none."""
        return EventReader(self, ReadCursor(AggregateId.of(aggregate), bounds), self._timeout_of(timeout))

    def subscribe(
        self,
        query: Query | None = None,
        *,
        after: int | None = None,
        heartbeat: float | None = 10.0,
        page_events_max: int | None = None,
        retry_for: float | None = None,
        on_away: Callable[[EvershardError | None], None] | None = None,
    ) -> Subscription:
        """What matches, from behind `after` (None: from now) and on and on. Connects again by itself, without a gap or a double; `retry_for`:
        seconds without a connection after which it fails instead. `heartbeat`: seconds; after three without a word the connection counts as
        broken. None: none. `on_away`: called in this loop with what is wrong, once the server has been away for a second, and with None when it is
        back; each once an absence."""
        return Subscription(
            self,
            Query.all() if query is None else query,
            after,
            heartbeat,
            page_events_max,
            retry_for,
            on_away,
        )

    async def head(self, *, at_least: int | None = None, timeout: float | None = DEFAULT) -> int:
        """The watermark: every event up to it can be read. Waits until it has reached `at_least`. Errors: TimeoutError"""
        answer = await self._unary(
            "Head",
            lambda ms: service_pb2.HeadRequest(at_least=self._behind(at_least, ms)),
            timeout,
        )
        return int(answer.watermark)

    async def position_at(
        self,
        at: datetime,
        *,
        at_least: int | None = None,
        timeout: float | None = DEFAULT,
    ) -> int:
        """The last position at or before a time, the end of an append. 0: nothing is that old. A time that is not past: the head."""
        at_us = microseconds_of(at)
        answer = await self._unary(
            "PositionAt",
            lambda ms: _wire.checked(
                service_pb2.PositionAtRequest,
                at_us=at_us,
                at_least=self._behind(at_least, ms),
            ),
            timeout,
        )
        return int(answer.position)

    async def event_at(
        self,
        position: int,
        *,
        at_least: int | None = None,
        timeout: float | None = DEFAULT,
    ) -> RecordedEvent:
        """Errors: NotFoundError"""
        return _wire.recorded(
            await self._unary(
                "GetEvent",
                lambda ms: _wire.checked(
                    service_pb2.GetEventRequest,
                    position=position,
                    at_least=self._behind(at_least, ms),
                ),
                timeout,
            )
        )

    async def aggregate(
        self,
        aggregate: AggregateIdLike,
        *,
        up_to: int | None = None,
        at_least: int | None = None,
        timeout: float | None = DEFAULT,
    ) -> AggregateInfo:
        """Errors: NotFoundError"""
        who = _wire.aggregate(AggregateId.of(aggregate))
        return _wire.aggregate_info(
            await self._unary(
                "GetAggregate",
                lambda ms: _wire.checked(
                    service_pb2.GetAggregateRequest,
                    aggregate=who,
                    up_to=up_to,
                    at_least=self._behind(at_least, ms),
                ),
                timeout,
            )
        )

    async def aggregates(
        self,
        type: str | None = None,
        *,
        after: AggregateIdLike | None = None,
        page: int = 1_000,
        at_least: int | None = None,
        timeout: float | None = DEFAULT,
    ) -> AsyncIterator[AggregateInfo]:
        """All of them, or those of a type, in order of type and value; a page at a time."""
        behind = None if after is None else AggregateId.of(after)
        while True:
            last = None if behind is None else _wire.aggregate(behind)
            answer = await self._unary(
                "ListAggregates",
                lambda ms: _wire.checked(
                    service_pb2.ListAggregatesRequest,
                    type=type,
                    after=last,
                    limit=page,
                    at_least=self._behind(at_least, ms),
                ),
                timeout,
            )
            for row in answer.aggregates:
                info = _wire.aggregate_info(row)
                behind = info.aggregate
                yield info
            if not answer.aggregates:
                return

    async def state(
        self,
        aggregate: AggregateIdLike,
        *,
        version: int | None = None,
        up_to: int | None = None,
        limit: int | None = None,
        at_least: int | None = None,
        timeout: float | None = DEFAULT,
    ) -> dict[str, Any]:
        """The newest snapshot at or before the moment and the events behind it, as `evershard aggregate state --format json` shows them."""
        who = _wire.aggregate(AggregateId.of(aggregate))
        answer = await self._unary(
            "GetState",
            lambda ms: _wire.checked(
                service_pb2.GetStateRequest,
                aggregate=who,
                version=version,
                up_to=up_to,
                limit=limit,
                at_least=self._behind(at_least, ms),
            ),
            timeout,
        )
        state = json.loads(answer.json)
        if not isinstance(state, dict):
            raise ProtocolError("a state is an object")
        return state

    async def snapshot(
        self,
        aggregate: AggregateIdLike,
        *,
        at_or_before: int | None = None,
        up_to: int | None = None,
        at_least: int | None = None,
        timeout: float | None = DEFAULT,
    ) -> RecordedSnapshot | None:
        """The latest, the newest at or before a version, or the newest as of a position. None: there is none."""
        who = _wire.aggregate(AggregateId.of(aggregate))
        answer = await self._unary(
            "GetSnapshot",
            lambda ms: _wire.checked(
                service_pb2.GetSnapshotRequest,
                aggregate=who,
                at_or_before=at_or_before,
                up_to=up_to,
                at_least=self._behind(at_least, ms),
            ),
            timeout,
        )
        return _wire.recorded_snapshot(answer.snapshot) if answer.HasField("snapshot") else None

    async def snapshots(
        self,
        aggregate: AggregateIdLike,
        *,
        at_least: int | None = None,
        timeout: float | None = DEFAULT,
    ) -> list[RecordedSnapshot]:
        who = _wire.aggregate(AggregateId.of(aggregate))
        answer = await self._unary(
            "ListSnapshots",
            lambda ms: service_pb2.ListSnapshotsRequest(aggregate=who, at_least=self._behind(at_least, ms)),
            timeout,
        )
        return [_wire.recorded_snapshot(one) for one in answer.snapshots]

    async def types(self, *, timeout: float | None = DEFAULT) -> bytes:
        """How payloads are read, as the store's file TYPES has it; empty: nothing is registered."""
        return bytes((await self._unary("GetTypes", lambda _: service_pb2.GetTypesRequest(), timeout)).types)

    # Consumer groups

    async def create_group(
        self,
        name: str,
        query: Query | None = None,
        *,
        after: int | None = 0,
        settings: Mapping[str, int] | None = None,
        if_absent: bool = False,
        timeout: float | None = DEFAULT,
    ) -> GroupInfo:
        """A named subscription that workers share. Begins behind `after` (None: from now). `settings`: of docs/groups.md, by name; enumerations
        by number. `if_absent`: one of that name, with the same query and settings, is given as it is. Needs the scope `admin`.
        Errors: AlreadyExistsError
        """
        request = _wire.checked(
            groups_pb2.CreateGroupRequest,
            name=name,
            query=None if query is None else _wire.query(query),
            after=after,
            from_now=after is None,
            settings=_wire.checked(groups_pb2.GroupSettings, **(settings or {})),
            if_absent=if_absent,
        )
        return group_info(await self._change("CreateGroup", request, timeout))

    async def drop_group(self, name: str, *, timeout: float | None = DEFAULT) -> None:
        await self._change("DropGroup", groups_pb2.DropGroupRequest(name=name), timeout)

    async def groups(self, *, timeout: float | None = DEFAULT) -> list[GroupInfo]:
        """In order of name."""
        return [
            group_info(one)
            for one in (await self._unary("ListGroups", lambda _: groups_pb2.ListGroupsRequest(), timeout)).groups
        ]

    def work(self, group: str, *, worker: str | None = None, credit: int = 16) -> GroupWorker:
        """A worker of the group, listed as `worker` (None: this machine and process), with at most `credit` events at a time. It joins with its first
        next(), and leaves when it is closed."""
        return GroupWorker(self, group, worker, credit)

    # Projections and documents: docs/projections.md, docs/documents.md. What creates and drops needs the scope `admin`.
    #
    # Reads wait for what this client has seen; with at_least=0 they take what is there, also of a projection that stands.

    async def create_index(self, query: Query, *, timeout: float | None = DEFAULT) -> ProjectionInfo:
        """The matches of a query by number. Its name follows from the query: the same query asked twice shares one index."""
        return _derived.projection_info(
            await self._unary(
                "CreateIndex",
                lambda _: projections_pb2.CreateIndexRequest(query=_wire.query(query)),
                timeout,
            )
        )

    async def create_value_index(
        self,
        name: str,
        types: Sequence[str],
        path: str,
        value: str = "text",
        *,
        source: str = "payload",
        if_absent: bool = False,
        timeout: float | None = DEFAULT,
    ) -> ProjectionInfo:
        """Events by a value in them. `path`: $.customer.city; `value`: text, integer, number, boolean, time; `source`: payload, metadata.
        `if_absent`: one of that name and the same definition is given as it is. Errors: AlreadyExistsError"""
        request = _wire.checked(
            projections_pb2.CreateValueIndexRequest,
            name=name,
            types=types,
            path=path,
            value=value,
            source=source,
            if_absent=if_absent,
        )
        return _derived.projection_info(await self._change("CreateValueIndex", request, timeout))

    async def create_table(
        self,
        name: str,
        definition: Mapping[str, Any],
        *,
        if_absent: bool = False,
        timeout: float | None = DEFAULT,
    ) -> ProjectionInfo:
        """`definition`: docs/tables.md, "Write a definition". `if_absent`: one of that name and the same definition is given as it is.
        Errors: AlreadyExistsError"""
        request = _wire.checked(
            projections_pb2.CreateProjectionRequest,
            name=name,
            kind="table",
            spec=json.dumps(definition),
            if_absent=if_absent,
        )
        return _derived.projection_info(await self._change("CreateProjection", request, timeout))

    async def projection(self, name: str, *, timeout: float | None = DEFAULT) -> ProjectionInfo:
        """Errors: NotFoundError"""
        return _derived.projection_info(
            await self._unary(
                "DescribeProjection",
                lambda _: projections_pb2.DescribeProjectionRequest(name=name),
                timeout,
            )
        )

    async def projections(self, *, timeout: float | None = DEFAULT) -> list[ProjectionInfo]:
        """Indexes, tables, in order of name."""
        answer = await self._unary(
            "ListProjections",
            lambda _: projections_pb2.ListProjectionsRequest(),
            timeout,
        )
        return [_derived.projection_info(one) for one in answer.projections]

    async def drop_projection(self, name: str, *, timeout: float | None = DEFAULT) -> None:
        """Definition and rows, of an index or a table."""
        await self._change(
            "AskProjection",
            projections_pb2.AskProjectionRequest(name=name, ask="ASK_DROP"),
            timeout,
        )

    async def read_index(
        self,
        name: str,
        *,
        start: int | None = None,
        limit: int = 100,
        backwards: bool = False,
        events: bool = False,
        at_least: int | None = None,
        timeout: float | None = DEFAULT,
    ) -> IndexPage:
        """A page: from the number `start` on (None: the first, backwards the last), at most 1,000. Errors: NotFoundError, UnavailableError (it stands before
        what was seen), TimeoutError"""
        return _derived.index_page(
            await self._unary(
                "ReadIndex",
                lambda ms: _wire.checked(
                    projections_pb2.ReadIndexRequest,
                    name=name,
                    start=start,
                    limit=limit,
                    backwards=backwards,
                    events=events,
                    at_least=self._behind(at_least, ms),
                ),
                timeout,
            )
        )

    async def read_values(
        self,
        name: str,
        *,
        equal: Scalar = None,
        from_: Scalar = None,
        to: Scalar = None,
        until: Scalar = None,
        after: str = "",
        limit: int = 100,
        backwards: bool = False,
        events: bool = False,
        at_least: int | None = None,
        timeout: float | None = DEFAULT,
    ) -> ValuePage:
        """A page of a value index: one value, or a range (`from_` and `to` inclusive, `until` exclusive), at most 1,000; the next one begins `after` its
        `next`. Errors: as of read_index; InvalidArgumentError"""
        values = {"equal": equal, "from": from_, "to": to, "until": until}
        asked = {name: text for name, value in values.items() if (text := _derived.text_of(value)) is not None}
        return _derived.value_page(
            await self._unary(
                "ReadValues",
                lambda ms: _wire.checked(
                    projections_pb2.ReadValuesRequest,
                    name=name,
                    after=after,
                    limit=limit,
                    backwards=backwards,
                    events=events,
                    at_least=self._behind(at_least, ms),
                    **asked,
                ),
                timeout,
            )
        )

    async def select_page(
        self,
        table: str,
        where: str = "",
        parameters: Mapping[str | int, Scalar] | None = None,
        *,
        fields: Sequence[str] = (),
        order: Sequence[str] = (),
        limit: int | None = None,
        continue_from: str = "",
        version: int | None = None,
        at_least: int | None = None,
        timeout: float | None = DEFAULT,
    ) -> TablePage:
        """Rows that match, at most `limit` (None: 1,000; 10,000 at most). See select()."""
        select = _derived.table_select(where, parameters, tuple(fields), tuple(order))
        select.MergeFrom(_wire.checked(tables_pb2.TableSelect, limit=limit, continue_from=continue_from))
        return _derived.table_page(
            await self._unary(
                "Select",
                lambda ms: _wire.checked(
                    tables_pb2.SelectRequest,
                    table=table,
                    select=select,
                    version=version,
                    at_least=self._behind(at_least, ms),
                ),
                timeout,
            )
        )

    async def select(
        self,
        table: str,
        where: str = "",
        parameters: Mapping[str | int, Scalar] | None = None,
        *,
        fields: Sequence[str] = (),
        order: Sequence[str] = (),
        limit: int | None = None,
        version: int | None = None,
        at_least: int | None = None,
        timeout: float | None = DEFAULT,
    ) -> AsyncIterator[dict[str, Any]]:
        """Rows of a table that match, fetched a page at a time: `where`: "total > :t AND who = ?1" with `parameters` {"t": 10, 1: "ann"}; `order`:
        ["-total", "who"], descending with a minus. Every page is of one moment.

        Errors: NotFoundError, InvalidArgumentError, UnavailableError, TimeoutError
        """
        left, continue_from = limit, ""
        while left is None or left > 0:
            page = await self.select_page(
                table,
                where,
                parameters,
                fields=fields,
                order=order,
                limit=left if left is None else min(left, 1_000),
                continue_from=continue_from,
                version=version,
                at_least=at_least,
                timeout=timeout,
            )
            for row in page.rows:
                yield row
            if left is not None:
                left -= len(page.rows)
            continue_from = page.next
            if not continue_from:
                return

    async def define_documents(
        self,
        type: str,
        definition: Mapping[str, Any],
        *,
        expected: int | None = None,
        rebuild: bool = False,
        timeout: float | None = DEFAULT,
    ) -> int:
        """What the documents of an aggregate type are made by: docs/documents.md, "Write a definition". Returns its version, what the next change expects.
        The same again is no change, but with `rebuild`: then its documents are made again of the events that are left.
        """
        request = _wire.checked(
            documents_pb2.DefineDocumentsRequest,
            type=type,
            spec=json.dumps(definition).encode(),
            expected=expected,
            rebuild=rebuild,
        )
        return int((await self._change("Define", request, timeout)).version)

    async def describe_documents(self, type: str, *, timeout: float | None = DEFAULT) -> ProjectionInfo:
        """How far the documents of a type are. Errors: NotFoundError"""
        return _derived.projection_info(
            await self._unary(
                "Describe",
                lambda ms: _wire.checked(
                    documents_pb2.DescribeDocumentsRequest,
                    type=type,
                    at_least=self._behind(None, ms),
                ),
                timeout,
            )
        )

    async def drop_documents(self, type: str, *, timeout: float | None = DEFAULT) -> None:
        await self._change("Drop", documents_pb2.DropDocumentsRequest(type=type), timeout)

    async def document(
        self,
        aggregate: AggregateIdLike,
        *,
        eventual: bool = False,
        at_least: int | None = None,
        timeout: float | None = DEFAULT,
    ) -> Document:
        """An aggregate's current state: behind everything that is ordered for it; `eventual`: as the rows have it. Errors: NotFoundError"""
        who = _wire.aggregate(AggregateId.of(aggregate))
        return _derived.document(
            await self._unary(
                "Get",
                lambda ms: _wire.checked(
                    documents_pb2.GetDocumentRequest,
                    aggregate=who,
                    eventual=eventual,
                    at_least=self._behind(at_least, ms),
                ),
                timeout,
            )
        )

    async def documents(
        self,
        type: str,
        filter: str | None = None,
        *,
        after: str | None = None,
        limit: int | None = None,
        at_least: int | None = None,
        definition: int | None = None,
        timeout: float | None = DEFAULT,
    ) -> AsyncIterator[Document]:
        """Those of a type, in order of value, fetched a page at a time, all by one version of the definition: `definition`, which is waited for, 0 the
        newest; without it the one that is read. `filter`: 'total >= 10'. Errors: NotFoundError (also when that version is read no more: list from the
        beginning), InvalidArgumentError, TimeoutError"""
        left, behind = limit, None if after is None else after.encode()
        while left is None or left > 0:
            answer = await self._unary(
                "List",
                lambda ms: _wire.checked(
                    documents_pb2.ListDocumentsRequest,
                    type=type,
                    after=behind,
                    limit=1_000 if left is None else min(left, 1_000),
                    filter=filter,
                    definition=definition,
                    at_least=self._behind(at_least, ms),
                ),
                timeout,
            )
            definition = answer.definition or definition
            for one in answer.documents:
                yield _derived.document(one)
            if left is not None:
                left -= len(answer.documents)
            if not answer.HasField("next"):
                return
            behind = answer.next

    # Retention: what is removed is removed for good: docs/removal.md. All but the policies and the log need the scope `admin`; `by` and `reason` are kept in the log.
    #
    # Cancelling the call stops the work at the next safe point; the same again does what is left. Errors of what removes: OutcomeUnknownError (its end was not
    # heard: the same again tells).

    async def truncate_aggregate(
        self,
        aggregate: AggregateIdLike,
        before: int,
        *,
        uncovered: bool = False,
        by: str = "",
        reason: str = "",
        dry_run: bool = False,
        bytes_per_second: int = 0,
        progress: Callable[[Progress], None] | None = None,
    ) -> RetentionResult:
        """Removes an aggregate's events below `before`. `uncovered`: also where no snapshot stands for them. Errors: NotFoundError, InvalidArgumentError"""
        return await self._remove(
            "TruncateAggregate",
            _wire.checked(
                retention_pb2.TruncateAggregateRequest,
                aggregate=_wire.aggregate(AggregateId.of(aggregate)),
                before=before,
                uncovered=uncovered,
                order=_retention.order(by, reason, dry_run, bytes_per_second),
            ),
            progress,
        )

    async def remove_aggregate(
        self,
        aggregate: AggregateIdLike,
        *,
        by: str = "",
        reason: str = "",
        dry_run: bool = False,
        bytes_per_second: int = 0,
        progress: Callable[[Progress], None] | None = None,
    ) -> RetentionResult:
        """Removes all of an aggregate's events and snapshots. It is hidden until its next event. Errors: NotFoundError, InvalidArgumentError"""
        return await self._remove(
            "RemoveAggregate",
            retention_pb2.RemoveAggregateRequest(
                aggregate=_wire.aggregate(AggregateId.of(aggregate)),
                order=_retention.order(by, reason, dry_run, bytes_per_second),
            ),
            progress,
        )

    async def erase_subject(
        self,
        subject: str,
        *,
        by: str = "",
        reason: str = "",
        dry_run: bool = False,
        bytes_per_second: int = 0,
        progress: Callable[[Progress], None] | None = None,
    ) -> RetentionResult:
        """Destroys a subject's key: nobody reads its payloads any more, in backups neither. Errors: NotFoundError (it has none), InvalidArgumentError"""
        return await self._remove(
            "EraseSubject",
            _wire.checked(
                retention_pb2.EraseSubjectRequest,
                subject=subject,
                order=_retention.order(by, reason, dry_run, bytes_per_second),
            ),
            progress,
        )

    async def apply_retention(
        self,
        *,
        by: str = "",
        reason: str = "",
        dry_run: bool = False,
        bytes_per_second: int = 0,
        progress: Callable[[Progress], None] | None = None,
    ) -> RetentionResult:
        """Finishes what was broken off, applies all policies as of now, removes expired snapshots."""
        return await self._remove(
            "ApplyRetention",
            retention_pb2.ApplyRetentionRequest(order=_retention.order(by, reason, dry_run, bytes_per_second)),
            progress,
        )

    async def set_retention_policy(
        self,
        policy: RetentionPolicy,
        *,
        by: str = "",
        reason: str = "",
        timeout: float | None = DEFAULT,
    ) -> None:
        """Creates or replaces. Errors: InvalidArgumentError"""
        request = retention_pb2.SetRetentionPolicyRequest(
            policy=_retention.policy_message(policy), order=_retention.order(by, reason)
        )
        await self._change("SetRetentionPolicy", request, timeout)

    async def drop_retention_policy(
        self,
        name: str,
        *,
        by: str = "",
        reason: str = "",
        timeout: float | None = DEFAULT,
    ) -> None:
        """Errors: NotFoundError"""
        request = _wire.checked(
            retention_pb2.DropRetentionPolicyRequest,
            name=name,
            order=_retention.order(by, reason),
        )
        await self._change("DropRetentionPolicy", request, timeout)

    async def retention_policies(
        self, *, at_least: int | None = None, timeout: float | None = DEFAULT
    ) -> list[RetentionPolicy]:
        answer = await self._unary(
            "ListRetentionPolicies",
            lambda ms: retention_pb2.ListRetentionPoliciesRequest(at_least=self._behind(at_least, ms)),
            timeout,
        )
        return [_retention.policy(one) for one in answer.policies]

    async def retention_log(
        self,
        *,
        after: int = 0,
        limit: int | None = None,
        at_least: int | None = None,
        timeout: float | None = DEFAULT,
    ) -> list[RetentionEntry]:
        """What was done, in order, behind the number `after`."""
        entries: list[RetentionEntry] = []
        while limit is None or len(entries) < limit:
            page = 1_000 if limit is None else min(limit - len(entries), 1_000)
            behind = entries[-1].number if entries else after
            answer = await self._unary(
                "ReadRetentionLog",
                lambda ms, behind=behind, page=page: _wire.checked(  # type: ignore[misc]
                    retention_pb2.ReadRetentionLogRequest,
                    after=behind,
                    limit=page,
                    at_least=self._behind(at_least, ms),
                ),
                timeout,
            )
            entries.extend(_retention.entry(one) for one in answer.entries)
            if len(answer.entries) < page:
                break
        return entries

    # How

    async def _remove(self, method: str, request: Any, progress: Callable[[Progress], None] | None) -> RetentionResult:
        found: RetentionResult | None = None
        try:
            async for message in self._work(method, request, progress):
                if message.HasField("result"):
                    found = _retention.result(message.result)
        except EvershardError as error:
            if error.told_by_server or request.order.dry_run or _wire.never_sent(error):
                raise
            raise OutcomeUnknownError(
                f"its end was not heard, it may be ordered or done; the same again tells: {error.message}"
            ) from error
        if found is None:
            raise ProtocolError("the server ended without saying what was done")
        return found

    def _timeout_of(self, timeout: float | None) -> float | None:
        return self._timeout if timeout is DEFAULT else timeout

    def _behind(self, at_least: int | None, timeout_ms: int) -> Any:
        """What a read waits for: what its caller says, else what was seen."""
        if at_least is None and self._read_own_writes and self.seen > 0:
            at_least = self.seen
        return (
            None if at_least is None else _wire.checked(service_pb2.AtLeast, position=at_least, timeout_ms=timeout_ms)
        )

    async def _change(self, method: str, request: Any, timeout: float | None) -> Any:
        """What must not be done twice: it is not sent again where it may have arrived. Errors: OutcomeUnknownError"""
        return await self._unary(method, lambda _: request, timeout, write=True, once=True)

    async def _unary(
        self,
        method: str,
        request: Callable[[int], Any],
        timeout: float | None,
        *,
        write: bool = False,
        once: bool = False,
        append: Append | None = None,
    ) -> Any:
        """`request` is made from the milliseconds that one server may wait, and the same each time but for those."""
        seconds = self._timeout_of(timeout)
        until = None if seconds is None else time.monotonic() + seconds
        backoff, outcome = Backoff(), WriteOutcome()
        patience = Patience(self._unavailable_timeout, time.monotonic())
        before: EvershardError | None = None  # what the try before ended with: it says more than that the time is up
        message = request(0) if write else None  # the same bytes each time
        while True:
            left = None if until is None else max(until - time.monotonic(), 0.0)
            door, sent = None, False
            try:
                door = await self._doors.pick()
                if append is not None:  # what its own node refused goes to any: the map may be old
                    door, append = self._doors.home(append) or door, None
                # A wait for a position is the server's to end, with an error that says which.
                grace = 0.5 if not write and left is not None else 0.0
                await self._doors.connected(door, left)
                left = None if until is None else max(until - time.monotonic(), 0.0)
                if method == "PutSnapshot" and self._doors.several:
                    await self._come_so_far(door, left)
                asked = message or request(ms_of(self._doors.wait_at_one(left)))
                sent = True
                call = door.method(method)(
                    asked,
                    metadata=self._metadata,
                    timeout=None if left is None else left + grace,
                )
                answer = await call
                self._doors.history.hear(await call.initial_metadata())
                self._doors.worked(door)
                self._doors.see(_wire.seen_in(answer))
                return answer
            except grpc.aio.AioRpcError as failed:
                error = self._failure(door, failed)
            except UnavailableError as nobody:
                error = nobody
            except (asyncio.CancelledError, grpc.aio.UsageError):
                if not self._closed or is_cancelled():
                    raise
                error = CallCancelledError("the client was closed")
            if write and sent:
                outcome.failed(error)
            # One that has not come to a position in its time is left alone, where there are others.
            behind = self._doors.several and isinstance(error, TimeoutError) and error.told_by_server
            wait = backoff.next(error)
            if once:
                again = not_done(error, several=self._doors.several) and not outcome.unknown
            else:
                again = worth_retrying(error, write=write) or behind
            again = again and (behind or patience.bears(error, time.monotonic()))
            if before is not None and not write and isinstance(error, TimeoutError) and not error.told_by_server:
                error = before
            before = error
            if again and door is not None and not isinstance(error, OverloadedError):
                self._doors.failed(door)
            if self._closed or not again or (until is not None and time.monotonic() + wait >= until):
                raise outcome.end(error)
            await asyncio.sleep(wait)

    async def _come_so_far(self, door: Door, left: float | None) -> None:
        """A snapshot may be of a version so new that this node has not heard of it."""
        behind = self._behind(None, ms_of(self._doors.wait_at_one(left)))
        if behind is not None:
            await door.events.Head(
                service_pb2.HeadRequest(at_least=behind),
                metadata=self._metadata,
                timeout=left,
            )

    def _failure(self, door: Door | None, failed: grpc.aio.AioRpcError) -> EvershardError:
        error = _wire.failure(failed)
        return error if door is None else self._doors.fault(door, error)

    async def _work(self, method: str, request: Any, progress: Callable[[Progress], None] | None) -> AsyncIterator[Any]:
        door = await self._doors.pick()
        call = door.method(method)(request, metadata=self._metadata)
        try:
            async for message in call:
                if message.HasField("progress") and progress is not None:
                    progress(Progress(message.progress.done, message.progress.total))
                yield message
        except grpc.aio.AioRpcError as failed:
            raise self._failure(door, failed) from None
        finally:
            call.cancel()
