from evershard.v1 import event_pb2 as _event_pb2
from evershard.v1 import service_pb2 as _service_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor
RETENTION_POLICY_KIND_EVENTS: RetentionPolicyKind
RETENTION_POLICY_KIND_REMOVE: RetentionPolicyKind
RETENTION_POLICY_KIND_TRUNCATE: RetentionPolicyKind
RETENTION_POLICY_KIND_UNSPECIFIED: RetentionPolicyKind

class ApplyRetentionRequest(_message.Message):
    __slots__ = ["order"]
    ORDER_FIELD_NUMBER: _ClassVar[int]
    order: RetentionOrder
    def __init__(self, order: _Optional[_Union[RetentionOrder, _Mapping]] = ...) -> None: ...

class DropRetentionPolicyRequest(_message.Message):
    __slots__ = ["name", "order"]
    NAME_FIELD_NUMBER: _ClassVar[int]
    ORDER_FIELD_NUMBER: _ClassVar[int]
    name: str
    order: RetentionOrder
    def __init__(self, name: _Optional[str] = ..., order: _Optional[_Union[RetentionOrder, _Mapping]] = ...) -> None: ...

class DropRetentionPolicyResponse(_message.Message):
    __slots__ = []
    def __init__(self) -> None: ...

class EraseSubjectRequest(_message.Message):
    __slots__ = ["order", "subject"]
    ORDER_FIELD_NUMBER: _ClassVar[int]
    SUBJECT_FIELD_NUMBER: _ClassVar[int]
    order: RetentionOrder
    subject: str
    def __init__(self, subject: _Optional[str] = ..., order: _Optional[_Union[RetentionOrder, _Mapping]] = ...) -> None: ...

class ListRetentionPoliciesRequest(_message.Message):
    __slots__ = ["at_least"]
    AT_LEAST_FIELD_NUMBER: _ClassVar[int]
    at_least: _service_pb2.AtLeast
    def __init__(self, at_least: _Optional[_Union[_service_pb2.AtLeast, _Mapping]] = ...) -> None: ...

class ListRetentionPoliciesResponse(_message.Message):
    __slots__ = ["policies"]
    POLICIES_FIELD_NUMBER: _ClassVar[int]
    policies: _containers.RepeatedCompositeFieldContainer[RetentionPolicy]
    def __init__(self, policies: _Optional[_Iterable[_Union[RetentionPolicy, _Mapping]]] = ...) -> None: ...

class ReadRetentionLogRequest(_message.Message):
    __slots__ = ["after", "at_least", "limit"]
    AFTER_FIELD_NUMBER: _ClassVar[int]
    AT_LEAST_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    after: int
    at_least: _service_pb2.AtLeast
    limit: int
    def __init__(self, after: _Optional[int] = ..., limit: _Optional[int] = ..., at_least: _Optional[_Union[_service_pb2.AtLeast, _Mapping]] = ...) -> None: ...

class ReadRetentionLogResponse(_message.Message):
    __slots__ = ["entries", "next"]
    ENTRIES_FIELD_NUMBER: _ClassVar[int]
    NEXT_FIELD_NUMBER: _ClassVar[int]
    entries: _containers.RepeatedCompositeFieldContainer[RetentionEntry]
    next: int
    def __init__(self, entries: _Optional[_Iterable[_Union[RetentionEntry, _Mapping]]] = ..., next: _Optional[int] = ...) -> None: ...

class RemoveAggregateRequest(_message.Message):
    __slots__ = ["aggregate", "order"]
    AGGREGATE_FIELD_NUMBER: _ClassVar[int]
    ORDER_FIELD_NUMBER: _ClassVar[int]
    aggregate: _event_pb2.AggregateId
    order: RetentionOrder
    def __init__(self, aggregate: _Optional[_Union[_event_pb2.AggregateId, _Mapping]] = ..., order: _Optional[_Union[RetentionOrder, _Mapping]] = ...) -> None: ...

class RetentionEntry(_message.Message):
    __slots__ = ["at_us", "json", "number", "position", "what"]
    AT_US_FIELD_NUMBER: _ClassVar[int]
    JSON_FIELD_NUMBER: _ClassVar[int]
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    WHAT_FIELD_NUMBER: _ClassVar[int]
    at_us: int
    json: bytes
    number: int
    position: int
    what: str
    def __init__(self, position: _Optional[int] = ..., number: _Optional[int] = ..., at_us: _Optional[int] = ..., what: _Optional[str] = ..., json: _Optional[bytes] = ...) -> None: ...

class RetentionOrder(_message.Message):
    __slots__ = ["by", "bytes_per_second", "dry_run", "reason"]
    BYTES_PER_SECOND_FIELD_NUMBER: _ClassVar[int]
    BY_FIELD_NUMBER: _ClassVar[int]
    DRY_RUN_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    by: str
    bytes_per_second: int
    dry_run: bool
    reason: str
    def __init__(self, by: _Optional[str] = ..., reason: _Optional[str] = ..., dry_run: bool = ..., bytes_per_second: _Optional[int] = ...) -> None: ...

class RetentionPolicy(_message.Message):
    __slots__ = ["keep_seconds", "kind", "name", "type", "uncovered"]
    KEEP_SECONDS_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    UNCOVERED_FIELD_NUMBER: _ClassVar[int]
    keep_seconds: int
    kind: RetentionPolicyKind
    name: str
    type: str
    uncovered: bool
    def __init__(self, name: _Optional[str] = ..., kind: _Optional[_Union[RetentionPolicyKind, str]] = ..., type: _Optional[str] = ..., keep_seconds: _Optional[int] = ..., uncovered: bool = ...) -> None: ...

class RetentionResponse(_message.Message):
    __slots__ = ["progress", "result"]
    PROGRESS_FIELD_NUMBER: _ClassVar[int]
    RESULT_FIELD_NUMBER: _ClassVar[int]
    progress: _service_pb2.WorkProgress
    result: RetentionResult
    def __init__(self, progress: _Optional[_Union[_service_pb2.WorkProgress, _Mapping]] = ..., result: _Optional[_Union[RetentionResult, _Mapping]] = ...) -> None: ...

class RetentionResult(_message.Message):
    __slots__ = ["aggregates", "before", "bytes_after", "bytes_before", "covered_by", "covered_revision", "events", "operation", "records", "snapshots", "version"]
    AGGREGATES_FIELD_NUMBER: _ClassVar[int]
    BEFORE_FIELD_NUMBER: _ClassVar[int]
    BYTES_AFTER_FIELD_NUMBER: _ClassVar[int]
    BYTES_BEFORE_FIELD_NUMBER: _ClassVar[int]
    COVERED_BY_FIELD_NUMBER: _ClassVar[int]
    COVERED_REVISION_FIELD_NUMBER: _ClassVar[int]
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    OPERATION_FIELD_NUMBER: _ClassVar[int]
    RECORDS_FIELD_NUMBER: _ClassVar[int]
    SNAPSHOTS_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    aggregates: int
    before: int
    bytes_after: int
    bytes_before: int
    covered_by: int
    covered_revision: int
    events: int
    operation: str
    records: int
    snapshots: int
    version: int
    def __init__(self, operation: _Optional[str] = ..., aggregates: _Optional[int] = ..., events: _Optional[int] = ..., snapshots: _Optional[int] = ..., records: _Optional[int] = ..., bytes_before: _Optional[int] = ..., bytes_after: _Optional[int] = ..., version: _Optional[int] = ..., before: _Optional[int] = ..., covered_by: _Optional[int] = ..., covered_revision: _Optional[int] = ...) -> None: ...

class SetRetentionPolicyRequest(_message.Message):
    __slots__ = ["order", "policy"]
    ORDER_FIELD_NUMBER: _ClassVar[int]
    POLICY_FIELD_NUMBER: _ClassVar[int]
    order: RetentionOrder
    policy: RetentionPolicy
    def __init__(self, policy: _Optional[_Union[RetentionPolicy, _Mapping]] = ..., order: _Optional[_Union[RetentionOrder, _Mapping]] = ...) -> None: ...

class SetRetentionPolicyResponse(_message.Message):
    __slots__ = []
    def __init__(self) -> None: ...

class TruncateAggregateRequest(_message.Message):
    __slots__ = ["aggregate", "before", "order", "uncovered"]
    AGGREGATE_FIELD_NUMBER: _ClassVar[int]
    BEFORE_FIELD_NUMBER: _ClassVar[int]
    ORDER_FIELD_NUMBER: _ClassVar[int]
    UNCOVERED_FIELD_NUMBER: _ClassVar[int]
    aggregate: _event_pb2.AggregateId
    before: int
    order: RetentionOrder
    uncovered: bool
    def __init__(self, aggregate: _Optional[_Union[_event_pb2.AggregateId, _Mapping]] = ..., before: _Optional[int] = ..., uncovered: bool = ..., order: _Optional[_Union[RetentionOrder, _Mapping]] = ...) -> None: ...

class RetentionPolicyKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []
