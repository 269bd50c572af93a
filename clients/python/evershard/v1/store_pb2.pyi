from evershard.v1 import event_pb2 as _event_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

ACK_DURABLE: Ack
ACK_ORDERED: Ack
DESCRIPTOR: _descriptor.FileDescriptor
DIRECTION_BACKWARDS: Direction
DIRECTION_FORWARDS: Direction
ERROR_CODE_CANCELLED: ErrorCode
ERROR_CODE_CONDITION_FAILED: ErrorCode
ERROR_CODE_CORRUPTION: ErrorCode
ERROR_CODE_DUPLICATE_EVENT: ErrorCode
ERROR_CODE_FENCED: ErrorCode
ERROR_CODE_INVALID_ARGUMENT: ErrorCode
ERROR_CODE_INVALID_QUERY: ErrorCode
ERROR_CODE_IO: ErrorCode
ERROR_CODE_NOT_FOUND: ErrorCode
ERROR_CODE_OVERLOADED: ErrorCode
ERROR_CODE_PERMISSION_DENIED: ErrorCode
ERROR_CODE_TIMEOUT: ErrorCode
ERROR_CODE_TOO_LARGE: ErrorCode
ERROR_CODE_UNAUTHENTICATED: ErrorCode
ERROR_CODE_UNAVAILABLE: ErrorCode
ERROR_CODE_UNSPECIFIED: ErrorCode
ERROR_CODE_VERSION_CONFLICT: ErrorCode
ERROR_CODE_WRONG_SHARD: ErrorCode

class AggregateVersion(_message.Message):
    __slots__ = ["aggregate", "version"]
    AGGREGATE_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    aggregate: _event_pb2.AggregateId
    version: int
    def __init__(self, aggregate: _Optional[_Union[_event_pb2.AggregateId, _Mapping]] = ..., version: _Optional[int] = ...) -> None: ...

class AppendCondition(_message.Message):
    __slots__ = ["after", "query"]
    AFTER_FIELD_NUMBER: _ClassVar[int]
    QUERY_FIELD_NUMBER: _ClassVar[int]
    after: int
    query: Query
    def __init__(self, query: _Optional[_Union[Query, _Mapping]] = ..., after: _Optional[int] = ...) -> None: ...

class AppendRequest(_message.Message):
    __slots__ = ["ack", "command", "conditions", "conflicts_max", "events", "expectations", "from_export", "request_id", "snapshots"]
    ACK_FIELD_NUMBER: _ClassVar[int]
    COMMAND_FIELD_NUMBER: _ClassVar[int]
    CONDITIONS_FIELD_NUMBER: _ClassVar[int]
    CONFLICTS_MAX_FIELD_NUMBER: _ClassVar[int]
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    EXPECTATIONS_FIELD_NUMBER: _ClassVar[int]
    FROM_EXPORT_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    SNAPSHOTS_FIELD_NUMBER: _ClassVar[int]
    ack: Ack
    command: CommandRecord
    conditions: _containers.RepeatedCompositeFieldContainer[AppendCondition]
    conflicts_max: int
    events: _containers.RepeatedCompositeFieldContainer[_event_pb2.Event]
    expectations: _containers.RepeatedCompositeFieldContainer[Expectation]
    from_export: bool
    request_id: bytes
    snapshots: _containers.RepeatedCompositeFieldContainer[Snapshot]
    def __init__(self, request_id: _Optional[bytes] = ..., events: _Optional[_Iterable[_Union[_event_pb2.Event, _Mapping]]] = ..., expectations: _Optional[_Iterable[_Union[Expectation, _Mapping]]] = ..., conditions: _Optional[_Iterable[_Union[AppendCondition, _Mapping]]] = ..., snapshots: _Optional[_Iterable[_Union[Snapshot, _Mapping]]] = ..., command: _Optional[_Union[CommandRecord, _Mapping]] = ..., ack: _Optional[_Union[Ack, str]] = ..., conflicts_max: _Optional[int] = ..., from_export: bool = ...) -> None: ...

class AppendResponse(_message.Message):
    __slots__ = ["duplicate", "first_position", "last_position", "versions", "watermark"]
    DUPLICATE_FIELD_NUMBER: _ClassVar[int]
    FIRST_POSITION_FIELD_NUMBER: _ClassVar[int]
    LAST_POSITION_FIELD_NUMBER: _ClassVar[int]
    VERSIONS_FIELD_NUMBER: _ClassVar[int]
    WATERMARK_FIELD_NUMBER: _ClassVar[int]
    duplicate: bool
    first_position: int
    last_position: int
    versions: _containers.RepeatedCompositeFieldContainer[AggregateVersion]
    watermark: int
    def __init__(self, first_position: _Optional[int] = ..., last_position: _Optional[int] = ..., versions: _Optional[_Iterable[_Union[AggregateVersion, _Mapping]]] = ..., duplicate: bool = ..., watermark: _Optional[int] = ...) -> None: ...

class CommandRecord(_message.Message):
    __slots__ = ["aggregate", "id", "reply"]
    AGGREGATE_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    REPLY_FIELD_NUMBER: _ClassVar[int]
    aggregate: _event_pb2.AggregateId
    id: bytes
    reply: bytes
    def __init__(self, aggregate: _Optional[_Union[_event_pb2.AggregateId, _Mapping]] = ..., id: _Optional[bytes] = ..., reply: _Optional[bytes] = ...) -> None: ...

class Error(_message.Message):
    __slots__ = ["actual", "aggregate", "code", "condition", "conflicts", "expected", "lasting", "message", "offset", "position", "retry_after_ms", "shard"]
    ACTUAL_FIELD_NUMBER: _ClassVar[int]
    AGGREGATE_FIELD_NUMBER: _ClassVar[int]
    CODE_FIELD_NUMBER: _ClassVar[int]
    CONDITION_FIELD_NUMBER: _ClassVar[int]
    CONFLICTS_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_FIELD_NUMBER: _ClassVar[int]
    LASTING_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    OFFSET_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    RETRY_AFTER_MS_FIELD_NUMBER: _ClassVar[int]
    SHARD_FIELD_NUMBER: _ClassVar[int]
    actual: int
    aggregate: _event_pb2.AggregateId
    code: ErrorCode
    condition: int
    conflicts: _containers.RepeatedCompositeFieldContainer[_event_pb2.RecordedEvent]
    expected: ExpectedVersion
    lasting: bool
    message: str
    offset: int
    position: int
    retry_after_ms: int
    shard: int
    def __init__(self, code: _Optional[_Union[ErrorCode, str]] = ..., message: _Optional[str] = ..., aggregate: _Optional[_Union[_event_pb2.AggregateId, _Mapping]] = ..., expected: _Optional[_Union[ExpectedVersion, _Mapping]] = ..., actual: _Optional[int] = ..., condition: _Optional[int] = ..., position: _Optional[int] = ..., shard: _Optional[int] = ..., offset: _Optional[int] = ..., conflicts: _Optional[_Iterable[_Union[_event_pb2.RecordedEvent, _Mapping]]] = ..., retry_after_ms: _Optional[int] = ..., lasting: bool = ...) -> None: ...

class Expectation(_message.Message):
    __slots__ = ["aggregate", "version"]
    AGGREGATE_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    aggregate: _event_pb2.AggregateId
    version: ExpectedVersion
    def __init__(self, aggregate: _Optional[_Union[_event_pb2.AggregateId, _Mapping]] = ..., version: _Optional[_Union[ExpectedVersion, _Mapping]] = ...) -> None: ...

class ExpectedVersion(_message.Message):
    __slots__ = ["kind", "number"]
    class Kind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = []
    KIND_ANY: ExpectedVersion.Kind
    KIND_EXACTLY: ExpectedVersion.Kind
    KIND_EXISTS: ExpectedVersion.Kind
    KIND_FIELD_NUMBER: _ClassVar[int]
    KIND_NONE: ExpectedVersion.Kind
    KIND_UNSPECIFIED: ExpectedVersion.Kind
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    kind: ExpectedVersion.Kind
    number: int
    def __init__(self, kind: _Optional[_Union[ExpectedVersion.Kind, str]] = ..., number: _Optional[int] = ...) -> None: ...

class Page(_message.Message):
    __slots__ = ["complete", "events", "watermark"]
    COMPLETE_FIELD_NUMBER: _ClassVar[int]
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    WATERMARK_FIELD_NUMBER: _ClassVar[int]
    complete: bool
    events: _containers.RepeatedCompositeFieldContainer[_event_pb2.RecordedEvent]
    watermark: int
    def __init__(self, events: _Optional[_Iterable[_Union[_event_pb2.RecordedEvent, _Mapping]]] = ..., watermark: _Optional[int] = ..., complete: bool = ...) -> None: ...

class Query(_message.Message):
    __slots__ = ["all", "items"]
    ALL_FIELD_NUMBER: _ClassVar[int]
    ITEMS_FIELD_NUMBER: _ClassVar[int]
    all: bool
    items: _containers.RepeatedCompositeFieldContainer[QueryItem]
    def __init__(self, all: bool = ..., items: _Optional[_Iterable[_Union[QueryItem, _Mapping]]] = ...) -> None: ...

class QueryItem(_message.Message):
    __slots__ = ["concerning", "tags", "types"]
    CONCERNING_FIELD_NUMBER: _ClassVar[int]
    TAGS_FIELD_NUMBER: _ClassVar[int]
    TYPES_FIELD_NUMBER: _ClassVar[int]
    concerning: _containers.RepeatedCompositeFieldContainer[_event_pb2.AggregateId]
    tags: _containers.RepeatedScalarFieldContainer[str]
    types: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, types: _Optional[_Iterable[str]] = ..., tags: _Optional[_Iterable[str]] = ..., concerning: _Optional[_Iterable[_Union[_event_pb2.AggregateId, _Mapping]]] = ...) -> None: ...

class ReadOptions(_message.Message):
    __slots__ = ["after", "at_least", "before", "direction", "limit", "up_to"]
    AFTER_FIELD_NUMBER: _ClassVar[int]
    AT_LEAST_FIELD_NUMBER: _ClassVar[int]
    BEFORE_FIELD_NUMBER: _ClassVar[int]
    DIRECTION_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    UP_TO_FIELD_NUMBER: _ClassVar[int]
    after: int
    at_least: int
    before: int
    direction: Direction
    limit: int
    up_to: int
    def __init__(self, after: _Optional[int] = ..., before: _Optional[int] = ..., up_to: _Optional[int] = ..., limit: _Optional[int] = ..., direction: _Optional[_Union[Direction, str]] = ..., at_least: _Optional[int] = ...) -> None: ...

class RecordedSnapshot(_message.Message):
    __slots__ = ["aggregate", "expires_at_us", "latest", "payload", "payload_format", "position", "schema_revision", "subject", "taken_at_us", "version"]
    AGGREGATE_FIELD_NUMBER: _ClassVar[int]
    EXPIRES_AT_US_FIELD_NUMBER: _ClassVar[int]
    LATEST_FIELD_NUMBER: _ClassVar[int]
    PAYLOAD_FIELD_NUMBER: _ClassVar[int]
    PAYLOAD_FORMAT_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    SCHEMA_REVISION_FIELD_NUMBER: _ClassVar[int]
    SUBJECT_FIELD_NUMBER: _ClassVar[int]
    TAKEN_AT_US_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    aggregate: _event_pb2.AggregateId
    expires_at_us: int
    latest: bool
    payload: bytes
    payload_format: int
    position: int
    schema_revision: int
    subject: str
    taken_at_us: int
    version: int
    def __init__(self, aggregate: _Optional[_Union[_event_pb2.AggregateId, _Mapping]] = ..., version: _Optional[int] = ..., position: _Optional[int] = ..., payload: _Optional[bytes] = ..., payload_format: _Optional[int] = ..., schema_revision: _Optional[int] = ..., taken_at_us: _Optional[int] = ..., expires_at_us: _Optional[int] = ..., latest: bool = ..., subject: _Optional[str] = ...) -> None: ...

class Snapshot(_message.Message):
    __slots__ = ["aggregate", "keep", "payload", "payload_format", "schema_revision", "subject", "ttl_s", "version"]
    AGGREGATE_FIELD_NUMBER: _ClassVar[int]
    KEEP_FIELD_NUMBER: _ClassVar[int]
    PAYLOAD_FIELD_NUMBER: _ClassVar[int]
    PAYLOAD_FORMAT_FIELD_NUMBER: _ClassVar[int]
    SCHEMA_REVISION_FIELD_NUMBER: _ClassVar[int]
    SUBJECT_FIELD_NUMBER: _ClassVar[int]
    TTL_S_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    aggregate: _event_pb2.AggregateId
    keep: int
    payload: bytes
    payload_format: int
    schema_revision: int
    subject: str
    ttl_s: int
    version: int
    def __init__(self, aggregate: _Optional[_Union[_event_pb2.AggregateId, _Mapping]] = ..., version: _Optional[int] = ..., payload: _Optional[bytes] = ..., payload_format: _Optional[int] = ..., schema_revision: _Optional[int] = ..., keep: _Optional[int] = ..., ttl_s: _Optional[int] = ..., subject: _Optional[str] = ...) -> None: ...

class StreamOptions(_message.Message):
    __slots__ = ["direction", "limit", "up_to"]
    DIRECTION_FIELD_NUMBER: _ClassVar[int]
    FROM_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    UP_TO_FIELD_NUMBER: _ClassVar[int]
    direction: Direction
    limit: int
    up_to: int
    def __init__(self, limit: _Optional[int] = ..., direction: _Optional[_Union[Direction, str]] = ..., up_to: _Optional[int] = ..., **kwargs) -> None: ...

class Ack(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []

class ErrorCode(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []

class Direction(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []
