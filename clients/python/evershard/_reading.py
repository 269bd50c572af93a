"""What a read asks for next, after what it was given: a read goes on where it was when a connection broke, without a gap or a double."""

from __future__ import annotations

from typing import Any, TypedDict

from . import _wire
from ._recorded import RecordedEvent
from ._values import AggregateId, Query
from .v1 import service_pb2, store_pb2


class ReadBounds(TypedDict, total=False):
    """What bounds a read of everything or of a query. A new one is added here, and nowhere else in this client."""

    after: int  # exclusive
    before: int | None  # exclusive
    up_to: int | None  # inclusive: as of this position
    limit: int | None  # 0: nothing
    per_aggregate: int | None  # at most so many events of each aggregate, those met first
    backwards: bool
    at_least: int | None  # waits until the watermark is there


class AggregateBounds(TypedDict, total=False):
    """What bounds a read of one aggregate."""

    from_seq_nr: int | None  # inclusive
    up_to: int | None
    limit: int | None
    backwards: bool
    at_least: int | None


class ReadCursor:
    """Of everything or a query, by position; or of one aggregate, by seq_nr. The first page's watermark bounds it."""

    def __init__(self, source: Query | AggregateId, bounds: ReadBounds | AggregateBounds) -> None:
        of_query = isinstance(source, Query)
        unknown = set(bounds) - set((ReadBounds if of_query else AggregateBounds).__annotations__)
        if unknown:
            raise TypeError(f"a read has no {', '.join(sorted(unknown))}")
        given: dict[str, Any] = dict(bounds)
        self._source = source
        # A query: after (exclusive); an aggregate: from (inclusive).
        self._first: int | None = given.get("after", 0) if of_query else given.get("from_seq_nr")
        self._before: int | None = given.get("before")
        self._up_to: int | None = given.get("up_to")
        self._limit: int | None = given.get("limit")
        self._per_aggregate: int | None = given.get("per_aggregate")
        self._per_aggregate_from: int | None = None
        self._backwards: bool = given.get("backwards", False)
        self._at_least: int | None = given.get("at_least")
        self.watermark: int | None = None
        self.complete = False
        self.request(0)  # what cannot be asked is refused here, not at the first page

    def begins_behind(self, seen: int) -> None:
        """What was seen is to be read, where the caller says nothing else."""
        if self._at_least is None and seen > 0:
            self._at_least = seen

    @property
    def waits(self) -> bool:
        return self._at_least is not None

    def request(self, timeout_ms: int) -> service_pb2.ReadRequest:
        direction = store_pb2.DIRECTION_BACKWARDS if self._backwards else store_pb2.DIRECTION_FORWARDS
        at_least = None
        if self._at_least is not None:
            at_least = _wire.checked(service_pb2.AtLeast, position=self._at_least, timeout_ms=timeout_ms)
        common: dict[str, Any] = {
            "limit": self._limit,
            "up_to": self._up_to,
            "direction": direction,
        }
        if isinstance(self._source, Query):
            counted = {"per_aggregate": self._per_aggregate, "per_aggregate_from": self._per_aggregate_from}
            options = _wire.checked(store_pb2.ReadOptions, after=self._first, before=self._before, **counted, **common)
            return service_pb2.ReadRequest(query=_wire.query(self._source), options=options, at_least=at_least)
        stream = _wire.checked(store_pb2.StreamOptions, **{"from": self._first}, **common)
        return service_pb2.ReadRequest(aggregate=_wire.aggregate(self._source), stream=stream, at_least=at_least)

    def took(self, page: store_pb2.Page) -> tuple[RecordedEvent, ...]:
        events = tuple(_wire.recorded(event) for event in page.events)
        if self.watermark is None:
            self.watermark = page.watermark
            self._up_to = page.watermark if self._up_to is None else min(self._up_to, page.watermark)
            self._at_least = page.watermark  # whoever answers next must have come as far
            if self._per_aggregate is not None:  # what was given counts when the read goes on
                end = self._up_to + 1 if self._before is None else self._before
                self._per_aggregate_from = end if self._backwards else self._first
        self.complete = page.complete
        if events:
            self._go_on_behind(events[-1], len(events))
        return events

    def _go_on_behind(self, last: RecordedEvent, given: int) -> None:
        if self._limit is not None:
            self._limit -= given
            self.complete = self.complete or self._limit <= 0
        if isinstance(self._source, AggregateId):
            self._first = last.seq_nr - 1 if self._backwards else last.seq_nr + 1
            self.complete = self.complete or self._first == 0
        elif self._backwards:
            self._before = last.position
        else:
            self._first = last.position
