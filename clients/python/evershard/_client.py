"""The blocking client: each call is the asyncio client's, run in a thread of its own. From any thread; any number of calls at once."""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import (
    AsyncIterator,
    Callable,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from datetime import datetime, timedelta
from types import TracebackType
from typing import Any, Generic, Protocol, Self, TypeVar, Unpack

from . import aio
from ._administration import BlockingAdministration, Progress
from ._append import Append, AppendOutcome
from ._commands import BlockingCommands
from ._connection import DEFAULT, Tls
from ._derived import Document, IndexPage, ProjectionInfo, Scalar, TablePage, ValuePage
from ._errors import EvershardError
from ._groups import GroupDelivery, GroupInfo
from ._portal import Interrupted, Portal, from_thread
from ._reading import AggregateBounds, ReadBounds
from ._recorded import (
    AggregateInfo,
    Appended,
    FeedItem,
    RecordedEvent,
    RecordedSnapshot,
)
from ._retention import RetentionEntry, RetentionPolicy, RetentionResult
from ._scheduled import ScheduledAppend
from ._values import (
    AggregateIdLike,
    AppendCondition,
    CommandRecord,
    Event,
    ExpectedVersionLike,
    Query,
    Snapshot,
)

_AHEAD = 32
T = TypeVar("T")
S = TypeVar("S", bound="_Closes")


class _Closes(Protocol):
    async def close(self) -> None: ...


class Client(BlockingAdministration, BlockingCommands):
    """A connection to a server; see evershard.aio.Client for what each word means, and for the errors.

    >>> with Client("127.0.0.1:7420") as store:
    ...     store.append(Event("OrderPlaced", "order-1", {"total": 42}, ["customer:7"]), expect={"order-1": "none"})
    """

    _client: aio.Client

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
        self._portal = Portal.shared()

        async def make() -> aio.Client:
            return aio.Client(
                address,
                token=token,
                tls=tls,
                timeout=timeout,
                message_bytes_max=message_bytes_max,
                keepalive=keepalive,
                options=options,
                follow_shards=follow_shards,
                read_own_writes=read_own_writes,
                seen=seen,
                unavailable_timeout=unavailable_timeout,
            )

        self._client = self._portal.run(make())

    def close(self) -> None:
        """Ends every call that is under way."""
        self._portal.run(self._client.close())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def seen(self) -> int:
        return self._client.seen

    def see(self, position: int) -> None:
        async def see() -> None:
            self._client.see(position)

        self._portal.run(see())

    # Writing

    def append(
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
        return self._portal.run(
            self._client.append(
                events,
                expect=expect,
                fail_if=fail_if,
                snapshots=snapshots,
                command=command,
                conflicts_max=conflicts_max,
                timeout=timeout,
            )
        )

    def append_many(
        self,
        appends: Iterable[Append],
        *,
        in_flight: int = 256,
        timeout: float | None = DEFAULT,
    ) -> AppendMany:
        """`appends` is iterated over in another thread, and up to 32 further ahead."""

        async def make() -> aio.AppendMany:
            return self._client.append_many(
                from_thread(appends, min(max(in_flight, 1), _AHEAD)),
                in_flight=in_flight,
                timeout=timeout,
            )

        return AppendMany(self._portal, self._portal.run(make()))

    def put_snapshot(self, snapshot: Snapshot, *, timeout: float | None = DEFAULT) -> None:
        self._portal.run(self._client.put_snapshot(snapshot, timeout=timeout))

    # Scheduled appends

    def schedule(
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
        return self._portal.run(
            self._client.schedule(
                events,
                due=due,
                after=after,
                id=id,
                replace=replace,
                expect=expect,
                fail_if=fail_if,
                timeout=timeout,
            )
        )

    def cancel_scheduled(self, id: str, *, timeout: float | None = DEFAULT) -> ScheduledAppend:
        return self._portal.run(self._client.cancel_scheduled(id, timeout=timeout))

    def get_scheduled(
        self, id: str, *, at_least: int | None = None, timeout: float | None = DEFAULT
    ) -> ScheduledAppend:
        return self._portal.run(self._client.get_scheduled(id, at_least=at_least, timeout=timeout))

    def list_scheduled(
        self,
        *,
        all: bool = False,
        limit: int | None = None,
        at_least: int | None = None,
        timeout: float | None = DEFAULT,
    ) -> Iterator[ScheduledAppend]:
        found = self._client.list_scheduled(all=all, limit=limit, at_least=at_least, timeout=timeout)
        while some := self._portal.run(_some_of(found, 100)):
            yield from some

    # Reading

    def read(
        self, query: Query | None = None, *, timeout: float | None = DEFAULT, **bounds: Unpack[ReadBounds]
    ) -> EventReader:
        async def make() -> aio.EventReader:
            return self._client.read(query, timeout=timeout, **bounds)

        return EventReader(self._portal, self._portal.run(make()))

    def read_aggregate(
        self, aggregate: AggregateIdLike, *, timeout: float | None = DEFAULT, **bounds: Unpack[AggregateBounds]
    ) -> EventReader:
        async def make() -> aio.EventReader:
            return self._client.read_aggregate(aggregate, timeout=timeout, **bounds)

        return EventReader(self._portal, self._portal.run(make()))

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
        """`on_away` is called in the clients' own thread: it must not call them."""

        async def make() -> aio.Subscription:
            return self._client.subscribe(
                query,
                after=after,
                heartbeat=heartbeat,
                page_events_max=page_events_max,
                retry_for=retry_for,
                on_away=on_away,
            )

        return Subscription(self._portal, self._portal.run(make()))

    def head(self, *, at_least: int | None = None, timeout: float | None = DEFAULT) -> int:
        return self._portal.run(self._client.head(at_least=at_least, timeout=timeout))

    def event_at(
        self,
        position: int,
        *,
        at_least: int | None = None,
        timeout: float | None = DEFAULT,
    ) -> RecordedEvent:
        return self._portal.run(self._client.event_at(position, at_least=at_least, timeout=timeout))

    def aggregate(
        self,
        aggregate: AggregateIdLike,
        *,
        up_to: int | None = None,
        at_least: int | None = None,
        timeout: float | None = DEFAULT,
    ) -> AggregateInfo:
        return self._portal.run(self._client.aggregate(aggregate, up_to=up_to, at_least=at_least, timeout=timeout))

    def aggregates(
        self,
        type: str | None = None,
        *,
        after: AggregateIdLike | None = None,
        page: int = 1_000,
        at_least: int | None = None,
        timeout: float | None = DEFAULT,
    ) -> Iterator[AggregateInfo]:
        rows = self._client.aggregates(type, after=after, page=page, at_least=at_least, timeout=timeout)
        while some := self._portal.run(_some_of(rows, page)):
            yield from some

    def state(
        self,
        aggregate: AggregateIdLike,
        *,
        version: int | None = None,
        up_to: int | None = None,
        limit: int | None = None,
        at_least: int | None = None,
        timeout: float | None = DEFAULT,
    ) -> dict[str, Any]:
        return self._portal.run(
            self._client.state(
                aggregate,
                version=version,
                up_to=up_to,
                limit=limit,
                at_least=at_least,
                timeout=timeout,
            )
        )

    def snapshot(
        self,
        aggregate: AggregateIdLike,
        *,
        at_or_before: int | None = None,
        up_to: int | None = None,
        at_least: int | None = None,
        timeout: float | None = DEFAULT,
    ) -> RecordedSnapshot | None:
        return self._portal.run(
            self._client.snapshot(
                aggregate,
                at_or_before=at_or_before,
                up_to=up_to,
                at_least=at_least,
                timeout=timeout,
            )
        )

    def snapshots(
        self,
        aggregate: AggregateIdLike,
        *,
        at_least: int | None = None,
        timeout: float | None = DEFAULT,
    ) -> list[RecordedSnapshot]:
        return self._portal.run(self._client.snapshots(aggregate, at_least=at_least, timeout=timeout))

    def types(self, *, timeout: float | None = DEFAULT) -> bytes:
        return self._portal.run(self._client.types(timeout=timeout))

    # Consumer groups

    def create_group(
        self,
        name: str,
        query: Query | None = None,
        *,
        after: int | None = 0,
        settings: Mapping[str, int] | None = None,
        if_absent: bool = False,
        timeout: float | None = DEFAULT,
    ) -> GroupInfo:
        return self._portal.run(
            self._client.create_group(name, query, after=after, settings=settings, if_absent=if_absent, timeout=timeout)
        )

    def drop_group(self, name: str, *, timeout: float | None = DEFAULT) -> None:
        self._portal.run(self._client.drop_group(name, timeout=timeout))

    def groups(self, *, timeout: float | None = DEFAULT) -> list[GroupInfo]:
        return self._portal.run(self._client.groups(timeout=timeout))

    def work(self, group: str, *, worker: str | None = None, credit: int = 16) -> GroupWorker:
        async def make() -> aio.GroupWorker:
            return self._client.work(group, worker=worker, credit=credit)

        return GroupWorker(self._portal, self._portal.run(make()))

    # Projections and documents

    def create_index(self, query: Query, *, timeout: float | None = DEFAULT) -> ProjectionInfo:
        return self._portal.run(self._client.create_index(query, timeout=timeout))

    def create_value_index(
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
        return self._portal.run(
            self._client.create_value_index(
                name, types, path, value, source=source, if_absent=if_absent, timeout=timeout
            )
        )

    def create_table(
        self,
        name: str,
        definition: Mapping[str, Any],
        *,
        if_absent: bool = False,
        timeout: float | None = DEFAULT,
    ) -> ProjectionInfo:
        return self._portal.run(self._client.create_table(name, definition, if_absent=if_absent, timeout=timeout))

    def projection(self, name: str, *, timeout: float | None = DEFAULT) -> ProjectionInfo:
        return self._portal.run(self._client.projection(name, timeout=timeout))

    def projections(self, *, timeout: float | None = DEFAULT) -> list[ProjectionInfo]:
        return self._portal.run(self._client.projections(timeout=timeout))

    def drop_projection(self, name: str, *, timeout: float | None = DEFAULT) -> None:
        self._portal.run(self._client.drop_projection(name, timeout=timeout))

    def read_index(
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
        return self._portal.run(
            self._client.read_index(
                name,
                start=start,
                limit=limit,
                backwards=backwards,
                events=events,
                at_least=at_least,
                timeout=timeout,
            )
        )

    def read_values(
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
        return self._portal.run(
            self._client.read_values(
                name,
                equal=equal,
                from_=from_,
                to=to,
                until=until,
                after=after,
                limit=limit,
                backwards=backwards,
                events=events,
                at_least=at_least,
                timeout=timeout,
            )
        )

    def select_page(
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
        return self._portal.run(
            self._client.select_page(
                table,
                where,
                parameters,
                fields=fields,
                order=order,
                limit=limit,
                continue_from=continue_from,
                version=version,
                at_least=at_least,
                timeout=timeout,
            )
        )

    def select(
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
    ) -> Iterator[dict[str, Any]]:
        rows = self._client.select(
            table,
            where,
            parameters,
            fields=fields,
            order=order,
            limit=limit,
            version=version,
            at_least=at_least,
            timeout=timeout,
        )
        while some := self._portal.run(_some_of(rows, 1_000)):
            yield from some

    def define_documents(
        self,
        type: str,
        definition: Mapping[str, Any],
        *,
        expected: int | None = None,
        rebuild: bool = False,
        timeout: float | None = DEFAULT,
    ) -> int:
        return self._portal.run(
            self._client.define_documents(type, definition, expected=expected, rebuild=rebuild, timeout=timeout)
        )

    def describe_documents(self, type: str, *, timeout: float | None = DEFAULT) -> ProjectionInfo:
        return self._portal.run(self._client.describe_documents(type, timeout=timeout))

    def drop_documents(self, type: str, *, timeout: float | None = DEFAULT) -> None:
        self._portal.run(self._client.drop_documents(type, timeout=timeout))

    def document(
        self,
        aggregate: AggregateIdLike,
        *,
        eventual: bool = False,
        at_least: int | None = None,
        timeout: float | None = DEFAULT,
    ) -> Document:
        return self._portal.run(self._client.document(aggregate, eventual=eventual, at_least=at_least, timeout=timeout))

    def documents(
        self,
        type: str,
        filter: str | None = None,
        *,
        after: str | None = None,
        limit: int | None = None,
        at_least: int | None = None,
        definition: int | None = None,
        timeout: float | None = DEFAULT,
    ) -> Iterator[Document]:
        found = self._client.documents(
            type,
            filter,
            after=after,
            limit=limit,
            at_least=at_least,
            definition=definition,
            timeout=timeout,
        )
        while some := self._portal.run(_some_of(found, 1_000)):
            yield from some

    # Retention

    def truncate_aggregate(
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
        return self._portal.run(
            self._client.truncate_aggregate(
                aggregate,
                before,
                uncovered=uncovered,
                by=by,
                reason=reason,
                dry_run=dry_run,
                bytes_per_second=bytes_per_second,
                progress=progress,
            )
        )

    def remove_aggregate(
        self,
        aggregate: AggregateIdLike,
        *,
        by: str = "",
        reason: str = "",
        dry_run: bool = False,
        bytes_per_second: int = 0,
        progress: Callable[[Progress], None] | None = None,
    ) -> RetentionResult:
        return self._portal.run(
            self._client.remove_aggregate(
                aggregate,
                by=by,
                reason=reason,
                dry_run=dry_run,
                bytes_per_second=bytes_per_second,
                progress=progress,
            )
        )

    def erase_subject(
        self,
        subject: str,
        *,
        by: str = "",
        reason: str = "",
        dry_run: bool = False,
        bytes_per_second: int = 0,
        progress: Callable[[Progress], None] | None = None,
    ) -> RetentionResult:
        return self._portal.run(
            self._client.erase_subject(
                subject,
                by=by,
                reason=reason,
                dry_run=dry_run,
                bytes_per_second=bytes_per_second,
                progress=progress,
            )
        )

    def apply_retention(
        self,
        *,
        by: str = "",
        reason: str = "",
        dry_run: bool = False,
        bytes_per_second: int = 0,
        progress: Callable[[Progress], None] | None = None,
    ) -> RetentionResult:
        return self._portal.run(
            self._client.apply_retention(
                by=by,
                reason=reason,
                dry_run=dry_run,
                bytes_per_second=bytes_per_second,
                progress=progress,
            )
        )

    def set_retention_policy(
        self,
        policy: RetentionPolicy,
        *,
        by: str = "",
        reason: str = "",
        timeout: float | None = DEFAULT,
    ) -> None:
        self._portal.run(self._client.set_retention_policy(policy, by=by, reason=reason, timeout=timeout))

    def drop_retention_policy(
        self,
        name: str,
        *,
        by: str = "",
        reason: str = "",
        timeout: float | None = DEFAULT,
    ) -> None:
        self._portal.run(self._client.drop_retention_policy(name, by=by, reason=reason, timeout=timeout))

    def retention_policies(
        self, *, at_least: int | None = None, timeout: float | None = DEFAULT
    ) -> list[RetentionPolicy]:
        return self._portal.run(self._client.retention_policies(at_least=at_least, timeout=timeout))

    def retention_log(
        self,
        *,
        after: int = 0,
        limit: int | None = None,
        at_least: int | None = None,
        timeout: float | None = DEFAULT,
    ) -> list[RetentionEntry]:
        return self._portal.run(
            self._client.retention_log(after=after, limit=limit, at_least=at_least, timeout=timeout)
        )


async def _some_of(items: AsyncIterator[T], most: int) -> list[T]:
    """The next ones, at most so many; none: there are no more."""
    some: list[T] = []
    while len(some) < most:
        try:
            some.append(await anext(items))
        except StopAsyncIteration:
            break
    return some


class _Stream(Generic[S]):
    """An iteration that can be closed, also from another thread."""

    def __init__(self, portal: Portal, stream: S) -> None:
        self._portal = portal
        self._stream = stream

    def close(self) -> None:
        """Ends the call; whoever waits for its next item is told that nothing follows."""
        self._portal.run(self._stream.close())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __iter__(self) -> Self:
        return self

    def __del__(self) -> None:
        # Left early, and nobody has it any more: its call ends, and the thread of an append_many's appends.
        with contextlib.suppress(Exception):
            self._portal.leave(self._stream.close())


class EventReader(_Stream[aio.EventReader]):
    """Iterates over events, a page fetched at a time. Leaving early: close(), or `with`."""

    def __init__(self, portal: Portal, stream: aio.EventReader) -> None:
        super().__init__(portal, stream)
        self._page: deque[RecordedEvent] = deque()

    @property
    def watermark(self) -> int | None:
        """What the whole read is bounded by; None before its first page."""
        return self._stream.watermark

    def __next__(self) -> RecordedEvent:
        if not self._page:
            self._page.extend(self.next_page())
            if not self._page:
                raise StopIteration
        return self._page.popleft()

    def next_page(self) -> tuple[RecordedEvent, ...]:
        """Events that follow; none: there are no more."""
        return self._portal.run(self._stream.next_page())


class Subscription(_Stream[aio.Subscription]):
    """Iterates over FeedItems until it is closed. `watermark` is that of the last item: what a later subscription goes on after."""

    @property
    def watermark(self) -> int | None:
        return self._stream.watermark

    @property
    def reconnects(self) -> int:
        return self._stream.reconnects

    @property
    def away(self) -> EvershardError | None:
        return self._stream.away

    def __next__(self) -> FeedItem:
        found = self._portal.run(_some_of(self._stream, 1))
        if not found:
            raise StopIteration
        return found[0]

    def events(self) -> Iterator[RecordedEvent]:
        """The events alone. Left and begun again, it goes on behind the last one."""
        for item in self:
            yield from self._stream._each(item)


class AppendMany(_Stream[aio.AppendMany]):
    """Iterates over AppendOutcomes, in the order of the appends."""

    def __init__(self, portal: Portal, stream: aio.AppendMany) -> None:
        super().__init__(portal, stream)
        self._ready: deque[AppendOutcome] = deque()

    def __next__(self) -> AppendOutcome:
        if not self._ready:
            try:
                self._ready.extend(self._portal.run(self._stream.next_ready()))
            except Interrupted as carried:
                raise carried.cause from None
            if not self._ready:
                raise StopIteration
        return self._ready.popleft()


class GroupWorker(_Stream[aio.GroupWorker]):
    """Iterates over GroupDeliveries until it is closed; see evershard.aio.GroupWorker."""

    def __next__(self) -> GroupDelivery:
        delivery = self.next()
        if delivery is None:
            raise StopIteration
        return delivery

    def next(self, timeout: float | None = None) -> GroupDelivery | None:
        return self._portal.run(self._stream.next(timeout))

    def acknowledge(self, delivery: GroupDelivery) -> bool:
        return self._portal.run(self._stream.acknowledge(delivery))

    def reject(self, delivery: GroupDelivery, reason: str, *, after: float | None = None) -> bool:
        return self._portal.run(self._stream.reject(delivery, reason, after=after))

    def park(self, delivery: GroupDelivery, reason: str) -> bool:
        return self._portal.run(self._stream.park(delivery, reason))

    def renew(self, *deliveries: GroupDelivery) -> bool:
        return self._portal.run(self._stream.renew(*deliveries))
