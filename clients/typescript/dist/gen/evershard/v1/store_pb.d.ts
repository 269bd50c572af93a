import type { GenEnum, GenFile, GenMessage } from "@bufbuild/protobuf/codegenv2";
import type { AggregateId, Event, RecordedEvent } from "./event_pb.js";
import type { Message } from "@bufbuild/protobuf";
/**
 * Describes the file evershard/v1/store.proto.
 */
export declare const file_evershard_v1_store: GenFile;
/**
 * Which events. Everything, or what matches at least one item; neither, or both, is invalid_query.
 *
 * @generated from message evershard.v1.Query
 */
export type Query = Message<"evershard.v1.Query"> & {
    /**
     * @generated from field: bool all = 1;
     */
    all: boolean;
    /**
     * at most 64, with at most 256 terms among them
     *
     * @generated from field: repeated evershard.v1.QueryItem items = 2;
     */
    items: QueryItem[];
};
/**
 * Describes the message evershard.v1.Query.
 * Use `create(QuerySchema)` to create a new message.
 */
export declare const QuerySchema: GenMessage<Query>;
/**
 * Types are OR, tags are AND, concerned aggregates are AND; all three together are AND. An empty part asks nothing; an
 * item of three empty parts is invalid_query.
 *
 * @generated from message evershard.v1.QueryItem
 */
export type QueryItem = Message<"evershard.v1.QueryItem"> & {
    /**
     * @generated from field: repeated string types = 1;
     */
    types: string[];
    /**
     * @generated from field: repeated string tags = 2;
     */
    tags: string[];
    /**
     * the event's own aggregate, or one of its `also`
     *
     * @generated from field: repeated evershard.v1.AggregateId concerning = 3;
     */
    concerning: AggregateId[];
};
/**
 * Describes the message evershard.v1.QueryItem.
 * Use `create(QueryItemSchema)` to create a new message.
 */
export declare const QueryItemSchema: GenMessage<QueryItem>;
/**
 * What an append expects of an aggregate's version. There is no default: unspecified is refused.
 *
 * @generated from message evershard.v1.ExpectedVersion
 */
export type ExpectedVersion = Message<"evershard.v1.ExpectedVersion"> & {
    /**
     * @generated from field: evershard.v1.ExpectedVersion.Kind kind = 1;
     */
    kind: ExpectedVersion_Kind;
    /**
     * with KIND_EXACTLY only
     *
     * @generated from field: uint64 number = 2;
     */
    number: bigint;
};
/**
 * Describes the message evershard.v1.ExpectedVersion.
 * Use `create(ExpectedVersionSchema)` to create a new message.
 */
export declare const ExpectedVersionSchema: GenMessage<ExpectedVersion>;
/**
 * @generated from enum evershard.v1.ExpectedVersion.Kind
 */
export declare enum ExpectedVersion_Kind {
    /**
     * @generated from enum value: KIND_UNSPECIFIED = 0;
     */
    UNSPECIFIED = 0,
    /**
     * @generated from enum value: KIND_ANY = 1;
     */
    ANY = 1,
    /**
     * the aggregate must not exist
     *
     * @generated from enum value: KIND_NONE = 2;
     */
    NONE = 2,
    /**
     * @generated from enum value: KIND_EXISTS = 3;
     */
    EXISTS = 3,
    /**
     * `number`; 0 is none
     *
     * @generated from enum value: KIND_EXACTLY = 4;
     */
    EXACTLY = 4
}
/**
 * Describes the enum evershard.v1.ExpectedVersion.Kind.
 */
export declare const ExpectedVersion_KindSchema: GenEnum<ExpectedVersion_Kind>;
/**
 * An aggregate's expected version; at most one an aggregate.
 *
 * @generated from message evershard.v1.Expectation
 */
export type Expectation = Message<"evershard.v1.Expectation"> & {
    /**
     * required
     *
     * @generated from field: evershard.v1.AggregateId aggregate = 1;
     */
    aggregate?: AggregateId | undefined;
    /**
     * required
     *
     * @generated from field: evershard.v1.ExpectedVersion version = 2;
     */
    version?: ExpectedVersion | undefined;
};
/**
 * Describes the message evershard.v1.Expectation.
 * Use `create(ExpectationSchema)` to create a new message.
 */
export declare const ExpectationSchema: GenMessage<Expectation>;
/**
 * No event that matches `query` stands between `after` (exclusive) and the append's own first event.
 *
 * @generated from message evershard.v1.AppendCondition
 */
export type AppendCondition = Message<"evershard.v1.AppendCondition"> & {
    /**
     * required
     *
     * @generated from field: evershard.v1.Query query = 1;
     */
    query?: Query | undefined;
    /**
     * 0: none at all; may lie beyond the last match, or beyond the head
     *
     * @generated from field: uint64 after = 2;
     */
    after: bigint;
};
/**
 * Describes the message evershard.v1.AppendCondition.
 * Use `create(AppendConditionSchema)` to create a new message.
 */
export declare const AppendConditionSchema: GenMessage<AppendCondition>;
/**
 * A snapshot to be written. With an append it is taken at the version the append leaves; alone, the version must exist.
 *
 * @generated from message evershard.v1.Snapshot
 */
export type Snapshot = Message<"evershard.v1.Snapshot"> & {
    /**
     * required
     *
     * @generated from field: evershard.v1.AggregateId aggregate = 1;
     */
    aggregate?: AggregateId | undefined;
    /**
     * alone: required. In an append: 0, or the version the append leaves
     *
     * @generated from field: uint64 version = 2;
     */
    version: bigint;
    /**
     * @generated from field: bytes payload = 3;
     */
    payload: Uint8Array;
    /**
     * as in Event
     *
     * @generated from field: uint32 payload_format = 4;
     */
    payloadFormat: number;
    /**
     * a reader that knows another one replays instead
     *
     * @generated from field: uint32 schema_revision = 5;
     */
    schemaRevision: number;
    /**
     * retained copies beside the latest: absent = off, 0 = none, n = the newest n
     *
     * @generated from field: optional uint32 keep = 6;
     */
    keep?: number | undefined;
    /**
     * hides, and later removes, this retained copy; never the latest
     *
     * @generated from field: optional int64 ttl_s = 7;
     */
    ttlS?: bigint | undefined;
    /**
     * as in Event
     *
     * @generated from field: string subject = 8;
     */
    subject: string;
};
/**
 * Describes the message evershard.v1.Snapshot.
 * Use `create(SnapshotSchema)` to create a new message.
 */
export declare const SnapshotSchema: GenMessage<Snapshot>;
/**
 * A command's id and its encoded reply, stored with its events: the same command again gives the stored reply.
 *
 * @generated from message evershard.v1.CommandRecord
 */
export type CommandRecord = Message<"evershard.v1.CommandRecord"> & {
    /**
     * required; one the append writes to
     *
     * @generated from field: evershard.v1.AggregateId aggregate = 1;
     */
    aggregate?: AggregateId | undefined;
    /**
     * 1 to 255 bytes
     *
     * @generated from field: bytes id = 2;
     */
    id: Uint8Array;
    /**
     * @generated from field: bytes reply = 3;
     */
    reply: Uint8Array;
};
/**
 * Describes the message evershard.v1.CommandRecord.
 * Use `create(CommandRecordSchema)` to create a new message.
 */
export declare const CommandRecordSchema: GenMessage<CommandRecord>;
/**
 * Events of one or several aggregates, on any shards, written whole or not at all.
 *
 * @generated from message evershard.v1.AppendRequest
 */
export type AppendRequest = Message<"evershard.v1.AppendRequest"> & {
    /**
     * 16 bytes; names the request for retries; empty: the event ids serve
     *
     * @generated from field: bytes request_id = 1;
     */
    requestId: Uint8Array;
    /**
     * at least one
     *
     * @generated from field: repeated evershard.v1.Event events = 2;
     */
    events: Event[];
    /**
     * @generated from field: repeated evershard.v1.Expectation expectations = 3;
     */
    expectations: Expectation[];
    /**
     * all are required; at most 16
     *
     * @generated from field: repeated evershard.v1.AppendCondition conditions = 4;
     */
    conditions: AppendCondition[];
    /**
     * at most one an aggregate, of aggregates the append writes to
     *
     * @generated from field: repeated evershard.v1.Snapshot snapshots = 5;
     */
    snapshots: Snapshot[];
    /**
     * @generated from field: evershard.v1.CommandRecord command = 6;
     */
    command?: CommandRecord | undefined;
    /**
     * @generated from field: evershard.v1.Ack ack = 7;
     */
    ack: Ack;
    /**
     * how many conflicting events a failed condition's answer may carry; for the door, not the store
     *
     * @generated from field: uint32 conflicts_max = 8;
     */
    conflictsMax: number;
    /**
     * what another store had: events whose content is gone, and `$AggregateRemoved`, are taken too
     *
     * @generated from field: bool from_export = 9;
     */
    fromExport: boolean;
};
/**
 * Describes the message evershard.v1.AppendRequest.
 * Use `create(AppendRequestSchema)` to create a new message.
 */
export declare const AppendRequestSchema: GenMessage<AppendRequest>;
/**
 * An aggregate's version after its last event of an append.
 *
 * @generated from message evershard.v1.AggregateVersion
 */
export type AggregateVersion = Message<"evershard.v1.AggregateVersion"> & {
    /**
     * required
     *
     * @generated from field: evershard.v1.AggregateId aggregate = 1;
     */
    aggregate?: AggregateId | undefined;
    /**
     * @generated from field: uint64 version = 2;
     */
    version: bigint;
};
/**
 * Describes the message evershard.v1.AggregateVersion.
 * Use `create(AggregateVersionSchema)` to create a new message.
 */
export declare const AggregateVersionSchema: GenMessage<AggregateVersion>;
/**
 * What acknowledges an append; the same for every retry of the same request, but for `duplicate` and `watermark`.
 *
 * @generated from message evershard.v1.AppendResponse
 */
export type AppendResponse = Message<"evershard.v1.AppendResponse"> & {
    /**
     * @generated from field: uint64 first_position = 1;
     */
    firstPosition: bigint;
    /**
     * @generated from field: uint64 last_position = 2;
     */
    lastPosition: bigint;
    /**
     * in order of first event
     *
     * @generated from field: repeated evershard.v1.AggregateVersion versions = 3;
     */
    versions: AggregateVersion[];
    /**
     * it was stored already
     *
     * @generated from field: bool duplicate = 4;
     */
    duplicate: boolean;
    /**
     * a consistency token, set by the door
     *
     * @generated from field: uint64 watermark = 5;
     */
    watermark: bigint;
};
/**
 * Describes the message evershard.v1.AppendResponse.
 * Use `create(AppendResponseSchema)` to create a new message.
 */
export declare const AppendResponseSchema: GenMessage<AppendResponse>;
/**
 * A refusal or failure. The values that decided it are set as its code asks.
 *
 * @generated from message evershard.v1.Error
 */
export type Error = Message<"evershard.v1.Error"> & {
    /**
     * required
     *
     * @generated from field: evershard.v1.ErrorCode code = 1;
     */
    code: ErrorCode;
    /**
     * one sentence, for people
     *
     * @generated from field: string message = 2;
     */
    message: string;
    /**
     * version_conflict
     *
     * @generated from field: evershard.v1.AggregateId aggregate = 3;
     */
    aggregate?: AggregateId | undefined;
    /**
     * version_conflict
     *
     * @generated from field: evershard.v1.ExpectedVersion expected = 4;
     */
    expected?: ExpectedVersion | undefined;
    /**
     * version_conflict: the version it has
     *
     * @generated from field: optional uint64 actual = 5;
     */
    actual?: bigint | undefined;
    /**
     * condition_failed: which, from 0, in the append's order
     *
     * @generated from field: optional uint32 condition = 6;
     */
    condition?: number | undefined;
    /**
     * condition_failed: first conflicting event; duplicate_event: the earlier one
     *
     * @generated from field: optional uint64 position = 7;
     */
    position?: bigint | undefined;
    /**
     * @generated from field: optional uint32 shard = 8;
     */
    shard?: number | undefined;
    /**
     * @generated from field: optional uint64 offset = 9;
     */
    offset?: bigint | undefined;
    /**
     * condition_failed: the first of them, as many as were asked for and have room
     *
     * @generated from field: repeated evershard.v1.RecordedEvent conflicts = 10;
     */
    conflicts: RecordedEvent[];
    /**
     * overloaded: when to try again
     *
     * @generated from field: optional uint32 retry_after_ms = 11;
     */
    retryAfterMs?: number | undefined;
    /**
     * unavailable: until somebody mends it; trying again alone changes nothing
     *
     * @generated from field: bool lasting = 12;
     */
    lasting: boolean;
};
/**
 * Describes the message evershard.v1.Error.
 * Use `create(ErrorSchema)` to create a new message.
 */
export declare const ErrorSchema: GenMessage<Error>;
/**
 * Reading everything, or a query's matches, in position order. All bounds hold in both directions.
 *
 * @generated from message evershard.v1.ReadOptions
 */
export type ReadOptions = Message<"evershard.v1.ReadOptions"> & {
    /**
     * exclusive
     *
     * @generated from field: uint64 after = 1;
     */
    after: bigint;
    /**
     * exclusive; absent: no bound
     *
     * @generated from field: optional uint64 before = 2;
     */
    before?: bigint | undefined;
    /**
     * inclusive: as of this position
     *
     * @generated from field: optional uint64 up_to = 3;
     */
    upTo?: bigint | undefined;
    /**
     * absent: no limit; 0: nothing
     *
     * @generated from field: optional uint64 limit = 4;
     */
    limit?: bigint | undefined;
    /**
     * @generated from field: evershard.v1.Direction direction = 5;
     */
    direction: Direction;
    /**
     * wait until the watermark has reached it
     *
     * @generated from field: optional uint64 at_least = 6;
     */
    atLeast?: bigint | undefined;
};
/**
 * Describes the message evershard.v1.ReadOptions.
 * Use `create(ReadOptionsSchema)` to create a new message.
 */
export declare const ReadOptionsSchema: GenMessage<ReadOptions>;
/**
 * Reading one aggregate's stream, in order of seq_nr.
 *
 * @generated from message evershard.v1.StreamOptions
 */
export type StreamOptions = Message<"evershard.v1.StreamOptions"> & {
    /**
     * inclusive; absent: the first, backwards the last
     *
     * @generated from field: optional uint64 from = 1;
     */
    from?: bigint | undefined;
    /**
     * absent: no limit; 0: nothing
     *
     * @generated from field: optional uint64 limit = 2;
     */
    limit?: bigint | undefined;
    /**
     * @generated from field: evershard.v1.Direction direction = 3;
     */
    direction: Direction;
    /**
     * inclusive: as of this position
     *
     * @generated from field: optional uint64 up_to = 4;
     */
    upTo?: bigint | undefined;
};
/**
 * Describes the message evershard.v1.StreamOptions.
 * Use `create(StreamOptionsSchema)` to create a new message.
 */
export declare const StreamOptionsSchema: GenMessage<StreamOptions>;
/**
 * Events in the order asked for, each once.
 *
 * @generated from message evershard.v1.Page
 */
export type Page = Message<"evershard.v1.Page"> & {
    /**
     * @generated from field: repeated evershard.v1.RecordedEvent events = 1;
     */
    events: RecordedEvent[];
    /**
     * what the whole read is bounded by: a consistency token
     *
     * @generated from field: uint64 watermark = 2;
     */
    watermark: bigint;
    /**
     * nothing follows
     *
     * @generated from field: bool complete = 3;
     */
    complete: boolean;
};
/**
 * Describes the message evershard.v1.Page.
 * Use `create(PageSchema)` to create a new message.
 */
export declare const PageSchema: GenMessage<Page>;
/**
 * A snapshot as stored.
 *
 * @generated from message evershard.v1.RecordedSnapshot
 */
export type RecordedSnapshot = Message<"evershard.v1.RecordedSnapshot"> & {
    /**
     * required
     *
     * @generated from field: evershard.v1.AggregateId aggregate = 1;
     */
    aggregate?: AggregateId | undefined;
    /**
     * @generated from field: uint64 version = 2;
     */
    version: bigint;
    /**
     * of the event that made the version
     *
     * @generated from field: uint64 position = 3;
     */
    position: bigint;
    /**
     * @generated from field: bytes payload = 4;
     */
    payload: Uint8Array;
    /**
     * @generated from field: uint32 payload_format = 5;
     */
    payloadFormat: number;
    /**
     * @generated from field: uint32 schema_revision = 6;
     */
    schemaRevision: number;
    /**
     * @generated from field: int64 taken_at_us = 7;
     */
    takenAtUs: bigint;
    /**
     * @generated from field: optional int64 expires_at_us = 8;
     */
    expiresAtUs?: bigint | undefined;
    /**
     * @generated from field: bool latest = 9;
     */
    latest: boolean;
    /**
     * as in RecordedEvent
     *
     * @generated from field: string subject = 10;
     */
    subject: string;
};
/**
 * Describes the message evershard.v1.RecordedSnapshot.
 * Use `create(RecordedSnapshotSchema)` to create a new message.
 */
export declare const RecordedSnapshotSchema: GenMessage<RecordedSnapshot>;
/**
 * What an acknowledgement means; in one process both are the same.
 *
 * @generated from enum evershard.v1.Ack
 */
export declare enum Ack {
    /**
     * positions are known
     *
     * @generated from enum value: ACK_ORDERED = 0;
     */
    ORDERED = 0,
    /**
     * it will survive and will be ordered, where is open
     *
     * @generated from enum value: ACK_DURABLE = 1;
     */
    DURABLE = 1
}
/**
 * Describes the enum evershard.v1.Ack.
 */
export declare const AckSchema: GenEnum<Ack>;
/**
 * What the caller can do about it.
 *
 * @generated from enum evershard.v1.ErrorCode
 */
export declare enum ErrorCode {
    /**
     * @generated from enum value: ERROR_CODE_UNSPECIFIED = 0;
     */
    UNSPECIFIED = 0,
    /**
     * an aggregate is not at the expected version: read it again and decide again
     *
     * @generated from enum value: ERROR_CODE_VERSION_CONFLICT = 1;
     */
    VERSION_CONFLICT = 1,
    /**
     * an event matches an append condition: read again and decide again
     *
     * @generated from enum value: ERROR_CODE_CONDITION_FAILED = 2;
     */
    CONDITION_FAILED = 2,
    /**
     * an event id is stored already, by another request
     *
     * @generated from enum value: ERROR_CODE_DUPLICATE_EVENT = 3;
     */
    DUPLICATE_EVENT = 3,
    /**
     * @generated from enum value: ERROR_CODE_NOT_FOUND = 4;
     */
    NOT_FOUND = 4,
    /**
     * @generated from enum value: ERROR_CODE_INVALID_ARGUMENT = 5;
     */
    INVALID_ARGUMENT = 5,
    /**
     * @generated from enum value: ERROR_CODE_INVALID_QUERY = 6;
     */
    INVALID_QUERY = 6,
    /**
     * over a limit, which the text names
     *
     * @generated from enum value: ERROR_CODE_TOO_LARGE = 7;
     */
    TOO_LARGE = 7,
    /**
     * the shard lives elsewhere
     *
     * @generated from enum value: ERROR_CODE_WRONG_SHARD = 8;
     */
    WRONG_SHARD = 8,
    /**
     * a newer writer owns the shard
     *
     * @generated from enum value: ERROR_CODE_FENCED = 9;
     */
    FENCED = 9,
    /**
     * not now; names the shard, or the full disk
     *
     * @generated from enum value: ERROR_CODE_UNAVAILABLE = 10;
     */
    UNAVAILABLE = 10,
    /**
     * a bounded queue is full: try again later
     *
     * @generated from enum value: ERROR_CODE_OVERLOADED = 11;
     */
    OVERLOADED = 11,
    /**
     * outcome unknown
     *
     * @generated from enum value: ERROR_CODE_TIMEOUT = 12;
     */
    TIMEOUT = 12,
    /**
     * damaged data was found; never served
     *
     * @generated from enum value: ERROR_CODE_CORRUPTION = 13;
     */
    CORRUPTION = 13,
    /**
     * the store has failed for good; the outcome of what was under way is unknown
     *
     * @generated from enum value: ERROR_CODE_IO = 14;
     */
    IO = 14,
    /**
     * the caller asked for it
     *
     * @generated from enum value: ERROR_CODE_CANCELLED = 15;
     */
    CANCELLED = 15,
    /**
     * no token, or one that is not known
     *
     * @generated from enum value: ERROR_CODE_UNAUTHENTICATED = 16;
     */
    UNAUTHENTICATED = 16,
    /**
     * a token whose scopes do not reach so far
     *
     * @generated from enum value: ERROR_CODE_PERMISSION_DENIED = 17;
     */
    PERMISSION_DENIED = 17
}
/**
 * Describes the enum evershard.v1.ErrorCode.
 */
export declare const ErrorCodeSchema: GenEnum<ErrorCode>;
/**
 * Which way a read goes.
 *
 * @generated from enum evershard.v1.Direction
 */
export declare enum Direction {
    /**
     * @generated from enum value: DIRECTION_FORWARDS = 0;
     */
    FORWARDS = 0,
    /**
     * @generated from enum value: DIRECTION_BACKWARDS = 1;
     */
    BACKWARDS = 1
}
/**
 * Describes the enum evershard.v1.Direction.
 */
export declare const DirectionSchema: GenEnum<Direction>;
