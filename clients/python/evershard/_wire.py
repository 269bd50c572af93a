"""Values to and from messages of evershard.v1, and what a failed call says."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Iterable
from typing import Any

import grpc
import grpc.aio
from google.protobuf.message import DecodeError
from google.rpc import status_pb2

from ._append import Append
from ._errors import (
    CallCancelledError,
    ErrorCode,
    EvershardError,
    ForkChangedError,
    InvalidArgumentError,
    PermissionDeniedError,
    ProtocolError,
    TimeoutError,
    TooLargeError,
    UnauthenticatedError,
    UnavailableError,
    class_of,
)
from ._history import FORK
from ._recorded import (
    AggregateInfo,
    Appended,
    EventState,
    FeedItem,
    FeedKind,
    RecordedEvent,
    RecordedSnapshot,
    moment_of,
)
from ._values import (
    AggregateId,
    AggregateIdLike,
    AppendCondition,
    Event,
    ExpectedVersion,
    ExpectedVersionLike,
    Query,
    QueryItem,
    Snapshot,
)
from .v1 import event_pb2, groups_pb2, service_pb2, store_pb2

NO_CONNECTION = "no connection to "  # begins what connected() of a door raises
_KINDS = {"any": 1, "none": 2, "exists": 3, "exactly": 4}
_NAMES = {number: name for name, number in _KINDS.items()}


def checked(message: Any, /, **fields: Any) -> Any:
    """A message of `fields`; those that are None stay absent. Errors: InvalidArgumentError for what its fields cannot hold."""
    try:
        return message(**{name: value for name, value in fields.items() if value is not None})
    except (TypeError, ValueError) as error:
        raise InvalidArgumentError(f"{message.DESCRIPTOR.name}: {error}") from None


def aggregate(given: AggregateId) -> event_pb2.AggregateId:
    return event_pb2.AggregateId(type=given.type, value=given.value)


def query(given: Query) -> store_pb2.Query:
    items = [
        checked(
            store_pb2.QueryItem,
            types=item.types,
            tags=item.tags,
            concerning=[aggregate(one) for one in item.concerning],
        )
        for item in given.items
    ]
    return store_pb2.Query(all=given.is_all, items=items)


def event(given: Event) -> event_pb2.Event:
    return checked(  # type: ignore[no-any-return]
        event_pb2.Event,
        id=given.id.bytes,
        aggregate=aggregate(given.aggregate) if given.aggregate else None,
        type=given.type,
        tags=given.tags,
        also=[aggregate(one) for one in given.also],
        payload=given.payload,
        payload_format=given.payload_format,
        metadata=given.metadata,
        occurred_at_us=given.occurred_at_us,
        subject=given.subject,
    )


def snapshot(given: Snapshot) -> store_pb2.Snapshot:
    return checked(  # type: ignore[no-any-return]
        store_pb2.Snapshot,
        aggregate=aggregate(given.aggregate),
        version=given.version,
        payload=given.payload,
        payload_format=given.payload_format,
        schema_revision=given.schema_revision,
        keep=given.keep,
        ttl_s=None if given.ttl is None else int(given.ttl.total_seconds()),
        subject=given.subject,
    )


def append(given: Append) -> store_pb2.AppendRequest:
    expectations = [
        store_pb2.Expectation(
            aggregate=aggregate(who),
            version=checked(
                store_pb2.ExpectedVersion,
                kind=_KINDS[version.kind],
                number=version.number,
            ),
        )
        for who, version in given.expect
    ]
    command = None
    if given.command is not None:
        command = checked(
            store_pb2.CommandRecord,
            aggregate=aggregate(given.command.aggregate),
            id=given.command.id,
            reply=given.command.reply,
        )
    return checked(  # type: ignore[no-any-return]
        store_pb2.AppendRequest,
        request_id=given.request_id.bytes,
        events=[event(one) for one in given.events],
        expectations=expectations,
        conditions=[
            checked(store_pb2.AppendCondition, query=query(one.query), after=one.after) for one in given.fail_if
        ],
        snapshots=[snapshot(one) for one in given.snapshots],
        command=command,
        conflicts_max=given.conflicts_max,
    )


def event_of(m: event_pb2.Event) -> Event:
    """As it was given. One without an id, which the store makes, has that of all zeros."""
    return Event(
        m.type,
        id_of(m.aggregate) if m.HasField("aggregate") else None,
        m.payload,
        m.tags,
        also=ids_of(m.also),
        payload_format=m.payload_format,
        metadata=m.metadata if m.HasField("metadata") else None,
        occurred_at=moment_of(m.occurred_at_us) if m.HasField("occurred_at_us") else None,
        id=uuid.UUID(bytes=m.id or bytes(16)),
        subject=m.subject,
    )


def query_of(m: store_pb2.Query) -> Query:
    return Query(
        tuple(QueryItem(tuple(one.types), tuple(one.tags), ids_of(one.concerning)) for one in m.items),
        m.all,
    )


def append_of(m: store_pb2.AppendRequest) -> Append:
    """As it was given: events, expectations, conditions. Its `request_id` follows from what it is, so that it is equal to itself."""
    expect: dict[AggregateIdLike, ExpectedVersionLike] = {
        id_of(one.aggregate): version_of(one.version) for one in m.expectations
    }
    return Append(
        [event_of(one) for one in m.events],
        expect=expect,
        fail_if=[AppendCondition(query_of(one.query), one.after) for one in m.conditions],
        request_id=uuid.UUID(bytes=hashlib.sha256(m.SerializeToString(deterministic=True)).digest()[:16], version=4),
    )


def version_of(m: store_pb2.ExpectedVersion) -> ExpectedVersion:
    return ExpectedVersion(_NAMES.get(m.kind, "any"), m.number)


def id_of(message: event_pb2.AggregateId) -> AggregateId:
    return AggregateId(message.type, message.value)


def ids_of(messages: Iterable[event_pb2.AggregateId]) -> tuple[AggregateId, ...]:
    return tuple(id_of(message) for message in messages)


def recorded(m: event_pb2.RecordedEvent) -> RecordedEvent:
    return RecordedEvent(
        m.position,
        m.shard,
        m.offset,
        uuid.UUID(bytes=m.id),
        id_of(m.aggregate) if m.HasField("aggregate") else None,
        m.seq_nr,
        m.type,
        tuple(m.tags),
        ids_of(m.also),
        m.payload,
        m.payload_format,
        m.metadata if m.HasField("metadata") else None,
        m.occurred_at_us,
        EventState(m.state),
        m.append_index,
        m.append_events or 1,
        m.subject,
    )


def appended(m: store_pb2.AppendResponse) -> Appended:
    return Appended(
        m.first_position,
        m.last_position,
        {id_of(one.aggregate): one.version for one in m.versions},
        m.duplicate,
        m.watermark,
    )


def aggregate_info(m: service_pb2.AggregateInfo) -> AggregateInfo:
    return AggregateInfo(id_of(m.aggregate), m.version, m.last_position, m.shard)


def recorded_snapshot(m: store_pb2.RecordedSnapshot) -> RecordedSnapshot:
    return RecordedSnapshot(
        id_of(m.aggregate),
        m.version,
        m.position,
        m.payload,
        m.payload_format,
        m.schema_revision,
        m.taken_at_us,
        m.expires_at_us if m.HasField("expires_at_us") else None,
        m.latest,
        m.subject,
    )


def feed_item(m: service_pb2.SubscribeResponse) -> FeedItem | None:
    """None: of a kind that this client does not know."""
    if m.kind not in (1, 2, 3, 4):
        return None
    return FeedItem(FeedKind(m.kind), m.watermark, tuple(recorded(one) for one in m.events))


def error(m: store_pb2.Error) -> EvershardError:
    def optional(name: str) -> Any:
        return getattr(m, name) if m.HasField(name) else None

    expected = optional("expected")
    retry_after_ms = optional("retry_after_ms")
    return class_of(m.code)(
        m.message,
        aggregate=id_of(m.aggregate) if m.HasField("aggregate") else None,
        expected=None if expected is None else version_of(expected),
        actual=optional("actual"),
        condition=optional("condition"),
        position=optional("position"),
        shard=optional("shard"),
        offset=optional("offset"),
        conflicts=tuple(recorded(one) for one in m.conflicts),
        retry_after=None if retry_after_ms is None else retry_after_ms / 1000,
        lasting=m.lasting,
        told_by_server=True,
    )


def detail_of(status: bytes) -> store_pb2.Error | None:
    """The Error in a grpc-status-details-bin, a google.rpc.Status. None: it holds none."""
    try:
        for detail in status_pb2.Status.FromString(status).details:
            found = store_pb2.Error()
            if detail.Unpack(found):
                return found
    except DecodeError:
        pass
    return None


def failure(failed: grpc.aio.AioRpcError) -> EvershardError:
    """What a failed call says: the server's own Error, or what gRPC found on the way."""
    trailing = list(failed.trailing_metadata() or ())
    for key, value in trailing:
        if key == "grpc-status-details-bin" and isinstance(value, bytes):
            detail = detail_of(value)
            if detail is None:
                continue
            told = error(detail)
            if told.code == ErrorCode.INVALID_ARGUMENT and any(key == FORK for key, _ in trailing):
                return ForkChangedError(told.message, told_by_server=True)
            return told
    code, text = failed.code(), failed.details() or failed.code().name
    if code in (
        grpc.StatusCode.UNAVAILABLE,
        grpc.StatusCode.UNKNOWN,
        grpc.StatusCode.INTERNAL,
        grpc.StatusCode.CANCELLED,
    ):
        return UnavailableError(text)  # the server itself says none of these without details: the connection is broken
    kind: type[EvershardError] = {
        grpc.StatusCode.DEADLINE_EXCEEDED: TimeoutError,
        grpc.StatusCode.RESOURCE_EXHAUSTED: TooLargeError,
        grpc.StatusCode.ABORTED: CallCancelledError,
        grpc.StatusCode.UNAUTHENTICATED: UnauthenticatedError,
        grpc.StatusCode.PERMISSION_DENIED: PermissionDeniedError,
        grpc.StatusCode.INVALID_ARGUMENT: InvalidArgumentError,
    }.get(code, ProtocolError)
    return kind(f"{code.name}: {text}" if kind is ProtocolError else text)


def seen_in(answer: Any) -> int:
    """The greatest position that an answer shows to be there."""
    # A group's own position is where somebody told it to begin.
    fields = ("head",) if isinstance(answer, groups_pb2.GroupInfo) else ("watermark", "last_position", "position")
    return max(getattr(answer, field, 0) for field in fields)


def never_sent(failed: EvershardError) -> bool:
    """There was no connection, so that nothing can have reached the server."""
    return not failed.told_by_server and failed.message.startswith(
        (
            NO_CONNECTION,
            "failed to connect to all addresses",
            "DNS resolution failed",
            "errors resolving ",
            "Name resolution failed",
            "No connection established",
            "connections to all backends",
        )
    )
