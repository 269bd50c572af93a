from evershard.v1 import event_pb2 as _event_pb2
from evershard.v1 import store_pb2 as _store_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

AFTER_PARKED_BLOCK: AfterParked
AFTER_PARKED_GO_ON: AfterParked
DESCRIPTOR: _descriptor.FileDescriptor
GROUP_ORDER_AGGREGATE: GroupOrder
GROUP_ORDER_GLOBAL: GroupOrder

class ChangeGroupRequest(_message.Message):
    __slots__ = ["name", "settings"]
    NAME_FIELD_NUMBER: _ClassVar[int]
    SETTINGS_FIELD_NUMBER: _ClassVar[int]
    name: str
    settings: GroupSettings
    def __init__(self, name: _Optional[str] = ..., settings: _Optional[_Union[GroupSettings, _Mapping]] = ...) -> None: ...

class CreateGroupRequest(_message.Message):
    __slots__ = ["after", "from_now", "name", "query", "settings"]
    AFTER_FIELD_NUMBER: _ClassVar[int]
    FROM_NOW_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    QUERY_FIELD_NUMBER: _ClassVar[int]
    SETTINGS_FIELD_NUMBER: _ClassVar[int]
    after: int
    from_now: bool
    name: str
    query: _store_pb2.Query
    settings: GroupSettings
    def __init__(self, name: _Optional[str] = ..., query: _Optional[_Union[_store_pb2.Query, _Mapping]] = ..., after: _Optional[int] = ..., from_now: bool = ..., settings: _Optional[_Union[GroupSettings, _Mapping]] = ...) -> None: ...

class DescribeGroupRequest(_message.Message):
    __slots__ = ["name"]
    NAME_FIELD_NUMBER: _ClassVar[int]
    name: str
    def __init__(self, name: _Optional[str] = ...) -> None: ...

class DiscardParkedRequest(_message.Message):
    __slots__ = ["name", "position"]
    NAME_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    name: str
    position: int
    def __init__(self, name: _Optional[str] = ..., position: _Optional[int] = ...) -> None: ...

class DiscardParkedResponse(_message.Message):
    __slots__ = ["events"]
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    events: int
    def __init__(self, events: _Optional[int] = ...) -> None: ...

class DropGroupRequest(_message.Message):
    __slots__ = ["name"]
    NAME_FIELD_NUMBER: _ClassVar[int]
    name: str
    def __init__(self, name: _Optional[str] = ...) -> None: ...

class DropGroupResponse(_message.Message):
    __slots__ = []
    def __init__(self) -> None: ...

class GroupInfo(_message.Message):
    __slots__ = ["acknowledged", "after", "discarded", "expired", "head", "in_flight", "name", "parked", "parked_ever", "parked_full", "position", "query", "read_to", "rejected", "replayed", "settings", "trouble", "unsettled", "waiting", "workers"]
    ACKNOWLEDGED_FIELD_NUMBER: _ClassVar[int]
    AFTER_FIELD_NUMBER: _ClassVar[int]
    DISCARDED_FIELD_NUMBER: _ClassVar[int]
    EXPIRED_FIELD_NUMBER: _ClassVar[int]
    HEAD_FIELD_NUMBER: _ClassVar[int]
    IN_FLIGHT_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    PARKED_EVER_FIELD_NUMBER: _ClassVar[int]
    PARKED_FIELD_NUMBER: _ClassVar[int]
    PARKED_FULL_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    QUERY_FIELD_NUMBER: _ClassVar[int]
    READ_TO_FIELD_NUMBER: _ClassVar[int]
    REJECTED_FIELD_NUMBER: _ClassVar[int]
    REPLAYED_FIELD_NUMBER: _ClassVar[int]
    SETTINGS_FIELD_NUMBER: _ClassVar[int]
    TROUBLE_FIELD_NUMBER: _ClassVar[int]
    UNSETTLED_FIELD_NUMBER: _ClassVar[int]
    WAITING_FIELD_NUMBER: _ClassVar[int]
    WORKERS_FIELD_NUMBER: _ClassVar[int]
    acknowledged: int
    after: int
    discarded: int
    expired: int
    head: int
    in_flight: int
    name: str
    parked: int
    parked_ever: int
    parked_full: bool
    position: int
    query: _store_pb2.Query
    read_to: int
    rejected: int
    replayed: int
    settings: GroupSettings
    trouble: str
    unsettled: int
    waiting: int
    workers: _containers.RepeatedCompositeFieldContainer[GroupMember]
    def __init__(self, name: _Optional[str] = ..., query: _Optional[_Union[_store_pb2.Query, _Mapping]] = ..., after: _Optional[int] = ..., settings: _Optional[_Union[GroupSettings, _Mapping]] = ..., position: _Optional[int] = ..., read_to: _Optional[int] = ..., head: _Optional[int] = ..., unsettled: _Optional[int] = ..., in_flight: _Optional[int] = ..., waiting: _Optional[int] = ..., parked: _Optional[int] = ..., parked_full: bool = ..., acknowledged: _Optional[int] = ..., rejected: _Optional[int] = ..., expired: _Optional[int] = ..., parked_ever: _Optional[int] = ..., replayed: _Optional[int] = ..., discarded: _Optional[int] = ..., workers: _Optional[_Iterable[_Union[GroupMember, _Mapping]]] = ..., trouble: _Optional[str] = ...) -> None: ...

class GroupMember(_message.Message):
    __slots__ = ["acknowledged", "credit", "in_flight", "name", "oldest", "share", "worker"]
    ACKNOWLEDGED_FIELD_NUMBER: _ClassVar[int]
    CREDIT_FIELD_NUMBER: _ClassVar[int]
    IN_FLIGHT_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    OLDEST_FIELD_NUMBER: _ClassVar[int]
    SHARE_FIELD_NUMBER: _ClassVar[int]
    WORKER_FIELD_NUMBER: _ClassVar[int]
    acknowledged: int
    credit: int
    in_flight: int
    name: str
    oldest: int
    share: int
    worker: int
    def __init__(self, name: _Optional[str] = ..., worker: _Optional[int] = ..., credit: _Optional[int] = ..., in_flight: _Optional[int] = ..., share: _Optional[int] = ..., oldest: _Optional[int] = ..., acknowledged: _Optional[int] = ...) -> None: ...

class GroupSettings(_message.Message):
    __slots__ = ["after_parked", "attempts_max", "lease_ms", "order", "parked_max", "retry_factor", "retry_first_ms", "retry_jitter_percent", "retry_most_ms", "window"]
    AFTER_PARKED_FIELD_NUMBER: _ClassVar[int]
    ATTEMPTS_MAX_FIELD_NUMBER: _ClassVar[int]
    LEASE_MS_FIELD_NUMBER: _ClassVar[int]
    ORDER_FIELD_NUMBER: _ClassVar[int]
    PARKED_MAX_FIELD_NUMBER: _ClassVar[int]
    RETRY_FACTOR_FIELD_NUMBER: _ClassVar[int]
    RETRY_FIRST_MS_FIELD_NUMBER: _ClassVar[int]
    RETRY_JITTER_PERCENT_FIELD_NUMBER: _ClassVar[int]
    RETRY_MOST_MS_FIELD_NUMBER: _ClassVar[int]
    WINDOW_FIELD_NUMBER: _ClassVar[int]
    after_parked: AfterParked
    attempts_max: int
    lease_ms: int
    order: GroupOrder
    parked_max: int
    retry_factor: int
    retry_first_ms: int
    retry_jitter_percent: int
    retry_most_ms: int
    window: int
    def __init__(self, order: _Optional[_Union[GroupOrder, str]] = ..., after_parked: _Optional[_Union[AfterParked, str]] = ..., attempts_max: _Optional[int] = ..., retry_first_ms: _Optional[int] = ..., retry_factor: _Optional[int] = ..., retry_most_ms: _Optional[int] = ..., retry_jitter_percent: _Optional[int] = ..., lease_ms: _Optional[int] = ..., window: _Optional[int] = ..., parked_max: _Optional[int] = ...) -> None: ...

class ListGroupsRequest(_message.Message):
    __slots__ = []
    def __init__(self) -> None: ...

class ListGroupsResponse(_message.Message):
    __slots__ = ["groups"]
    GROUPS_FIELD_NUMBER: _ClassVar[int]
    groups: _containers.RepeatedCompositeFieldContainer[GroupInfo]
    def __init__(self, groups: _Optional[_Iterable[_Union[GroupInfo, _Mapping]]] = ...) -> None: ...

class ListParkedRequest(_message.Message):
    __slots__ = ["after", "limit", "name"]
    AFTER_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    after: int
    limit: int
    name: str
    def __init__(self, name: _Optional[str] = ..., after: _Optional[int] = ..., limit: _Optional[int] = ...) -> None: ...

class ListParkedResponse(_message.Message):
    __slots__ = ["next", "parked"]
    NEXT_FIELD_NUMBER: _ClassVar[int]
    PARKED_FIELD_NUMBER: _ClassVar[int]
    next: int
    parked: _containers.RepeatedCompositeFieldContainer[ParkedEvent]
    def __init__(self, parked: _Optional[_Iterable[_Union[ParkedEvent, _Mapping]]] = ..., next: _Optional[int] = ...) -> None: ...

class ParkedEvent(_message.Message):
    __slots__ = ["aggregate", "attempts", "behind", "parked_at", "position", "reason", "type"]
    AGGREGATE_FIELD_NUMBER: _ClassVar[int]
    ATTEMPTS_FIELD_NUMBER: _ClassVar[int]
    BEHIND_FIELD_NUMBER: _ClassVar[int]
    PARKED_AT_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    aggregate: _event_pb2.AggregateId
    attempts: int
    behind: bool
    parked_at: int
    position: int
    reason: str
    type: str
    def __init__(self, position: _Optional[int] = ..., attempts: _Optional[int] = ..., behind: bool = ..., reason: _Optional[str] = ..., parked_at: _Optional[int] = ..., aggregate: _Optional[_Union[_event_pb2.AggregateId, _Mapping]] = ..., type: _Optional[str] = ...) -> None: ...

class ReplayParkedRequest(_message.Message):
    __slots__ = ["name", "position"]
    NAME_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    name: str
    position: int
    def __init__(self, name: _Optional[str] = ..., position: _Optional[int] = ...) -> None: ...

class ReplayParkedResponse(_message.Message):
    __slots__ = ["events"]
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    events: int
    def __init__(self, events: _Optional[int] = ...) -> None: ...

class ResetGroupRequest(_message.Message):
    __slots__ = ["after", "from_now", "name"]
    AFTER_FIELD_NUMBER: _ClassVar[int]
    FROM_NOW_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    after: int
    from_now: bool
    name: str
    def __init__(self, name: _Optional[str] = ..., after: _Optional[int] = ..., from_now: bool = ...) -> None: ...

class WorkRequest(_message.Message):
    __slots__ = ["batch", "join", "leave", "renew", "settlements"]
    class Join(_message.Message):
        __slots__ = ["credit", "group", "worker"]
        CREDIT_FIELD_NUMBER: _ClassVar[int]
        GROUP_FIELD_NUMBER: _ClassVar[int]
        WORKER_FIELD_NUMBER: _ClassVar[int]
        credit: int
        group: str
        worker: str
        def __init__(self, group: _Optional[str] = ..., worker: _Optional[str] = ..., credit: _Optional[int] = ...) -> None: ...
    class Settlement(_message.Message):
        __slots__ = ["after_ms", "delivery", "kind", "position", "reason"]
        class Kind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
            __slots__ = []
        AFTER_MS_FIELD_NUMBER: _ClassVar[int]
        DELIVERY_FIELD_NUMBER: _ClassVar[int]
        KIND_ACKNOWLEDGE: WorkRequest.Settlement.Kind
        KIND_BEGIN: WorkRequest.Settlement.Kind
        KIND_FIELD_NUMBER: _ClassVar[int]
        KIND_PARK: WorkRequest.Settlement.Kind
        KIND_REJECT: WorkRequest.Settlement.Kind
        POSITION_FIELD_NUMBER: _ClassVar[int]
        REASON_FIELD_NUMBER: _ClassVar[int]
        after_ms: int
        delivery: int
        kind: WorkRequest.Settlement.Kind
        position: int
        reason: str
        def __init__(self, kind: _Optional[_Union[WorkRequest.Settlement.Kind, str]] = ..., position: _Optional[int] = ..., delivery: _Optional[int] = ..., reason: _Optional[str] = ..., after_ms: _Optional[int] = ...) -> None: ...
    BATCH_FIELD_NUMBER: _ClassVar[int]
    JOIN_FIELD_NUMBER: _ClassVar[int]
    LEAVE_FIELD_NUMBER: _ClassVar[int]
    RENEW_FIELD_NUMBER: _ClassVar[int]
    SETTLEMENTS_FIELD_NUMBER: _ClassVar[int]
    batch: int
    join: WorkRequest.Join
    leave: bool
    renew: _containers.RepeatedScalarFieldContainer[int]
    settlements: _containers.RepeatedCompositeFieldContainer[WorkRequest.Settlement]
    def __init__(self, join: _Optional[_Union[WorkRequest.Join, _Mapping]] = ..., settlements: _Optional[_Iterable[_Union[WorkRequest.Settlement, _Mapping]]] = ..., batch: _Optional[int] = ..., renew: _Optional[_Iterable[int]] = ..., leave: bool = ...) -> None: ...

class WorkResponse(_message.Message):
    __slots__ = ["batch", "deliveries", "joined", "lost", "outcomes"]
    class Delivery(_message.Message):
        __slots__ = ["attempt", "delivery", "event"]
        ATTEMPT_FIELD_NUMBER: _ClassVar[int]
        DELIVERY_FIELD_NUMBER: _ClassVar[int]
        EVENT_FIELD_NUMBER: _ClassVar[int]
        attempt: int
        delivery: int
        event: _event_pb2.RecordedEvent
        def __init__(self, event: _Optional[_Union[_event_pb2.RecordedEvent, _Mapping]] = ..., delivery: _Optional[int] = ..., attempt: _Optional[int] = ...) -> None: ...
    class Joined(_message.Message):
        __slots__ = ["lease_ms", "takes_begun", "worker"]
        LEASE_MS_FIELD_NUMBER: _ClassVar[int]
        TAKES_BEGUN_FIELD_NUMBER: _ClassVar[int]
        WORKER_FIELD_NUMBER: _ClassVar[int]
        lease_ms: int
        takes_begun: bool
        worker: int
        def __init__(self, worker: _Optional[int] = ..., lease_ms: _Optional[int] = ..., takes_begun: bool = ...) -> None: ...
    class Outcome(_message.Message):
        __slots__ = ["refused"]
        REFUSED_FIELD_NUMBER: _ClassVar[int]
        refused: _store_pb2.Error
        def __init__(self, refused: _Optional[_Union[_store_pb2.Error, _Mapping]] = ...) -> None: ...
    BATCH_FIELD_NUMBER: _ClassVar[int]
    DELIVERIES_FIELD_NUMBER: _ClassVar[int]
    JOINED_FIELD_NUMBER: _ClassVar[int]
    LOST_FIELD_NUMBER: _ClassVar[int]
    OUTCOMES_FIELD_NUMBER: _ClassVar[int]
    batch: int
    deliveries: _containers.RepeatedCompositeFieldContainer[WorkResponse.Delivery]
    joined: WorkResponse.Joined
    lost: _containers.RepeatedScalarFieldContainer[int]
    outcomes: _containers.RepeatedCompositeFieldContainer[WorkResponse.Outcome]
    def __init__(self, joined: _Optional[_Union[WorkResponse.Joined, _Mapping]] = ..., deliveries: _Optional[_Iterable[_Union[WorkResponse.Delivery, _Mapping]]] = ..., batch: _Optional[int] = ..., outcomes: _Optional[_Iterable[_Union[WorkResponse.Outcome, _Mapping]]] = ..., lost: _Optional[_Iterable[int]] = ...) -> None: ...

class GroupOrder(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []

class AfterParked(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []
