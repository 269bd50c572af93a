from evershard.v1 import event_pb2 as _event_pb2
from evershard.v1 import store_pb2 as _store_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class AggregateInfo(_message.Message):
    __slots__ = ["aggregate", "last_position", "shard", "version"]
    AGGREGATE_FIELD_NUMBER: _ClassVar[int]
    LAST_POSITION_FIELD_NUMBER: _ClassVar[int]
    SHARD_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    aggregate: _event_pb2.AggregateId
    last_position: int
    shard: int
    version: int
    def __init__(self, aggregate: _Optional[_Union[_event_pb2.AggregateId, _Mapping]] = ..., version: _Optional[int] = ..., last_position: _Optional[int] = ..., shard: _Optional[int] = ...) -> None: ...

class AppendOutcome(_message.Message):
    __slots__ = ["appended", "refused"]
    APPENDED_FIELD_NUMBER: _ClassVar[int]
    REFUSED_FIELD_NUMBER: _ClassVar[int]
    appended: _store_pb2.AppendResponse
    refused: _store_pb2.Error
    def __init__(self, appended: _Optional[_Union[_store_pb2.AppendResponse, _Mapping]] = ..., refused: _Optional[_Union[_store_pb2.Error, _Mapping]] = ...) -> None: ...

class AtLeast(_message.Message):
    __slots__ = ["position", "timeout_ms"]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    TIMEOUT_MS_FIELD_NUMBER: _ClassVar[int]
    position: int
    timeout_ms: int
    def __init__(self, position: _Optional[int] = ..., timeout_ms: _Optional[int] = ...) -> None: ...

class BackupRequest(_message.Message):
    __slots__ = ["target", "truth_only", "up_to"]
    TARGET_FIELD_NUMBER: _ClassVar[int]
    TRUTH_ONLY_FIELD_NUMBER: _ClassVar[int]
    UP_TO_FIELD_NUMBER: _ClassVar[int]
    target: str
    truth_only: bool
    up_to: int
    def __init__(self, target: _Optional[str] = ..., truth_only: bool = ..., up_to: _Optional[int] = ...) -> None: ...

class BackupResponse(_message.Message):
    __slots__ = ["progress", "up_to"]
    PROGRESS_FIELD_NUMBER: _ClassVar[int]
    UP_TO_FIELD_NUMBER: _ClassVar[int]
    progress: WorkProgress
    up_to: int
    def __init__(self, progress: _Optional[_Union[WorkProgress, _Mapping]] = ..., up_to: _Optional[int] = ...) -> None: ...

class ClusterAssignRequest(_message.Message):
    __slots__ = ["accepted", "node", "shards"]
    ACCEPTED_FIELD_NUMBER: _ClassVar[int]
    NODE_FIELD_NUMBER: _ClassVar[int]
    SHARDS_FIELD_NUMBER: _ClassVar[int]
    accepted: _containers.RepeatedCompositeFieldContainer[ShardLoss]
    node: int
    shards: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, node: _Optional[int] = ..., shards: _Optional[_Iterable[int]] = ..., accepted: _Optional[_Iterable[_Union[ShardLoss, _Mapping]]] = ...) -> None: ...

class ClusterAssignResponse(_message.Message):
    __slots__ = ["done", "losses"]
    DONE_FIELD_NUMBER: _ClassVar[int]
    LOSSES_FIELD_NUMBER: _ClassVar[int]
    done: bool
    losses: _containers.RepeatedCompositeFieldContainer[ShardLoss]
    def __init__(self, done: bool = ..., losses: _Optional[_Iterable[_Union[ShardLoss, _Mapping]]] = ...) -> None: ...

class ClusterStatusRequest(_message.Message):
    __slots__ = []
    def __init__(self) -> None: ...

class ClusterStatusResponse(_message.Message):
    __slots__ = ["applied", "coordinator", "cuts_per_second", "last_cut", "nodes", "self", "shards", "trouble", "watermark"]
    class Node(_message.Message):
        __slots__ = ["address", "applied", "behind", "door", "gateway", "node", "refused", "shards", "since_us", "up", "version"]
        ADDRESS_FIELD_NUMBER: _ClassVar[int]
        APPLIED_FIELD_NUMBER: _ClassVar[int]
        BEHIND_FIELD_NUMBER: _ClassVar[int]
        DOOR_FIELD_NUMBER: _ClassVar[int]
        GATEWAY_FIELD_NUMBER: _ClassVar[int]
        NODE_FIELD_NUMBER: _ClassVar[int]
        REFUSED_FIELD_NUMBER: _ClassVar[int]
        SHARDS_FIELD_NUMBER: _ClassVar[int]
        SINCE_US_FIELD_NUMBER: _ClassVar[int]
        UP_FIELD_NUMBER: _ClassVar[int]
        VERSION_FIELD_NUMBER: _ClassVar[int]
        address: str
        applied: int
        behind: int
        door: str
        gateway: bool
        node: int
        refused: int
        shards: int
        since_us: int
        up: bool
        version: str
        def __init__(self, node: _Optional[int] = ..., address: _Optional[str] = ..., door: _Optional[str] = ..., up: bool = ..., since_us: _Optional[int] = ..., version: _Optional[str] = ..., shards: _Optional[int] = ..., applied: _Optional[int] = ..., behind: _Optional[int] = ..., refused: _Optional[int] = ..., gateway: bool = ...) -> None: ...
    class Shard(_message.Message):
        __slots__ = ["durable", "epoch", "last_position", "node", "open", "ordered", "trouble"]
        DURABLE_FIELD_NUMBER: _ClassVar[int]
        EPOCH_FIELD_NUMBER: _ClassVar[int]
        LAST_POSITION_FIELD_NUMBER: _ClassVar[int]
        NODE_FIELD_NUMBER: _ClassVar[int]
        OPEN_FIELD_NUMBER: _ClassVar[int]
        ORDERED_FIELD_NUMBER: _ClassVar[int]
        TROUBLE_FIELD_NUMBER: _ClassVar[int]
        durable: int
        epoch: int
        last_position: int
        node: int
        open: bool
        ordered: int
        trouble: str
        def __init__(self, node: _Optional[int] = ..., epoch: _Optional[int] = ..., open: bool = ..., durable: _Optional[int] = ..., ordered: _Optional[int] = ..., last_position: _Optional[int] = ..., trouble: _Optional[str] = ...) -> None: ...
    APPLIED_FIELD_NUMBER: _ClassVar[int]
    COORDINATOR_FIELD_NUMBER: _ClassVar[int]
    CUTS_PER_SECOND_FIELD_NUMBER: _ClassVar[int]
    LAST_CUT_FIELD_NUMBER: _ClassVar[int]
    NODES_FIELD_NUMBER: _ClassVar[int]
    SELF_FIELD_NUMBER: _ClassVar[int]
    SHARDS_FIELD_NUMBER: _ClassVar[int]
    TROUBLE_FIELD_NUMBER: _ClassVar[int]
    WATERMARK_FIELD_NUMBER: _ClassVar[int]
    applied: int
    coordinator: int
    cuts_per_second: int
    last_cut: int
    nodes: _containers.RepeatedCompositeFieldContainer[ClusterStatusResponse.Node]
    self: int
    shards: _containers.RepeatedCompositeFieldContainer[ClusterStatusResponse.Shard]
    trouble: str
    watermark: int
    def __init__(self, self_: _Optional[int] = ..., applied: _Optional[int] = ..., trouble: _Optional[str] = ..., coordinator: _Optional[int] = ..., last_cut: _Optional[int] = ..., watermark: _Optional[int] = ..., cuts_per_second: _Optional[int] = ..., nodes: _Optional[_Iterable[_Union[ClusterStatusResponse.Node, _Mapping]]] = ..., shards: _Optional[_Iterable[_Union[ClusterStatusResponse.Shard, _Mapping]]] = ...) -> None: ...

class FlushRequest(_message.Message):
    __slots__ = []
    def __init__(self) -> None: ...

class FlushResponse(_message.Message):
    __slots__ = []
    def __init__(self) -> None: ...

class GetAggregateRequest(_message.Message):
    __slots__ = ["aggregate", "at_least", "up_to"]
    AGGREGATE_FIELD_NUMBER: _ClassVar[int]
    AT_LEAST_FIELD_NUMBER: _ClassVar[int]
    UP_TO_FIELD_NUMBER: _ClassVar[int]
    aggregate: _event_pb2.AggregateId
    at_least: AtLeast
    up_to: int
    def __init__(self, aggregate: _Optional[_Union[_event_pb2.AggregateId, _Mapping]] = ..., up_to: _Optional[int] = ..., at_least: _Optional[_Union[AtLeast, _Mapping]] = ...) -> None: ...

class GetEventRequest(_message.Message):
    __slots__ = ["at_least", "position"]
    AT_LEAST_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    at_least: AtLeast
    position: int
    def __init__(self, position: _Optional[int] = ..., at_least: _Optional[_Union[AtLeast, _Mapping]] = ...) -> None: ...

class GetSnapshotRequest(_message.Message):
    __slots__ = ["aggregate", "at_least", "at_or_before", "up_to"]
    AGGREGATE_FIELD_NUMBER: _ClassVar[int]
    AT_LEAST_FIELD_NUMBER: _ClassVar[int]
    AT_OR_BEFORE_FIELD_NUMBER: _ClassVar[int]
    UP_TO_FIELD_NUMBER: _ClassVar[int]
    aggregate: _event_pb2.AggregateId
    at_least: AtLeast
    at_or_before: int
    up_to: int
    def __init__(self, aggregate: _Optional[_Union[_event_pb2.AggregateId, _Mapping]] = ..., at_or_before: _Optional[int] = ..., up_to: _Optional[int] = ..., at_least: _Optional[_Union[AtLeast, _Mapping]] = ...) -> None: ...

class GetSnapshotResponse(_message.Message):
    __slots__ = ["snapshot"]
    SNAPSHOT_FIELD_NUMBER: _ClassVar[int]
    snapshot: _store_pb2.RecordedSnapshot
    def __init__(self, snapshot: _Optional[_Union[_store_pb2.RecordedSnapshot, _Mapping]] = ...) -> None: ...

class GetStateRequest(_message.Message):
    __slots__ = ["aggregate", "at_least", "limit", "up_to", "version"]
    AGGREGATE_FIELD_NUMBER: _ClassVar[int]
    AT_LEAST_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    UP_TO_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    aggregate: _event_pb2.AggregateId
    at_least: AtLeast
    limit: int
    up_to: int
    version: int
    def __init__(self, aggregate: _Optional[_Union[_event_pb2.AggregateId, _Mapping]] = ..., version: _Optional[int] = ..., up_to: _Optional[int] = ..., limit: _Optional[int] = ..., at_least: _Optional[_Union[AtLeast, _Mapping]] = ...) -> None: ...

class GetStateResponse(_message.Message):
    __slots__ = ["json"]
    JSON_FIELD_NUMBER: _ClassVar[int]
    json: str
    def __init__(self, json: _Optional[str] = ...) -> None: ...

class GetTypesRequest(_message.Message):
    __slots__ = []
    def __init__(self) -> None: ...

class GetTypesResponse(_message.Message):
    __slots__ = ["types"]
    TYPES_FIELD_NUMBER: _ClassVar[int]
    types: bytes
    def __init__(self, types: _Optional[bytes] = ...) -> None: ...

class HeadRequest(_message.Message):
    __slots__ = ["at_least"]
    AT_LEAST_FIELD_NUMBER: _ClassVar[int]
    at_least: AtLeast
    def __init__(self, at_least: _Optional[_Union[AtLeast, _Mapping]] = ...) -> None: ...

class HeadResponse(_message.Message):
    __slots__ = ["watermark"]
    WATERMARK_FIELD_NUMBER: _ClassVar[int]
    watermark: int
    def __init__(self, watermark: _Optional[int] = ...) -> None: ...

class ListAggregatesRequest(_message.Message):
    __slots__ = ["after", "at_least", "limit", "type"]
    AFTER_FIELD_NUMBER: _ClassVar[int]
    AT_LEAST_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    after: _event_pb2.AggregateId
    at_least: AtLeast
    limit: int
    type: str
    def __init__(self, type: _Optional[str] = ..., after: _Optional[_Union[_event_pb2.AggregateId, _Mapping]] = ..., limit: _Optional[int] = ..., at_least: _Optional[_Union[AtLeast, _Mapping]] = ...) -> None: ...

class ListAggregatesResponse(_message.Message):
    __slots__ = ["aggregates"]
    AGGREGATES_FIELD_NUMBER: _ClassVar[int]
    aggregates: _containers.RepeatedCompositeFieldContainer[AggregateInfo]
    def __init__(self, aggregates: _Optional[_Iterable[_Union[AggregateInfo, _Mapping]]] = ...) -> None: ...

class ListSnapshotsRequest(_message.Message):
    __slots__ = ["aggregate", "at_least"]
    AGGREGATE_FIELD_NUMBER: _ClassVar[int]
    AT_LEAST_FIELD_NUMBER: _ClassVar[int]
    aggregate: _event_pb2.AggregateId
    at_least: AtLeast
    def __init__(self, aggregate: _Optional[_Union[_event_pb2.AggregateId, _Mapping]] = ..., at_least: _Optional[_Union[AtLeast, _Mapping]] = ...) -> None: ...

class ListSnapshotsResponse(_message.Message):
    __slots__ = ["snapshots"]
    SNAPSHOTS_FIELD_NUMBER: _ClassVar[int]
    snapshots: _containers.RepeatedCompositeFieldContainer[_store_pb2.RecordedSnapshot]
    def __init__(self, snapshots: _Optional[_Iterable[_Union[_store_pb2.RecordedSnapshot, _Mapping]]] = ...) -> None: ...

class MembersRequest(_message.Message):
    __slots__ = []
    def __init__(self) -> None: ...

class MembersResponse(_message.Message):
    __slots__ = ["epochs", "fork_id", "hash", "here", "members", "owners", "shards", "store_id"]
    class Node(_message.Message):
        __slots__ = ["address", "node"]
        ADDRESS_FIELD_NUMBER: _ClassVar[int]
        NODE_FIELD_NUMBER: _ClassVar[int]
        address: str
        node: int
        def __init__(self, node: _Optional[int] = ..., address: _Optional[str] = ...) -> None: ...
    EPOCHS_FIELD_NUMBER: _ClassVar[int]
    FORK_ID_FIELD_NUMBER: _ClassVar[int]
    HASH_FIELD_NUMBER: _ClassVar[int]
    HERE_FIELD_NUMBER: _ClassVar[int]
    MEMBERS_FIELD_NUMBER: _ClassVar[int]
    OWNERS_FIELD_NUMBER: _ClassVar[int]
    SHARDS_FIELD_NUMBER: _ClassVar[int]
    STORE_ID_FIELD_NUMBER: _ClassVar[int]
    epochs: _containers.RepeatedScalarFieldContainer[int]
    fork_id: str
    hash: int
    here: int
    members: _containers.RepeatedCompositeFieldContainer[MembersResponse.Node]
    owners: _containers.RepeatedScalarFieldContainer[int]
    shards: int
    store_id: str
    def __init__(self, store_id: _Optional[str] = ..., fork_id: _Optional[str] = ..., shards: _Optional[int] = ..., hash: _Optional[int] = ..., here: _Optional[int] = ..., members: _Optional[_Iterable[_Union[MembersResponse.Node, _Mapping]]] = ..., owners: _Optional[_Iterable[int]] = ..., epochs: _Optional[_Iterable[int]] = ...) -> None: ...

class PutSnapshotResponse(_message.Message):
    __slots__ = []
    def __init__(self) -> None: ...

class ReadRequest(_message.Message):
    __slots__ = ["aggregate", "at_least", "options", "query", "stream"]
    AGGREGATE_FIELD_NUMBER: _ClassVar[int]
    AT_LEAST_FIELD_NUMBER: _ClassVar[int]
    OPTIONS_FIELD_NUMBER: _ClassVar[int]
    QUERY_FIELD_NUMBER: _ClassVar[int]
    STREAM_FIELD_NUMBER: _ClassVar[int]
    aggregate: _event_pb2.AggregateId
    at_least: AtLeast
    options: _store_pb2.ReadOptions
    query: _store_pb2.Query
    stream: _store_pb2.StreamOptions
    def __init__(self, query: _Optional[_Union[_store_pb2.Query, _Mapping]] = ..., options: _Optional[_Union[_store_pb2.ReadOptions, _Mapping]] = ..., aggregate: _Optional[_Union[_event_pb2.AggregateId, _Mapping]] = ..., stream: _Optional[_Union[_store_pb2.StreamOptions, _Mapping]] = ..., at_least: _Optional[_Union[AtLeast, _Mapping]] = ...) -> None: ...

class ShardLoss(_message.Message):
    __slots__ = ["shard", "unordered", "until"]
    FROM_FIELD_NUMBER: _ClassVar[int]
    SHARD_FIELD_NUMBER: _ClassVar[int]
    UNORDERED_FIELD_NUMBER: _ClassVar[int]
    UNTIL_FIELD_NUMBER: _ClassVar[int]
    shard: int
    unordered: int
    until: int
    def __init__(self, shard: _Optional[int] = ..., until: _Optional[int] = ..., unordered: _Optional[int] = ..., **kwargs) -> None: ...

class StatsRequest(_message.Message):
    __slots__ = []
    def __init__(self) -> None: ...

class StatsResponse(_message.Message):
    __slots__ = ["appends", "backend_assertions", "commits", "created_at_us", "details", "disk_bytes", "disk_free_bytes", "fork_id", "format", "hash", "memory_bytes", "refused", "sealed", "shards", "store_id", "tail_events", "watermark"]
    class Detail(_message.Message):
        __slots__ = ["name", "value"]
        NAME_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        name: str
        value: int
        def __init__(self, name: _Optional[str] = ..., value: _Optional[int] = ...) -> None: ...
    APPENDS_FIELD_NUMBER: _ClassVar[int]
    BACKEND_ASSERTIONS_FIELD_NUMBER: _ClassVar[int]
    COMMITS_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_US_FIELD_NUMBER: _ClassVar[int]
    DETAILS_FIELD_NUMBER: _ClassVar[int]
    DISK_BYTES_FIELD_NUMBER: _ClassVar[int]
    DISK_FREE_BYTES_FIELD_NUMBER: _ClassVar[int]
    FORK_ID_FIELD_NUMBER: _ClassVar[int]
    FORMAT_FIELD_NUMBER: _ClassVar[int]
    HASH_FIELD_NUMBER: _ClassVar[int]
    MEMORY_BYTES_FIELD_NUMBER: _ClassVar[int]
    REFUSED_FIELD_NUMBER: _ClassVar[int]
    SEALED_FIELD_NUMBER: _ClassVar[int]
    SHARDS_FIELD_NUMBER: _ClassVar[int]
    STORE_ID_FIELD_NUMBER: _ClassVar[int]
    TAIL_EVENTS_FIELD_NUMBER: _ClassVar[int]
    WATERMARK_FIELD_NUMBER: _ClassVar[int]
    appends: int
    backend_assertions: bool
    commits: int
    created_at_us: int
    details: _containers.RepeatedCompositeFieldContainer[StatsResponse.Detail]
    disk_bytes: int
    disk_free_bytes: int
    fork_id: str
    format: int
    hash: int
    memory_bytes: int
    refused: int
    sealed: int
    shards: int
    store_id: str
    tail_events: int
    watermark: int
    def __init__(self, store_id: _Optional[str] = ..., shards: _Optional[int] = ..., format: _Optional[int] = ..., hash: _Optional[int] = ..., created_at_us: _Optional[int] = ..., watermark: _Optional[int] = ..., sealed: _Optional[int] = ..., tail_events: _Optional[int] = ..., commits: _Optional[int] = ..., appends: _Optional[int] = ..., refused: _Optional[int] = ..., disk_bytes: _Optional[int] = ..., disk_free_bytes: _Optional[int] = ..., memory_bytes: _Optional[int] = ..., backend_assertions: bool = ..., details: _Optional[_Iterable[_Union[StatsResponse.Detail, _Mapping]]] = ..., fork_id: _Optional[str] = ...) -> None: ...

class SubscribeRequest(_message.Message):
    __slots__ = ["after", "heartbeat_ms", "page_events_max", "query"]
    AFTER_FIELD_NUMBER: _ClassVar[int]
    HEARTBEAT_MS_FIELD_NUMBER: _ClassVar[int]
    PAGE_EVENTS_MAX_FIELD_NUMBER: _ClassVar[int]
    QUERY_FIELD_NUMBER: _ClassVar[int]
    after: int
    heartbeat_ms: int
    page_events_max: int
    query: _store_pb2.Query
    def __init__(self, query: _Optional[_Union[_store_pb2.Query, _Mapping]] = ..., after: _Optional[int] = ..., page_events_max: _Optional[int] = ..., heartbeat_ms: _Optional[int] = ...) -> None: ...

class SubscribeResponse(_message.Message):
    __slots__ = ["events", "kind", "watermark"]
    class Kind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = []
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    KIND_CAUGHT_UP: SubscribeResponse.Kind
    KIND_EVENTS: SubscribeResponse.Kind
    KIND_FELL_BEHIND: SubscribeResponse.Kind
    KIND_FIELD_NUMBER: _ClassVar[int]
    KIND_HEARTBEAT: SubscribeResponse.Kind
    KIND_UNSPECIFIED: SubscribeResponse.Kind
    WATERMARK_FIELD_NUMBER: _ClassVar[int]
    events: _containers.RepeatedCompositeFieldContainer[_event_pb2.RecordedEvent]
    kind: SubscribeResponse.Kind
    watermark: int
    def __init__(self, kind: _Optional[_Union[SubscribeResponse.Kind, str]] = ..., events: _Optional[_Iterable[_Union[_event_pb2.RecordedEvent, _Mapping]]] = ..., watermark: _Optional[int] = ...) -> None: ...

class VacuumRequest(_message.Message):
    __slots__ = []
    def __init__(self) -> None: ...

class VacuumResponse(_message.Message):
    __slots__ = ["progress"]
    PROGRESS_FIELD_NUMBER: _ClassVar[int]
    progress: WorkProgress
    def __init__(self, progress: _Optional[_Union[WorkProgress, _Mapping]] = ...) -> None: ...

class VerifyReport(_message.Message):
    __slots__ = ["errors", "events", "findings", "index_rows", "records", "snapshots"]
    ERRORS_FIELD_NUMBER: _ClassVar[int]
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    FINDINGS_FIELD_NUMBER: _ClassVar[int]
    INDEX_ROWS_FIELD_NUMBER: _ClassVar[int]
    RECORDS_FIELD_NUMBER: _ClassVar[int]
    SNAPSHOTS_FIELD_NUMBER: _ClassVar[int]
    errors: int
    events: int
    findings: _containers.RepeatedScalarFieldContainer[str]
    index_rows: int
    records: int
    snapshots: int
    def __init__(self, events: _Optional[int] = ..., records: _Optional[int] = ..., index_rows: _Optional[int] = ..., snapshots: _Optional[int] = ..., errors: _Optional[int] = ..., findings: _Optional[_Iterable[str]] = ...) -> None: ...

class VerifyRequest(_message.Message):
    __slots__ = []
    def __init__(self) -> None: ...

class VerifyResponse(_message.Message):
    __slots__ = ["progress", "report"]
    PROGRESS_FIELD_NUMBER: _ClassVar[int]
    REPORT_FIELD_NUMBER: _ClassVar[int]
    progress: WorkProgress
    report: VerifyReport
    def __init__(self, progress: _Optional[_Union[WorkProgress, _Mapping]] = ..., report: _Optional[_Union[VerifyReport, _Mapping]] = ...) -> None: ...

class WorkProgress(_message.Message):
    __slots__ = ["done", "total"]
    DONE_FIELD_NUMBER: _ClassVar[int]
    TOTAL_FIELD_NUMBER: _ClassVar[int]
    done: int
    total: int
    def __init__(self, done: _Optional[int] = ..., total: _Optional[int] = ...) -> None: ...
