from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor
EVENT_STATE_ERASED: EventState
EVENT_STATE_LIVE: EventState
EVENT_STATE_REMOVED: EventState

class AggregateId(_message.Message):
    __slots__ = ["type", "value"]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    type: str
    value: str
    def __init__(self, type: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...

class Event(_message.Message):
    __slots__ = ["aggregate", "also", "erased_type", "id", "metadata", "occurred_at_us", "payload", "payload_format", "state", "subject", "tags", "type"]
    AGGREGATE_FIELD_NUMBER: _ClassVar[int]
    ALSO_FIELD_NUMBER: _ClassVar[int]
    ERASED_TYPE_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    METADATA_FIELD_NUMBER: _ClassVar[int]
    OCCURRED_AT_US_FIELD_NUMBER: _ClassVar[int]
    PAYLOAD_FIELD_NUMBER: _ClassVar[int]
    PAYLOAD_FORMAT_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    SUBJECT_FIELD_NUMBER: _ClassVar[int]
    TAGS_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    aggregate: AggregateId
    also: _containers.RepeatedCompositeFieldContainer[AggregateId]
    erased_type: str
    id: bytes
    metadata: bytes
    occurred_at_us: int
    payload: bytes
    payload_format: int
    state: EventState
    subject: str
    tags: _containers.RepeatedScalarFieldContainer[str]
    type: str
    def __init__(self, id: _Optional[bytes] = ..., aggregate: _Optional[_Union[AggregateId, _Mapping]] = ..., type: _Optional[str] = ..., tags: _Optional[_Iterable[str]] = ..., also: _Optional[_Iterable[_Union[AggregateId, _Mapping]]] = ..., payload: _Optional[bytes] = ..., payload_format: _Optional[int] = ..., metadata: _Optional[bytes] = ..., occurred_at_us: _Optional[int] = ..., subject: _Optional[str] = ..., state: _Optional[_Union[EventState, str]] = ..., erased_type: _Optional[str] = ...) -> None: ...

class RecordedEvent(_message.Message):
    __slots__ = ["aggregate", "also", "append_events", "append_index", "id", "metadata", "occurred_at_us", "offset", "payload", "payload_format", "position", "seq_nr", "shard", "state", "subject", "tags", "type"]
    AGGREGATE_FIELD_NUMBER: _ClassVar[int]
    ALSO_FIELD_NUMBER: _ClassVar[int]
    APPEND_EVENTS_FIELD_NUMBER: _ClassVar[int]
    APPEND_INDEX_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    METADATA_FIELD_NUMBER: _ClassVar[int]
    OCCURRED_AT_US_FIELD_NUMBER: _ClassVar[int]
    OFFSET_FIELD_NUMBER: _ClassVar[int]
    PAYLOAD_FIELD_NUMBER: _ClassVar[int]
    PAYLOAD_FORMAT_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    SEQ_NR_FIELD_NUMBER: _ClassVar[int]
    SHARD_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    SUBJECT_FIELD_NUMBER: _ClassVar[int]
    TAGS_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    aggregate: AggregateId
    also: _containers.RepeatedCompositeFieldContainer[AggregateId]
    append_events: int
    append_index: int
    id: bytes
    metadata: bytes
    occurred_at_us: int
    offset: int
    payload: bytes
    payload_format: int
    position: int
    seq_nr: int
    shard: int
    state: EventState
    subject: str
    tags: _containers.RepeatedScalarFieldContainer[str]
    type: str
    def __init__(self, position: _Optional[int] = ..., shard: _Optional[int] = ..., offset: _Optional[int] = ..., id: _Optional[bytes] = ..., aggregate: _Optional[_Union[AggregateId, _Mapping]] = ..., seq_nr: _Optional[int] = ..., type: _Optional[str] = ..., tags: _Optional[_Iterable[str]] = ..., also: _Optional[_Iterable[_Union[AggregateId, _Mapping]]] = ..., payload: _Optional[bytes] = ..., payload_format: _Optional[int] = ..., metadata: _Optional[bytes] = ..., occurred_at_us: _Optional[int] = ..., state: _Optional[_Union[EventState, str]] = ..., append_index: _Optional[int] = ..., append_events: _Optional[int] = ..., subject: _Optional[str] = ...) -> None: ...

class EventState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []
