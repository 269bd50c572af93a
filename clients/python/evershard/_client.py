"""The blocking client, made of the asyncio client: each call is that one's, waited for. From any thread; any number of calls at once."""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from types import TracebackType
from typing import Any, Generic, Self

from . import aio
from ._append import Append, AppendOutcome
from ._blocking import S, blocking, iterated, some_of, streamed
from ._connection import DEFAULT, Tls
from ._errors import EvershardError
from ._groups import GroupDelivery
from ._portal import Interrupted, Portal, from_thread
from ._recorded import FeedItem, RecordedEvent

_AHEAD = 32


class _Stream(Generic[S]):
    """An iteration that can be closed, also from another thread."""

    def __init__(self, portal: Portal, stream: S) -> None:
        self._portal = portal
        self._aio = stream

    def close(self) -> None:
        """Ends the call; whoever waits for its next item is told that nothing follows."""
        self._portal.run(self._aio.close())

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
            self._portal.leave(self._aio.close())


class EventReader(_Stream[aio.EventReader]):
    """Iterates over events, a page fetched at a time. Leaving early: close(), or `with`."""

    def __init__(self, portal: Portal, stream: aio.EventReader) -> None:
        super().__init__(portal, stream)
        self._page: deque[RecordedEvent] = deque()

    @property
    def watermark(self) -> int | None:
        """What the whole read is bounded by; None before its first page."""
        return self._aio.watermark

    def __next__(self) -> RecordedEvent:
        if not self._page:
            self._page.extend(self.next_page())
            if not self._page:
                raise StopIteration
        return self._page.popleft()

    next_page = blocking(aio.EventReader.next_page)


class Subscription(_Stream[aio.Subscription]):
    """Iterates over FeedItems until it is closed. `watermark` is that of the last item: what a later subscription goes on after."""

    @property
    def watermark(self) -> int | None:
        return self._aio.watermark

    @property
    def reconnects(self) -> int:
        return self._aio.reconnects

    @property
    def away(self) -> EvershardError | None:
        return self._aio.away

    def __next__(self) -> FeedItem:
        found = self._portal.run(some_of(self._aio, 1))
        if not found:
            raise StopIteration
        return found[0]

    def events(self) -> Iterator[RecordedEvent]:
        """The events alone. Left and begun again, it goes on behind the last one."""
        for item in self:
            yield from self._aio._each(item)


class AppendMany(_Stream[aio.AppendMany]):
    """Iterates over AppendOutcomes, in the order of the appends."""

    def __init__(self, portal: Portal, stream: aio.AppendMany) -> None:
        super().__init__(portal, stream)
        self._ready: deque[AppendOutcome] = deque()

    def __next__(self) -> AppendOutcome:
        if not self._ready:
            try:
                self._ready.extend(self._portal.run(self._aio.next_ready()))
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

    next = blocking(aio.GroupWorker.next)
    acknowledge = blocking(aio.GroupWorker.acknowledge)
    reject = blocking(aio.GroupWorker.reject)
    park = blocking(aio.GroupWorker.park)
    renew = blocking(aio.GroupWorker.renew)


class Client:
    """A connection to a server; see evershard.aio.Client for what each word means, and for the errors.

    >>> with Client("127.0.0.1:7420") as store:
    ...     store.append(Event("OrderPlaced", "order-1", {"total": 42}, ["customer:7"]), expect={"order-1": "none"})
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

        self._aio = self._portal.run(make())

    def close(self) -> None:
        """Ends every call that is under way."""
        self._portal.run(self._aio.close())

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
        return self._aio.seen

    def see(self, position: int) -> None:
        async def see() -> None:
            self._aio.see(position)

        self._portal.run(see())

    # Writing

    append = blocking(aio.Client.append)
    put_snapshot = blocking(aio.Client.put_snapshot)
    schedule = blocking(aio.Client.schedule)
    cancel_scheduled = blocking(aio.Client.cancel_scheduled)
    get_scheduled = blocking(aio.Client.get_scheduled)
    list_scheduled = iterated(aio.Client.list_scheduled, 100)
    ask = blocking(aio.Client.ask)

    def append_many(
        self,
        appends: Iterable[Append],
        *,
        in_flight: int = 256,
        timeout: float | None = DEFAULT,
    ) -> AppendMany:
        """`appends` is iterated over in another thread, and up to 32 further ahead."""

        async def make() -> aio.AppendMany:
            return self._aio.append_many(
                from_thread(appends, min(max(in_flight, 1), _AHEAD)),
                in_flight=in_flight,
                timeout=timeout,
            )

        return AppendMany(self._portal, self._portal.run(make()))

    # Reading

    read = streamed(aio.Client.read, EventReader)
    read_aggregate = streamed(aio.Client.read_aggregate, EventReader)
    #: `on_away` is called in the clients' own thread: it must not call them.
    subscribe = streamed(aio.Client.subscribe, Subscription)
    head = blocking(aio.Client.head)
    position_at = blocking(aio.Client.position_at)
    event_at = blocking(aio.Client.event_at)
    aggregate = blocking(aio.Client.aggregate)
    aggregates = iterated(aio.Client.aggregates, 1_000)
    state = blocking(aio.Client.state)
    snapshot = blocking(aio.Client.snapshot)
    snapshots = blocking(aio.Client.snapshots)
    types = blocking(aio.Client.types)
    kinds = blocking(aio.Client.kinds)

    # Consumer groups

    create_group = blocking(aio.Client.create_group)
    drop_group = blocking(aio.Client.drop_group)
    groups = blocking(aio.Client.groups)
    work = streamed(aio.Client.work, GroupWorker)

    # Projections and documents

    create_index = blocking(aio.Client.create_index)
    create_value_index = blocking(aio.Client.create_value_index)
    create_table = blocking(aio.Client.create_table)
    projection = blocking(aio.Client.projection)
    projections = blocking(aio.Client.projections)
    drop_projection = blocking(aio.Client.drop_projection)
    read_index = blocking(aio.Client.read_index)
    read_values = blocking(aio.Client.read_values)
    select_page = blocking(aio.Client.select_page)
    select = iterated(aio.Client.select, 1_000)
    define_documents = blocking(aio.Client.define_documents)
    describe_documents = blocking(aio.Client.describe_documents)
    drop_documents = blocking(aio.Client.drop_documents)
    document = blocking(aio.Client.document)
    documents = iterated(aio.Client.documents, 1_000)

    # Retention

    truncate_aggregate = blocking(aio.Client.truncate_aggregate)
    remove_aggregate = blocking(aio.Client.remove_aggregate)
    erase_subject = blocking(aio.Client.erase_subject)
    apply_retention = blocking(aio.Client.apply_retention)
    set_retention_policy = blocking(aio.Client.set_retention_policy)
    drop_retention_policy = blocking(aio.Client.drop_retention_policy)
    retention_policies = blocking(aio.Client.retention_policies)
    retention_log = blocking(aio.Client.retention_log)

    # Administration. `progress` is called from evershard's own thread: it must not call the client.

    stats = blocking(aio.Client.stats)
    flush = blocking(aio.Client.flush)
    verify = blocking(aio.Client.verify)
    vacuum = blocking(aio.Client.vacuum)
    backup = blocking(aio.Client.backup)
