"""What a read asks for next, after what it was given: a read goes on where it was when a connection broke, without a gap or a double."""

from __future__ import annotations

from typing import Any

from . import _wire
from ._recorded import RecordedEvent
from ._values import AggregateId, Query
from .v1 import service_pb2, store_pb2


class ReadCursor:
    """Of everything or a query, by position; or of one aggregate, by seq_nr. The first page's watermark bounds the whole read."""

    def __init__(
        self,
        source: Query | AggregateId,
        *,
        first: int | None,
        before: int | None,
        up_to: int | None,
        limit: int | None,
        backwards: bool,
        at_least: int | None,
    ) -> None:
        self._source = source
        self._first = first  # a query: after (exclusive); an aggregate: from (inclusive)
        self._before = before
        self._up_to = up_to
        self._limit = limit
        self._backwards = backwards
        self._at_least = at_least
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
            options = _wire.checked(store_pb2.ReadOptions, after=self._first, before=self._before, **common)
            return service_pb2.ReadRequest(query=_wire.query(self._source), options=options, at_least=at_least)
        stream = _wire.checked(store_pb2.StreamOptions, **{"from": self._first}, **common)
        return service_pb2.ReadRequest(aggregate=_wire.aggregate(self._source), stream=stream, at_least=at_least)

    def took(self, page: store_pb2.Page) -> tuple[RecordedEvent, ...]:
        events = tuple(_wire.recorded(event) for event in page.events)
        if self.watermark is None:
            self.watermark = page.watermark
            self._up_to = page.watermark if self._up_to is None else min(self._up_to, page.watermark)
            self._at_least = page.watermark  # whoever answers next must have come as far
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
