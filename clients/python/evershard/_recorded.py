"""What the store gives back. Values: compared, never changed."""

from __future__ import annotations

import enum
import json
import uuid
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from ._values import EPOCH, AggregateId, OpenEnum


class EventState(OpenEnum):
    LIVE = 0
    REMOVED = 1  #: truncated or removed with its aggregate: id, aggregate, seq_nr and place are kept
    ERASED = 2  #: its payload's key is gone: everything but the payload is kept


def moment_of(microseconds: int) -> datetime:
    """Errors: OverflowError outside of the years 1 to 9999."""
    return EPOCH + timedelta(microseconds=microseconds)


@dataclass(frozen=True, slots=True)
class RecordedEvent:
    """An event as stored: with its place in its aggregate's stream, its shard and the global order."""

    position: int  #: in the global order, dense, from 1
    shard: int
    offset: int  #: in its shard
    id: uuid.UUID
    aggregate: AggregateId | None
    seq_nr: int  #: in its aggregate's stream, dense, from 1; 0 without an aggregate
    type: str
    tags: tuple[str, ...]
    also: tuple[AggregateId, ...]
    payload: bytes
    payload_format: int
    metadata: bytes | None  #: None: none, which is not the same as b""
    occurred_at_us: int  #: microseconds since 1970-01-01T00:00:00Z
    state: EventState
    append_index: int  #: its number in its append, from 0
    append_events: int  #: how many events its append has
    subject: str = ""  #: of a sealed payload: whose data it is

    @property
    def occurred_at(self) -> datetime:
        """In UTC."""
        return moment_of(self.occurred_at_us)

    def json(self) -> Any:
        """The payload, read as JSON. Errors: ValueError"""
        return json.loads(self.payload)

    def text(self) -> str:
        return self.payload.decode()


@dataclass(frozen=True, slots=True)
class RecordedSnapshot:
    aggregate: AggregateId
    version: int
    position: int  #: of the event that made the version
    payload: bytes
    payload_format: int
    schema_revision: int
    taken_at_us: int
    expires_at_us: int | None
    latest: bool
    subject: str = ""  #: of a sealed payload: whose data it is

    @property
    def taken_at(self) -> datetime:
        return moment_of(self.taken_at_us)

    @property
    def expires_at(self) -> datetime | None:
        return None if self.expires_at_us is None else moment_of(self.expires_at_us)

    def json(self) -> Any:
        return json.loads(self.payload)


@dataclass(frozen=True, slots=True)
class Appended:
    """What acknowledges an append: it is durable. The same for every retry, but for `duplicate` and `watermark`."""

    first_position: int
    last_position: int
    versions: dict[AggregateId, int]  #: after the append, in order of first event
    duplicate: bool  #: it was stored already
    watermark: int  #: for `at_least`


@dataclass(frozen=True, slots=True)
class AggregateInfo:
    aggregate: AggregateId
    version: int
    last_position: int
    shard: int


class FeedKind(enum.Enum):
    EVENTS = 1
    CAUGHT_UP = 2  #: everything up to `watermark` was given; from now on events come as they are appended
    FELL_BEHIND = 3  #: more than a page is waiting
    HEARTBEAT = 4  #: nothing new


@dataclass(frozen=True, slots=True)
class FeedItem:
    """A subscription's next item. `watermark`: everything up to it was looked at and, if it matches, given: what to go on after."""

    kind: FeedKind
    watermark: int
    events: tuple[RecordedEvent, ...] = ()
