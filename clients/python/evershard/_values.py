"""What is given to the store. Values: compared, hashed, never changed."""

from __future__ import annotations

import enum
import json
import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Any, TypeAlias

from ._errors import InvalidArgumentError, TooLargeError

EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_TYPE_BYTES_MAX = 128
_VALUE_BYTES_MAX = 512


def _check_name(what: str, name: str, bytes_max: int) -> None:
    if not name:
        raise InvalidArgumentError(f"{what} is empty")
    try:
        size = len(name.encode())
    except UnicodeEncodeError:
        raise InvalidArgumentError(f"{what} {name!r} is not UTF-8") from None
    if size > bytes_max:
        raise TooLargeError(f"{what} has {size} bytes, the most is {bytes_max}")
    if "\0" in name:
        raise InvalidArgumentError(f"{what} {name!r} contains a NUL")


@dataclass(frozen=True, slots=True, order=True)
class AggregateId:
    """Which aggregate. Its text form is `type-value`, split at the first '-'. Source: docs/internals/ids.md

    Errors: InvalidArgumentError, TooLargeError (128 bytes of type, 512 of value)
    """

    type: str
    value: str

    def __post_init__(self) -> None:
        _check_name("aggregate type", self.type, _TYPE_BYTES_MAX)
        if "-" in self.type:
            raise InvalidArgumentError(f"aggregate type {self.type!r} contains a '-'")
        _check_name("aggregate value", self.value, _VALUE_BYTES_MAX)

    @classmethod
    def parse(cls, text: str) -> AggregateId:
        kind, dash, value = text.partition("-")
        if not dash:
            raise InvalidArgumentError(f"aggregate id {text!r} has no '-' between type and value")
        return cls(kind, value)

    @classmethod
    def of(cls, given: AggregateIdLike) -> AggregateId:
        return given if isinstance(given, AggregateId) else cls.parse(given)

    def __str__(self) -> str:
        return f"{self.type}-{self.value}"


AggregateIdLike: TypeAlias = AggregateId | str


class OpenEnum(enum.IntEnum):
    """Takes numbers it does not know: a newer server's, or a user's own."""

    @classmethod
    def _missing_(cls, value: object) -> OpenEnum | None:
        if not isinstance(value, int):
            return None
        member = int.__new__(cls, value)
        member._name_ = f"NUMBER_{value}"
        member._value_ = value
        return member


class PayloadFormat(OpenEnum):
    """How a payload is to be read. From 1,000 on: the user's own."""

    UNSPECIFIED = 0
    JSON = 1
    PROTOBUF = 2
    TEXT = 3
    ENCRYPTED = 4


def to_bytes(content: Any, what: str) -> tuple[bytes, int]:
    """A payload's or metadata's bytes and format: bytes as they are, text as UTF-8, anything else as JSON."""
    if content is None:
        return b"", PayloadFormat.UNSPECIFIED
    if isinstance(content, (bytes, bytearray, memoryview)):
        return bytes(content), PayloadFormat.UNSPECIFIED
    try:
        if isinstance(content, str):
            return content.encode(), PayloadFormat.TEXT
        return (
            json.dumps(content, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode(),
            PayloadFormat.JSON,
        )
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidArgumentError(f"{what} cannot be written as bytes: {error}") from None


def microseconds_of(moment: datetime) -> int:
    if moment.tzinfo is None:
        raise InvalidArgumentError(
            f"{moment.isoformat()} names no time zone: use datetime.now(timezone.utc), or .astimezone()"
        )
    return (moment - EPOCH) // timedelta(microseconds=1)


def _texts(given: Iterable[str] | str, what: str) -> tuple[str, ...]:
    if isinstance(given, str):  # ('a', 'b', 'c') for 'abc' is never what was meant
        raise InvalidArgumentError(f"{what} is the string {given!r}, not a list of strings")
    return tuple(given)


def _ids(given: Iterable[AggregateIdLike] | str, what: str) -> tuple[AggregateId, ...]:
    if isinstance(given, str):
        raise InvalidArgumentError(f"{what} is the string {given!r}, not a list of ids")
    return tuple(AggregateId.of(one) for one in given)


@dataclass(frozen=True, slots=True, init=False)
class Event:
    """An event to be appended. Its id is made with it, so that the same value, sent again, is the same event.

    `payload`: bytes as they are (format 0), str as text (3), anything else as JSON (1); `payload_format` says otherwise.
    `metadata` likewise; None: none, which is not the same as b"".
    `occurred_at`: with a time zone; None: the store's clock at append.
    `subject`: whose data the payload is: it is sealed under a key of theirs, which can be destroyed; empty: nobody's.
    """

    type: str
    aggregate: AggregateId | None
    payload: bytes
    tags: tuple[str, ...]
    also: tuple[AggregateId, ...]
    payload_format: int
    metadata: bytes | None
    occurred_at_us: int | None
    id: uuid.UUID
    subject: str

    def __init__(
        self,
        type: str,
        aggregate: AggregateIdLike | None = None,
        payload: Any = None,
        tags: Iterable[str] = (),
        *,
        also: Iterable[AggregateIdLike] = (),
        payload_format: int | None = None,
        metadata: Any = None,
        occurred_at: datetime | None = None,
        id: uuid.UUID | None = None,
        subject: str = "",
    ) -> None:
        content, assumed = to_bytes(payload, "payload")
        put = object.__setattr__
        put(self, "type", type)
        put(self, "aggregate", None if aggregate is None else AggregateId.of(aggregate))
        put(self, "payload", content)
        put(self, "tags", _texts(tags, "tags"))
        put(self, "also", _ids(also, "also"))
        put(
            self,
            "payload_format",
            assumed if payload_format is None else payload_format,
        )
        put(self, "metadata", None if metadata is None else to_bytes(metadata, "metadata")[0])
        put(
            self,
            "occurred_at_us",
            None if occurred_at is None else microseconds_of(occurred_at),
        )
        put(self, "id", uuid.uuid4() if id is None else id)
        put(self, "subject", subject)


@dataclass(frozen=True, slots=True)
class QueryItem:
    types: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    concerning: tuple[AggregateId, ...] = ()


@dataclass(frozen=True, slots=True)
class Query:
    """Which events: Query.all(), or Query().types("Placed", "Paid").tags("customer:7").or_().concerning("order-1").

    In an item, types are OR, tags are AND, aggregates concerned are AND, and the three are AND; items are OR. Each call gives a new query. One
    of no items is refused by the server (InvalidQueryError), never "nothing".
    """

    items: tuple[QueryItem, ...] = ()
    is_all: bool = False

    @classmethod
    def all(cls) -> Query:
        return cls(is_all=True)

    def types(self, *types: str) -> Query:
        last = self._last()
        return self._with(QueryItem(last.types + types, last.tags, last.concerning))

    def tags(self, *tags: str) -> Query:
        last = self._last()
        return self._with(QueryItem(last.types, last.tags + tags, last.concerning))

    def concerning(self, *aggregates: AggregateIdLike) -> Query:
        """The event's own aggregate, or one of its `also`."""
        last = self._last()
        return self._with(QueryItem(last.types, last.tags, last.concerning + _ids(aggregates, "concerning")))

    def or_(self) -> Query:
        """What follows goes into a new item."""
        return Query((*self.items, QueryItem()), self.is_all)

    def _last(self) -> QueryItem:
        return self.items[-1] if self.items else QueryItem()

    def _with(self, item: QueryItem) -> Query:
        return Query((*self.items[:-1], item), self.is_all)


@dataclass(frozen=True, slots=True)
class ExpectedVersion:
    """What an append expects of an aggregate: 'any', 'none' (it must not exist), 'exists', or a version."""

    kind: str
    number: int = 0

    @classmethod
    def of(cls, given: ExpectedVersionLike) -> ExpectedVersion:
        if isinstance(given, ExpectedVersion):
            return given
        if isinstance(given, str) and given in ("any", "none", "exists"):
            return cls(given)
        if isinstance(given, int) and not isinstance(given, bool) and given >= 0:
            return cls("exactly", given)
        raise InvalidArgumentError(f"{given!r} is no expected version: 'any', 'none', 'exists', or a number")

    def __str__(self) -> str:
        return str(self.number) if self.kind == "exactly" else self.kind


ExpectedVersionLike: TypeAlias = ExpectedVersion | str | int


@dataclass(frozen=True, slots=True)
class AppendCondition:
    """No event that matches `query` stands between `after` (exclusive; 0: none at all) and the append."""

    query: Query
    after: int = 0


@dataclass(frozen=True, slots=True, init=False)
class Snapshot:
    """An aggregate's state, to be written. With an append, `version` is 0 or what the append leaves; alone, the version must exist.

    `keep`: retained copies beside the latest: None = off, 0 = none, n = the newest n. `ttl` hides, and later removes, this retained copy. `subject`: as of
    an Event.
    """

    aggregate: AggregateId
    payload: bytes
    version: int
    payload_format: int
    schema_revision: int
    keep: int | None
    ttl: timedelta | None
    subject: str

    def __init__(
        self,
        aggregate: AggregateIdLike,
        payload: Any,
        version: int = 0,
        *,
        payload_format: int | None = None,
        schema_revision: int = 0,
        keep: int | None = None,
        ttl: timedelta | None = None,
        subject: str = "",
    ) -> None:
        content, assumed = to_bytes(payload, "payload")
        put = object.__setattr__
        put(self, "aggregate", AggregateId.of(aggregate))
        put(self, "payload", content)
        put(self, "version", version)
        put(
            self,
            "payload_format",
            assumed if payload_format is None else payload_format,
        )
        put(self, "schema_revision", schema_revision)
        put(self, "keep", keep)
        put(self, "ttl", ttl)
        put(self, "subject", subject)


@dataclass(frozen=True, slots=True)
class CommandRecord:
    """A command's id and its reply, stored with its events: the same command again is given the stored reply."""

    aggregate: AggregateId
    id: bytes
    reply: bytes = b""
