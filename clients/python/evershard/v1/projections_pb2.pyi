from evershard.v1 import event_pb2 as _event_pb2
from evershard.v1 import store_pb2 as _store_pb2
from evershard.v1 import service_pb2 as _service_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class AskProjectionRequest(_message.Message):
    __slots__ = ["ask", "name"]
    class Ask(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = []
    ASK_DROP: AskProjectionRequest.Ask
    ASK_FIELD_NUMBER: _ClassVar[int]
    ASK_PAUSE: AskProjectionRequest.Ask
    ASK_REBUILD: AskProjectionRequest.Ask
    ASK_RESET: AskProjectionRequest.Ask
    ASK_RESUME: AskProjectionRequest.Ask
    ASK_UNSPECIFIED: AskProjectionRequest.Ask
    NAME_FIELD_NUMBER: _ClassVar[int]
    ask: AskProjectionRequest.Ask
    name: str
    def __init__(self, name: _Optional[str] = ..., ask: _Optional[_Union[AskProjectionRequest.Ask, str]] = ...) -> None: ...

class AskProjectionResponse(_message.Message):
    __slots__ = []
    def __init__(self) -> None: ...

class ChangeProjectionRequest(_message.Message):
    __slots__ = ["expected", "name", "spec"]
    EXPECTED_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    SPEC_FIELD_NUMBER: _ClassVar[int]
    expected: int
    name: str
    spec: str
    def __init__(self, name: _Optional[str] = ..., spec: _Optional[str] = ..., expected: _Optional[int] = ...) -> None: ...

class CreateIndexRequest(_message.Message):
    __slots__ = ["query"]
    QUERY_FIELD_NUMBER: _ClassVar[int]
    query: _store_pb2.Query
    def __init__(self, query: _Optional[_Union[_store_pb2.Query, _Mapping]] = ...) -> None: ...

class CreateProjectionRequest(_message.Message):
    __slots__ = ["kind", "name", "spec"]
    KIND_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    SPEC_FIELD_NUMBER: _ClassVar[int]
    kind: str
    name: str
    spec: str
    def __init__(self, name: _Optional[str] = ..., kind: _Optional[str] = ..., spec: _Optional[str] = ...) -> None: ...

class CreateValueIndexRequest(_message.Message):
    __slots__ = ["name", "path", "source", "types", "value"]
    NAME_FIELD_NUMBER: _ClassVar[int]
    PATH_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    TYPES_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    name: str
    path: str
    source: str
    types: _containers.RepeatedScalarFieldContainer[str]
    value: str
    def __init__(self, name: _Optional[str] = ..., types: _Optional[_Iterable[str]] = ..., source: _Optional[str] = ..., path: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...

class DescribeProjectionRequest(_message.Message):
    __slots__ = ["name"]
    NAME_FIELD_NUMBER: _ClassVar[int]
    name: str
    def __init__(self, name: _Optional[str] = ...) -> None: ...

class IndexEntry(_message.Message):
    __slots__ = ["event", "number", "position"]
    EVENT_FIELD_NUMBER: _ClassVar[int]
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    event: _event_pb2.RecordedEvent
    number: int
    position: int
    def __init__(self, number: _Optional[int] = ..., position: _Optional[int] = ..., event: _Optional[_Union[_event_pb2.RecordedEvent, _Mapping]] = ...) -> None: ...

class IndexPage(_message.Message):
    __slots__ = ["count", "entries", "watermark"]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    ENTRIES_FIELD_NUMBER: _ClassVar[int]
    WATERMARK_FIELD_NUMBER: _ClassVar[int]
    count: int
    entries: _containers.RepeatedCompositeFieldContainer[IndexEntry]
    watermark: int
    def __init__(self, entries: _Optional[_Iterable[_Union[IndexEntry, _Mapping]]] = ..., count: _Optional[int] = ..., watermark: _Optional[int] = ...) -> None: ...

class ListProjectionsRequest(_message.Message):
    __slots__ = []
    def __init__(self) -> None: ...

class ListProjectionsResponse(_message.Message):
    __slots__ = ["projections"]
    PROJECTIONS_FIELD_NUMBER: _ClassVar[int]
    projections: _containers.RepeatedCompositeFieldContainer[ProjectionInfo]
    def __init__(self, projections: _Optional[_Iterable[_Union[ProjectionInfo, _Mapping]]] = ...) -> None: ...

class ProjectionInfo(_message.Message):
    __slots__ = ["kind", "last", "name", "paused", "spec", "versions", "watermark"]
    class Figure(_message.Message):
        __slots__ = ["name", "value"]
        NAME_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        name: str
        value: int
        def __init__(self, name: _Optional[str] = ..., value: _Optional[int] = ...) -> None: ...
    class Version(_message.Message):
        __slots__ = ["busy_ms", "complete", "error", "errors", "events", "failed_at", "figures", "home", "lag", "part", "position", "rows", "serving", "state", "version"]
        BUSY_MS_FIELD_NUMBER: _ClassVar[int]
        COMPLETE_FIELD_NUMBER: _ClassVar[int]
        ERRORS_FIELD_NUMBER: _ClassVar[int]
        ERROR_FIELD_NUMBER: _ClassVar[int]
        EVENTS_FIELD_NUMBER: _ClassVar[int]
        FAILED_AT_FIELD_NUMBER: _ClassVar[int]
        FIGURES_FIELD_NUMBER: _ClassVar[int]
        HOME_FIELD_NUMBER: _ClassVar[int]
        LAG_FIELD_NUMBER: _ClassVar[int]
        PART_FIELD_NUMBER: _ClassVar[int]
        POSITION_FIELD_NUMBER: _ClassVar[int]
        ROWS_FIELD_NUMBER: _ClassVar[int]
        SERVING_FIELD_NUMBER: _ClassVar[int]
        STATE_FIELD_NUMBER: _ClassVar[int]
        VERSION_FIELD_NUMBER: _ClassVar[int]
        busy_ms: int
        complete: bool
        error: _store_pb2.Error
        errors: int
        events: int
        failed_at: int
        figures: _containers.RepeatedCompositeFieldContainer[ProjectionInfo.Figure]
        home: int
        lag: int
        part: int
        position: int
        rows: int
        serving: bool
        state: str
        version: int
        def __init__(self, version: _Optional[int] = ..., rows: _Optional[int] = ..., state: _Optional[str] = ..., complete: bool = ..., serving: bool = ..., position: _Optional[int] = ..., lag: _Optional[int] = ..., events: _Optional[int] = ..., errors: _Optional[int] = ..., error: _Optional[_Union[_store_pb2.Error, _Mapping]] = ..., failed_at: _Optional[int] = ..., busy_ms: _Optional[int] = ..., figures: _Optional[_Iterable[_Union[ProjectionInfo.Figure, _Mapping]]] = ..., part: _Optional[int] = ..., home: _Optional[int] = ...) -> None: ...
    KIND_FIELD_NUMBER: _ClassVar[int]
    LAST_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    PAUSED_FIELD_NUMBER: _ClassVar[int]
    SPEC_FIELD_NUMBER: _ClassVar[int]
    VERSIONS_FIELD_NUMBER: _ClassVar[int]
    WATERMARK_FIELD_NUMBER: _ClassVar[int]
    kind: str
    last: int
    name: str
    paused: bool
    spec: str
    versions: _containers.RepeatedCompositeFieldContainer[ProjectionInfo.Version]
    watermark: int
    def __init__(self, name: _Optional[str] = ..., kind: _Optional[str] = ..., spec: _Optional[str] = ..., last: _Optional[int] = ..., paused: bool = ..., watermark: _Optional[int] = ..., versions: _Optional[_Iterable[_Union[ProjectionInfo.Version, _Mapping]]] = ...) -> None: ...

class ReadIndexRequest(_message.Message):
    __slots__ = ["at_least", "backwards", "events", "limit", "name", "start", "version"]
    AT_LEAST_FIELD_NUMBER: _ClassVar[int]
    BACKWARDS_FIELD_NUMBER: _ClassVar[int]
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    START_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    at_least: _service_pb2.AtLeast
    backwards: bool
    events: bool
    limit: int
    name: str
    start: int
    version: int
    def __init__(self, name: _Optional[str] = ..., start: _Optional[int] = ..., limit: _Optional[int] = ..., backwards: bool = ..., at_least: _Optional[_Union[_service_pb2.AtLeast, _Mapping]] = ..., version: _Optional[int] = ..., events: bool = ...) -> None: ...

class ReadValuesRequest(_message.Message):
    __slots__ = ["after", "at_least", "backwards", "equal", "events", "limit", "name", "to", "until", "version"]
    AFTER_FIELD_NUMBER: _ClassVar[int]
    AT_LEAST_FIELD_NUMBER: _ClassVar[int]
    BACKWARDS_FIELD_NUMBER: _ClassVar[int]
    EQUAL_FIELD_NUMBER: _ClassVar[int]
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    FROM_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    TO_FIELD_NUMBER: _ClassVar[int]
    UNTIL_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    after: str
    at_least: _service_pb2.AtLeast
    backwards: bool
    equal: str
    events: bool
    limit: int
    name: str
    to: str
    until: str
    version: int
    def __init__(self, name: _Optional[str] = ..., equal: _Optional[str] = ..., to: _Optional[str] = ..., until: _Optional[str] = ..., after: _Optional[str] = ..., limit: _Optional[int] = ..., backwards: bool = ..., at_least: _Optional[_Union[_service_pb2.AtLeast, _Mapping]] = ..., version: _Optional[int] = ..., events: bool = ..., **kwargs) -> None: ...

class ValueEntry(_message.Message):
    __slots__ = ["event", "position", "value"]
    EVENT_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    event: _event_pb2.RecordedEvent
    position: int
    value: str
    def __init__(self, value: _Optional[str] = ..., position: _Optional[int] = ..., event: _Optional[_Union[_event_pb2.RecordedEvent, _Mapping]] = ...) -> None: ...

class ValuePage(_message.Message):
    __slots__ = ["entries", "next", "watermark"]
    ENTRIES_FIELD_NUMBER: _ClassVar[int]
    NEXT_FIELD_NUMBER: _ClassVar[int]
    WATERMARK_FIELD_NUMBER: _ClassVar[int]
    entries: _containers.RepeatedCompositeFieldContainer[ValueEntry]
    next: str
    watermark: int
    def __init__(self, entries: _Optional[_Iterable[_Union[ValueEntry, _Mapping]]] = ..., next: _Optional[str] = ..., watermark: _Optional[int] = ...) -> None: ...

class WaitForProjectionRequest(_message.Message):
    __slots__ = ["at_least", "name"]
    AT_LEAST_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    at_least: _service_pb2.AtLeast
    name: str
    def __init__(self, name: _Optional[str] = ..., at_least: _Optional[_Union[_service_pb2.AtLeast, _Mapping]] = ...) -> None: ...

class WaitForProjectionResponse(_message.Message):
    __slots__ = ["position"]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    position: int
    def __init__(self, position: _Optional[int] = ...) -> None: ...
