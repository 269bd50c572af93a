import type { GenEnum, GenFile, GenMessage, GenService } from "@bufbuild/protobuf/codegenv2";
import type { AggregateId, RecordedEvent, RecordedEventSchema } from "./event_pb.js";
import type { AppendRequestSchema, AppendResponse, AppendResponseSchema, Error, PageSchema, Query, ReadOptions, RecordedSnapshot, SnapshotSchema, StreamOptions } from "./store_pb.js";
import type { Message } from "@bufbuild/protobuf";
/**
 * Describes the file evershard/v1/service.proto.
 */
export declare const file_evershard_v1_service: GenFile;
/**
 * Waits until the watermark has reached a position: reads what was written, on any node.
 *
 * @generated from message evershard.v1.AtLeast
 */
export type AtLeast = Message<"evershard.v1.AtLeast"> & {
    /**
     * @generated from field: uint64 position = 1;
     */
    position: bigint;
    /**
     * absent: 30 s; never beyond the call's deadline. Passed: timeout
     *
     * @generated from field: optional uint32 timeout_ms = 2;
     */
    timeoutMs?: number | undefined;
};
/**
 * Describes the message evershard.v1.AtLeast.
 * Use `create(AtLeastSchema)` to create a new message.
 */
export declare const AtLeastSchema: GenMessage<AtLeast>;
/**
 * An append's own outcome.
 *
 * @generated from message evershard.v1.AppendOutcome
 */
export type AppendOutcome = Message<"evershard.v1.AppendOutcome"> & {
    /**
     * @generated from oneof evershard.v1.AppendOutcome.outcome
     */
    outcome: {
        /**
         * @generated from field: evershard.v1.AppendResponse appended = 1;
         */
        value: AppendResponse;
        case: "appended";
    } | {
        /**
         * @generated from field: evershard.v1.Error refused = 2;
         */
        value: Error;
        case: "refused";
    } | {
        case: undefined;
        value?: undefined;
    };
};
/**
 * Describes the message evershard.v1.AppendOutcome.
 * Use `create(AppendOutcomeSchema)` to create a new message.
 */
export declare const AppendOutcomeSchema: GenMessage<AppendOutcome>;
/**
 * What to read: exactly one of `query` and `aggregate`.
 *
 * @generated from message evershard.v1.ReadRequest
 */
export type ReadRequest = Message<"evershard.v1.ReadRequest"> & {
    /**
     * @generated from field: evershard.v1.Query query = 1;
     */
    query?: Query | undefined;
    /**
     * with `query`; its at_least waits as AtLeast does
     *
     * @generated from field: evershard.v1.ReadOptions options = 2;
     */
    options?: ReadOptions | undefined;
    /**
     * @generated from field: evershard.v1.AggregateId aggregate = 3;
     */
    aggregate?: AggregateId | undefined;
    /**
     * with `aggregate`
     *
     * @generated from field: evershard.v1.StreamOptions stream = 4;
     */
    stream?: StreamOptions | undefined;
    /**
     * @generated from field: evershard.v1.AtLeast at_least = 5;
     */
    atLeast?: AtLeast | undefined;
};
/**
 * Describes the message evershard.v1.ReadRequest.
 * Use `create(ReadRequestSchema)` to create a new message.
 */
export declare const ReadRequestSchema: GenMessage<ReadRequest>;
/**
 * @generated from message evershard.v1.SubscribeRequest
 */
export type SubscribeRequest = Message<"evershard.v1.SubscribeRequest"> & {
    /**
     * required
     *
     * @generated from field: evershard.v1.Query query = 1;
     */
    query?: Query | undefined;
    /**
     * exclusive; absent: from now on
     *
     * @generated from field: optional uint64 after = 2;
     */
    after?: bigint | undefined;
    /**
     * @generated from field: optional uint32 page_events_max = 3;
     */
    pageEventsMax?: number | undefined;
    /**
     * absent: 10,000; at least 100; 0: none
     *
     * @generated from field: optional uint32 heartbeat_ms = 4;
     */
    heartbeatMs?: number | undefined;
};
/**
 * Describes the message evershard.v1.SubscribeRequest.
 * Use `create(SubscribeRequestSchema)` to create a new message.
 */
export declare const SubscribeRequestSchema: GenMessage<SubscribeRequest>;
/**
 * The next thing to tell. `watermark`: everything up to it was looked at and, if it matches, given: what to go on after.
 *
 * @generated from message evershard.v1.SubscribeResponse
 */
export type SubscribeResponse = Message<"evershard.v1.SubscribeResponse"> & {
    /**
     * @generated from field: evershard.v1.SubscribeResponse.Kind kind = 1;
     */
    kind: SubscribeResponse_Kind;
    /**
     * @generated from field: repeated evershard.v1.RecordedEvent events = 2;
     */
    events: RecordedEvent[];
    /**
     * @generated from field: uint64 watermark = 3;
     */
    watermark: bigint;
};
/**
 * Describes the message evershard.v1.SubscribeResponse.
 * Use `create(SubscribeResponseSchema)` to create a new message.
 */
export declare const SubscribeResponseSchema: GenMessage<SubscribeResponse>;
/**
 * @generated from enum evershard.v1.SubscribeResponse.Kind
 */
export declare enum SubscribeResponse_Kind {
    /**
     * @generated from enum value: KIND_UNSPECIFIED = 0;
     */
    UNSPECIFIED = 0,
    /**
     * @generated from enum value: KIND_EVENTS = 1;
     */
    EVENTS = 1,
    /**
     * everything up to `watermark` was given; from now on events come as they are appended
     *
     * @generated from enum value: KIND_CAUGHT_UP = 2;
     */
    CAUGHT_UP = 2,
    /**
     * more than a page is waiting
     *
     * @generated from enum value: KIND_FELL_BEHIND = 3;
     */
    FELL_BEHIND = 3,
    /**
     * nothing new
     *
     * @generated from enum value: KIND_HEARTBEAT = 4;
     */
    HEARTBEAT = 4
}
/**
 * Describes the enum evershard.v1.SubscribeResponse.Kind.
 */
export declare const SubscribeResponse_KindSchema: GenEnum<SubscribeResponse_Kind>;
/**
 * @generated from message evershard.v1.HeadRequest
 */
export type HeadRequest = Message<"evershard.v1.HeadRequest"> & {
    /**
     * @generated from field: evershard.v1.AtLeast at_least = 1;
     */
    atLeast?: AtLeast | undefined;
};
/**
 * Describes the message evershard.v1.HeadRequest.
 * Use `create(HeadRequestSchema)` to create a new message.
 */
export declare const HeadRequestSchema: GenMessage<HeadRequest>;
/**
 * @generated from message evershard.v1.HeadResponse
 */
export type HeadResponse = Message<"evershard.v1.HeadResponse"> & {
    /**
     * @generated from field: uint64 watermark = 1;
     */
    watermark: bigint;
};
/**
 * Describes the message evershard.v1.HeadResponse.
 * Use `create(HeadResponseSchema)` to create a new message.
 */
export declare const HeadResponseSchema: GenMessage<HeadResponse>;
/**
 * @generated from message evershard.v1.GetEventRequest
 */
export type GetEventRequest = Message<"evershard.v1.GetEventRequest"> & {
    /**
     * @generated from field: uint64 position = 1;
     */
    position: bigint;
    /**
     * @generated from field: evershard.v1.AtLeast at_least = 2;
     */
    atLeast?: AtLeast | undefined;
};
/**
 * Describes the message evershard.v1.GetEventRequest.
 * Use `create(GetEventRequestSchema)` to create a new message.
 */
export declare const GetEventRequestSchema: GenMessage<GetEventRequest>;
/**
 * One row of the directory.
 *
 * @generated from message evershard.v1.AggregateInfo
 */
export type AggregateInfo = Message<"evershard.v1.AggregateInfo"> & {
    /**
     * @generated from field: evershard.v1.AggregateId aggregate = 1;
     */
    aggregate?: AggregateId | undefined;
    /**
     * @generated from field: uint64 version = 2;
     */
    version: bigint;
    /**
     * @generated from field: uint64 last_position = 3;
     */
    lastPosition: bigint;
    /**
     * @generated from field: uint32 shard = 4;
     */
    shard: number;
};
/**
 * Describes the message evershard.v1.AggregateInfo.
 * Use `create(AggregateInfoSchema)` to create a new message.
 */
export declare const AggregateInfoSchema: GenMessage<AggregateInfo>;
/**
 * @generated from message evershard.v1.GetAggregateRequest
 */
export type GetAggregateRequest = Message<"evershard.v1.GetAggregateRequest"> & {
    /**
     * required
     *
     * @generated from field: evershard.v1.AggregateId aggregate = 1;
     */
    aggregate?: AggregateId | undefined;
    /**
     * as of this position
     *
     * @generated from field: optional uint64 up_to = 2;
     */
    upTo?: bigint | undefined;
    /**
     * @generated from field: evershard.v1.AtLeast at_least = 3;
     */
    atLeast?: AtLeast | undefined;
};
/**
 * Describes the message evershard.v1.GetAggregateRequest.
 * Use `create(GetAggregateRequestSchema)` to create a new message.
 */
export declare const GetAggregateRequestSchema: GenMessage<GetAggregateRequest>;
/**
 * @generated from message evershard.v1.ListAggregatesRequest
 */
export type ListAggregatesRequest = Message<"evershard.v1.ListAggregatesRequest"> & {
    /**
     * absent: all
     *
     * @generated from field: optional string type = 1;
     */
    type?: string | undefined;
    /**
     * exclusive; absent: from the first
     *
     * @generated from field: evershard.v1.AggregateId after = 2;
     */
    after?: AggregateId | undefined;
    /**
     * absent: 1,000; at most 10,000
     *
     * @generated from field: optional uint32 limit = 3;
     */
    limit?: number | undefined;
    /**
     * @generated from field: evershard.v1.AtLeast at_least = 4;
     */
    atLeast?: AtLeast | undefined;
};
/**
 * Describes the message evershard.v1.ListAggregatesRequest.
 * Use `create(ListAggregatesRequestSchema)` to create a new message.
 */
export declare const ListAggregatesRequestSchema: GenMessage<ListAggregatesRequest>;
/**
 * @generated from message evershard.v1.ListAggregatesResponse
 */
export type ListAggregatesResponse = Message<"evershard.v1.ListAggregatesResponse"> & {
    /**
     * in order of type and value
     *
     * @generated from field: repeated evershard.v1.AggregateInfo aggregates = 1;
     */
    aggregates: AggregateInfo[];
};
/**
 * Describes the message evershard.v1.ListAggregatesResponse.
 * Use `create(ListAggregatesResponseSchema)` to create a new message.
 */
export declare const ListAggregatesResponseSchema: GenMessage<ListAggregatesResponse>;
/**
 * @generated from message evershard.v1.GetStateRequest
 */
export type GetStateRequest = Message<"evershard.v1.GetStateRequest"> & {
    /**
     * required
     *
     * @generated from field: evershard.v1.AggregateId aggregate = 1;
     */
    aggregate?: AggregateId | undefined;
    /**
     * absent: the latest
     *
     * @generated from field: optional uint64 version = 2;
     */
    version?: bigint | undefined;
    /**
     * as of this position
     *
     * @generated from field: optional uint64 up_to = 3;
     */
    upTo?: bigint | undefined;
    /**
     * at most so many of the events behind the snapshot; absent: all
     *
     * @generated from field: optional uint64 limit = 4;
     */
    limit?: bigint | undefined;
    /**
     * @generated from field: evershard.v1.AtLeast at_least = 5;
     */
    atLeast?: AtLeast | undefined;
};
/**
 * Describes the message evershard.v1.GetStateRequest.
 * Use `create(GetStateRequestSchema)` to create a new message.
 */
export declare const GetStateRequestSchema: GenMessage<GetStateRequest>;
/**
 * @generated from message evershard.v1.GetStateResponse
 */
export type GetStateResponse = Message<"evershard.v1.GetStateResponse"> & {
    /**
     * the line that `evershard aggregate state --format json` prints
     *
     * @generated from field: string json = 1;
     */
    json: string;
};
/**
 * Describes the message evershard.v1.GetStateResponse.
 * Use `create(GetStateResponseSchema)` to create a new message.
 */
export declare const GetStateResponseSchema: GenMessage<GetStateResponse>;
/**
 * @generated from message evershard.v1.PutSnapshotResponse
 */
export type PutSnapshotResponse = Message<"evershard.v1.PutSnapshotResponse"> & {};
/**
 * Describes the message evershard.v1.PutSnapshotResponse.
 * Use `create(PutSnapshotResponseSchema)` to create a new message.
 */
export declare const PutSnapshotResponseSchema: GenMessage<PutSnapshotResponse>;
/**
 * @generated from message evershard.v1.GetSnapshotRequest
 */
export type GetSnapshotRequest = Message<"evershard.v1.GetSnapshotRequest"> & {
    /**
     * required
     *
     * @generated from field: evershard.v1.AggregateId aggregate = 1;
     */
    aggregate?: AggregateId | undefined;
    /**
     * the newest at or before this version; absent: the latest
     *
     * @generated from field: optional uint64 at_or_before = 2;
     */
    atOrBefore?: bigint | undefined;
    /**
     * the newest as of this position; not with at_or_before
     *
     * @generated from field: optional uint64 up_to = 3;
     */
    upTo?: bigint | undefined;
    /**
     * @generated from field: evershard.v1.AtLeast at_least = 4;
     */
    atLeast?: AtLeast | undefined;
};
/**
 * Describes the message evershard.v1.GetSnapshotRequest.
 * Use `create(GetSnapshotRequestSchema)` to create a new message.
 */
export declare const GetSnapshotRequestSchema: GenMessage<GetSnapshotRequest>;
/**
 * @generated from message evershard.v1.GetSnapshotResponse
 */
export type GetSnapshotResponse = Message<"evershard.v1.GetSnapshotResponse"> & {
    /**
     * absent: there is none
     *
     * @generated from field: evershard.v1.RecordedSnapshot snapshot = 1;
     */
    snapshot?: RecordedSnapshot | undefined;
};
/**
 * Describes the message evershard.v1.GetSnapshotResponse.
 * Use `create(GetSnapshotResponseSchema)` to create a new message.
 */
export declare const GetSnapshotResponseSchema: GenMessage<GetSnapshotResponse>;
/**
 * @generated from message evershard.v1.ListSnapshotsRequest
 */
export type ListSnapshotsRequest = Message<"evershard.v1.ListSnapshotsRequest"> & {
    /**
     * required
     *
     * @generated from field: evershard.v1.AggregateId aggregate = 1;
     */
    aggregate?: AggregateId | undefined;
    /**
     * @generated from field: evershard.v1.AtLeast at_least = 2;
     */
    atLeast?: AtLeast | undefined;
};
/**
 * Describes the message evershard.v1.ListSnapshotsRequest.
 * Use `create(ListSnapshotsRequestSchema)` to create a new message.
 */
export declare const ListSnapshotsRequestSchema: GenMessage<ListSnapshotsRequest>;
/**
 * @generated from message evershard.v1.ListSnapshotsResponse
 */
export type ListSnapshotsResponse = Message<"evershard.v1.ListSnapshotsResponse"> & {
    /**
     * @generated from field: repeated evershard.v1.RecordedSnapshot snapshots = 1;
     */
    snapshots: RecordedSnapshot[];
};
/**
 * Describes the message evershard.v1.ListSnapshotsResponse.
 * Use `create(ListSnapshotsResponseSchema)` to create a new message.
 */
export declare const ListSnapshotsResponseSchema: GenMessage<ListSnapshotsResponse>;
/**
 * @generated from message evershard.v1.GetTypesRequest
 */
export type GetTypesRequest = Message<"evershard.v1.GetTypesRequest"> & {};
/**
 * Describes the message evershard.v1.GetTypesRequest.
 * Use `create(GetTypesRequestSchema)` to create a new message.
 */
export declare const GetTypesRequestSchema: GenMessage<GetTypesRequest>;
/**
 * @generated from message evershard.v1.GetTypesResponse
 */
export type GetTypesResponse = Message<"evershard.v1.GetTypesResponse"> & {
    /**
     * as the file TYPES has them; empty: none
     *
     * @generated from field: bytes types = 1;
     */
    types: Uint8Array;
};
/**
 * Describes the message evershard.v1.GetTypesResponse.
 * Use `create(GetTypesResponseSchema)` to create a new message.
 */
export declare const GetTypesResponseSchema: GenMessage<GetTypesResponse>;
/**
 * @generated from message evershard.v1.MembersRequest
 */
export type MembersRequest = Message<"evershard.v1.MembersRequest"> & {};
/**
 * Describes the message evershard.v1.MembersRequest.
 * Use `create(MembersRequestSchema)` to create a new message.
 */
export declare const MembersRequestSchema: GenMessage<MembersRequest>;
/**
 * @generated from message evershard.v1.MembersResponse
 */
export type MembersResponse = Message<"evershard.v1.MembersResponse"> & {
    /**
     * @generated from field: string store_id = 1;
     */
    storeId: string;
    /**
     * as Stats has them: a client takes an address that says something else for another store's
     *
     * @generated from field: string fork_id = 2;
     */
    forkId: string;
    /**
     * @generated from field: uint32 shards = 3;
     */
    shards: number;
    /**
     * which one: docs/internals/sharding.md
     *
     * @generated from field: uint32 hash = 4;
     */
    hash: number;
    /**
     * the node that answers; 0: one server has the whole store
     *
     * @generated from field: uint32 here = 5;
     */
    here: number;
    /**
     * ascending; none: one server has the whole store
     *
     * @generated from field: repeated evershard.v1.MembersResponse.Node members = 6;
     */
    members: MembersResponse_Node[];
    /**
     * Per shard: its node, 0: nobody just now; and under which epoch: what an older one says is not so any more. Neither: one server has the
     * whole store.
     *
     * @generated from field: repeated uint32 owners = 7;
     */
    owners: number[];
    /**
     * @generated from field: repeated uint64 epochs = 8;
     */
    epochs: bigint[];
};
/**
 * Describes the message evershard.v1.MembersResponse.
 * Use `create(MembersResponseSchema)` to create a new message.
 */
export declare const MembersResponseSchema: GenMessage<MembersResponse>;
/**
 * @generated from message evershard.v1.MembersResponse.Node
 */
export type MembersResponse_Node = Message<"evershard.v1.MembersResponse.Node"> & {
    /**
     * @generated from field: uint32 node = 1;
     */
    node: number;
    /**
     * HOST:PORT of its gRPC door, for clients; empty: none is known
     *
     * @generated from field: string address = 2;
     */
    address: string;
};
/**
 * Describes the message evershard.v1.MembersResponse.Node.
 * Use `create(MembersResponse_NodeSchema)` to create a new message.
 */
export declare const MembersResponse_NodeSchema: GenMessage<MembersResponse_Node>;
/**
 * @generated from message evershard.v1.StatsRequest
 */
export type StatsRequest = Message<"evershard.v1.StatsRequest"> & {};
/**
 * Describes the message evershard.v1.StatsRequest.
 * Use `create(StatsRequestSchema)` to create a new message.
 */
export declare const StatsRequestSchema: GenMessage<StatsRequest>;
/**
 * @generated from message evershard.v1.StatsResponse
 */
export type StatsResponse = Message<"evershard.v1.StatsResponse"> & {
    /**
     * @generated from field: string store_id = 1;
     */
    storeId: string;
    /**
     * @generated from field: uint32 shards = 2;
     */
    shards: number;
    /**
     * @generated from field: uint32 format = 3;
     */
    format: number;
    /**
     * @generated from field: uint32 hash = 4;
     */
    hash: number;
    /**
     * @generated from field: int64 created_at_us = 5;
     */
    createdAtUs: bigint;
    /**
     * @generated from field: uint64 watermark = 6;
     */
    watermark: bigint;
    /**
     * indexes up to here lie in sorted files
     *
     * @generated from field: uint64 sealed = 7;
     */
    sealed: bigint;
    /**
     * @generated from field: uint64 tail_events = 8;
     */
    tailEvents: bigint;
    /**
     * @generated from field: uint64 commits = 9;
     */
    commits: bigint;
    /**
     * @generated from field: uint64 appends = 10;
     */
    appends: bigint;
    /**
     * @generated from field: uint64 refused = 11;
     */
    refused: bigint;
    /**
     * @generated from field: uint64 disk_bytes = 12;
     */
    diskBytes: bigint;
    /**
     * @generated from field: uint64 disk_free_bytes = 13;
     */
    diskFreeBytes: bigint;
    /**
     * @generated from field: uint64 memory_bytes = 14;
     */
    memoryBytes: bigint;
    /**
     * @generated from field: bool backend_assertions = 15;
     */
    backendAssertions: boolean;
    /**
     * @generated from field: repeated evershard.v1.StatsResponse.Detail details = 16;
     */
    details: StatsResponse_Detail[];
    /**
     * another one in every copy of a store
     *
     * @generated from field: string fork_id = 17;
     */
    forkId: string;
};
/**
 * Describes the message evershard.v1.StatsResponse.
 * Use `create(StatsResponseSchema)` to create a new message.
 */
export declare const StatsResponseSchema: GenMessage<StatsResponse>;
/**
 * @generated from message evershard.v1.StatsResponse.Detail
 */
export type StatsResponse_Detail = Message<"evershard.v1.StatsResponse.Detail"> & {
    /**
     * @generated from field: string name = 1;
     */
    name: string;
    /**
     * @generated from field: uint64 value = 2;
     */
    value: bigint;
};
/**
 * Describes the message evershard.v1.StatsResponse.Detail.
 * Use `create(StatsResponse_DetailSchema)` to create a new message.
 */
export declare const StatsResponse_DetailSchema: GenMessage<StatsResponse_Detail>;
/**
 * @generated from message evershard.v1.FlushRequest
 */
export type FlushRequest = Message<"evershard.v1.FlushRequest"> & {};
/**
 * Describes the message evershard.v1.FlushRequest.
 * Use `create(FlushRequestSchema)` to create a new message.
 */
export declare const FlushRequestSchema: GenMessage<FlushRequest>;
/**
 * @generated from message evershard.v1.FlushResponse
 */
export type FlushResponse = Message<"evershard.v1.FlushResponse"> & {};
/**
 * Describes the message evershard.v1.FlushResponse.
 * Use `create(FlushResponseSchema)` to create a new message.
 */
export declare const FlushResponseSchema: GenMessage<FlushResponse>;
/**
 * In the work's own unit.
 *
 * @generated from message evershard.v1.WorkProgress
 */
export type WorkProgress = Message<"evershard.v1.WorkProgress"> & {
    /**
     * @generated from field: uint64 done = 1;
     */
    done: bigint;
    /**
     * @generated from field: uint64 total = 2;
     */
    total: bigint;
};
/**
 * Describes the message evershard.v1.WorkProgress.
 * Use `create(WorkProgressSchema)` to create a new message.
 */
export declare const WorkProgressSchema: GenMessage<WorkProgress>;
/**
 * @generated from message evershard.v1.VerifyRequest
 */
export type VerifyRequest = Message<"evershard.v1.VerifyRequest"> & {};
/**
 * Describes the message evershard.v1.VerifyRequest.
 * Use `create(VerifyRequestSchema)` to create a new message.
 */
export declare const VerifyRequestSchema: GenMessage<VerifyRequest>;
/**
 * @generated from message evershard.v1.VerifyResponse
 */
export type VerifyResponse = Message<"evershard.v1.VerifyResponse"> & {
    /**
     * @generated from field: evershard.v1.WorkProgress progress = 1;
     */
    progress?: WorkProgress | undefined;
    /**
     * in the last message
     *
     * @generated from field: evershard.v1.VerifyReport report = 2;
     */
    report?: VerifyReport | undefined;
};
/**
 * Describes the message evershard.v1.VerifyResponse.
 * Use `create(VerifyResponseSchema)` to create a new message.
 */
export declare const VerifyResponseSchema: GenMessage<VerifyResponse>;
/**
 * @generated from message evershard.v1.VerifyReport
 */
export type VerifyReport = Message<"evershard.v1.VerifyReport"> & {
    /**
     * @generated from field: uint64 events = 1;
     */
    events: bigint;
    /**
     * @generated from field: uint64 records = 2;
     */
    records: bigint;
    /**
     * @generated from field: uint64 index_rows = 3;
     */
    indexRows: bigint;
    /**
     * @generated from field: uint64 snapshots = 4;
     */
    snapshots: bigint;
    /**
     * @generated from field: uint64 errors = 5;
     */
    errors: bigint;
    /**
     * at most 100
     *
     * @generated from field: repeated string findings = 6;
     */
    findings: string[];
};
/**
 * Describes the message evershard.v1.VerifyReport.
 * Use `create(VerifyReportSchema)` to create a new message.
 */
export declare const VerifyReportSchema: GenMessage<VerifyReport>;
/**
 * @generated from message evershard.v1.VacuumRequest
 */
export type VacuumRequest = Message<"evershard.v1.VacuumRequest"> & {};
/**
 * Describes the message evershard.v1.VacuumRequest.
 * Use `create(VacuumRequestSchema)` to create a new message.
 */
export declare const VacuumRequestSchema: GenMessage<VacuumRequest>;
/**
 * @generated from message evershard.v1.VacuumResponse
 */
export type VacuumResponse = Message<"evershard.v1.VacuumResponse"> & {
    /**
     * @generated from field: evershard.v1.WorkProgress progress = 1;
     */
    progress?: WorkProgress | undefined;
};
/**
 * Describes the message evershard.v1.VacuumResponse.
 * Use `create(VacuumResponseSchema)` to create a new message.
 */
export declare const VacuumResponseSchema: GenMessage<VacuumResponse>;
/**
 * @generated from message evershard.v1.BackupRequest
 */
export type BackupRequest = Message<"evershard.v1.BackupRequest"> & {
    /**
     * an absent or empty directory
     *
     * @generated from field: string target = 1;
     */
    target: string;
    /**
     * without the indexes, which restoring rebuilds
     *
     * @generated from field: bool truth_only = 2;
     */
    truthOnly: boolean;
    /**
     * a clone that ends with this position
     *
     * @generated from field: optional uint64 up_to = 3;
     */
    upTo?: bigint | undefined;
};
/**
 * Describes the message evershard.v1.BackupRequest.
 * Use `create(BackupRequestSchema)` to create a new message.
 */
export declare const BackupRequestSchema: GenMessage<BackupRequest>;
/**
 * @generated from message evershard.v1.BackupResponse
 */
export type BackupResponse = Message<"evershard.v1.BackupResponse"> & {
    /**
     * @generated from field: evershard.v1.WorkProgress progress = 1;
     */
    progress?: WorkProgress | undefined;
    /**
     * in the last message: the position the copy ends with
     *
     * @generated from field: uint64 up_to = 2;
     */
    upTo: bigint;
};
/**
 * Describes the message evershard.v1.BackupResponse.
 * Use `create(BackupResponseSchema)` to create a new message.
 */
export declare const BackupResponseSchema: GenMessage<BackupResponse>;
/**
 * @generated from message evershard.v1.ClusterStatusRequest
 */
export type ClusterStatusRequest = Message<"evershard.v1.ClusterStatusRequest"> & {};
/**
 * Describes the message evershard.v1.ClusterStatusRequest.
 * Use `create(ClusterStatusRequestSchema)` to create a new message.
 */
export declare const ClusterStatusRequestSchema: GenMessage<ClusterStatusRequest>;
/**
 * @generated from message evershard.v1.ClusterStatusResponse
 */
export type ClusterStatusResponse = Message<"evershard.v1.ClusterStatusResponse"> & {
    /**
     * the node that answers
     *
     * @generated from field: uint32 self = 1;
     */
    self: number;
    /**
     * the position it has applied
     *
     * @generated from field: uint64 applied = 2;
     */
    applied: bigint;
    /**
     * why the coordinator was not asked; then the rest is what the node remembers
     *
     * @generated from field: string trouble = 3;
     */
    trouble: string;
    /**
     * its epoch
     *
     * @generated from field: uint64 coordinator = 4;
     */
    coordinator: bigint;
    /**
     * @generated from field: uint64 last_cut = 5;
     */
    lastCut: bigint;
    /**
     * @generated from field: uint64 watermark = 6;
     */
    watermark: bigint;
    /**
     * of the last ten seconds
     *
     * @generated from field: uint64 cuts_per_second = 7;
     */
    cutsPerSecond: bigint;
    /**
     * ascending by number
     *
     * @generated from field: repeated evershard.v1.ClusterStatusResponse.Node nodes = 8;
     */
    nodes: ClusterStatusResponse_Node[];
    /**
     * one a shard
     *
     * @generated from field: repeated evershard.v1.ClusterStatusResponse.Shard shards = 9;
     */
    shards: ClusterStatusResponse_Shard[];
};
/**
 * Describes the message evershard.v1.ClusterStatusResponse.
 * Use `create(ClusterStatusResponseSchema)` to create a new message.
 */
export declare const ClusterStatusResponseSchema: GenMessage<ClusterStatusResponse>;
/**
 * @generated from message evershard.v1.ClusterStatusResponse.Node
 */
export type ClusterStatusResponse_Node = Message<"evershard.v1.ClusterStatusResponse.Node"> & {
    /**
     * @generated from field: uint32 node = 1;
     */
    node: number;
    /**
     * HOST:PORT for other nodes
     *
     * @generated from field: string address = 2;
     */
    address: string;
    /**
     * HOST:PORT for clients
     *
     * @generated from field: string door = 3;
     */
    door: string;
    /**
     * @generated from field: bool up = 4;
     */
    up: boolean;
    /**
     * microseconds since 1970: up or down since then; 0: not known
     *
     * @generated from field: sint64 since_us = 5;
     */
    sinceUs: bigint;
    /**
     * @generated from field: string version = 6;
     */
    version: string;
    /**
     * it owns
     *
     * @generated from field: uint32 shards = 7;
     */
    shards: number;
    /**
     * the last cut it said to have applied
     *
     * @generated from field: uint64 applied = 8;
     */
    applied: bigint;
    /**
     * cuts that were there and not applied when it said so
     *
     * @generated from field: uint64 behind = 9;
     */
    behind: bigint;
    /**
     * of its shards, those whose disk is refused
     *
     * @generated from field: uint32 refused = 10;
     */
    refused: number;
    /**
     * it is given no shards
     *
     * @generated from field: bool gateway = 11;
     */
    gateway: boolean;
};
/**
 * Describes the message evershard.v1.ClusterStatusResponse.Node.
 * Use `create(ClusterStatusResponse_NodeSchema)` to create a new message.
 */
export declare const ClusterStatusResponse_NodeSchema: GenMessage<ClusterStatusResponse_Node>;
/**
 * @generated from message evershard.v1.ClusterStatusResponse.Shard
 */
export type ClusterStatusResponse_Shard = Message<"evershard.v1.ClusterStatusResponse.Shard"> & {
    /**
     * 0: nobody
     *
     * @generated from field: uint32 node = 1;
     */
    node: number;
    /**
     * @generated from field: uint64 epoch = 2;
     */
    epoch: bigint;
    /**
     * @generated from field: bool open = 3;
     */
    open: boolean;
    /**
     * the first offset that was not reported as durable
     *
     * @generated from field: uint64 durable = 4;
     */
    durable: bigint;
    /**
     * the first offset without a place in the order
     *
     * @generated from field: uint64 ordered = 5;
     */
    ordered: bigint;
    /**
     * @generated from field: uint64 last_position = 6;
     */
    lastPosition: bigint;
    /**
     * why it is not open
     *
     * @generated from field: string trouble = 7;
     */
    trouble: string;
};
/**
 * Describes the message evershard.v1.ClusterStatusResponse.Shard.
 * Use `create(ClusterStatusResponse_ShardSchema)` to create a new message.
 */
export declare const ClusterStatusResponse_ShardSchema: GenMessage<ClusterStatusResponse_Shard>;
/**
 * Offsets [from, until) that have positions and are not there.
 *
 * @generated from message evershard.v1.ShardLoss
 */
export type ShardLoss = Message<"evershard.v1.ShardLoss"> & {
    /**
     * @generated from field: uint32 shard = 1;
     */
    shard: number;
    /**
     * @generated from field: uint64 from = 2;
     */
    from: bigint;
    /**
     * @generated from field: uint64 until = 3;
     */
    until: bigint;
    /**
     * so many offsets behind them, which have no position yet
     *
     * @generated from field: uint64 unordered = 4;
     */
    unordered: bigint;
};
/**
 * Describes the message evershard.v1.ShardLoss.
 * Use `create(ShardLossSchema)` to create a new message.
 */
export declare const ShardLossSchema: GenMessage<ShardLoss>;
/**
 * @generated from message evershard.v1.ClusterAssignRequest
 */
export type ClusterAssignRequest = Message<"evershard.v1.ClusterAssignRequest"> & {
    /**
     * @generated from field: uint32 node = 1;
     */
    node: number;
    /**
     * @generated from field: repeated uint32 shards = 2;
     */
    shards: number[];
    /**
     * exactly what is lost
     *
     * @generated from field: repeated evershard.v1.ShardLoss accepted = 3;
     */
    accepted: ShardLoss[];
};
/**
 * Describes the message evershard.v1.ClusterAssignRequest.
 * Use `create(ClusterAssignRequestSchema)` to create a new message.
 */
export declare const ClusterAssignRequestSchema: GenMessage<ClusterAssignRequest>;
/**
 * @generated from message evershard.v1.ClusterAssignResponse
 */
export type ClusterAssignResponse = Message<"evershard.v1.ClusterAssignResponse"> & {
    /**
     * false: nothing was done, the losses must be accepted first
     *
     * @generated from field: bool done = 1;
     */
    done: boolean;
    /**
     * @generated from field: repeated evershard.v1.ShardLoss losses = 2;
     */
    losses: ShardLoss[];
};
/**
 * Describes the message evershard.v1.ClusterAssignResponse.
 * Use `create(ClusterAssignResponseSchema)` to create a new message.
 */
export declare const ClusterAssignResponseSchema: GenMessage<ClusterAssignResponse>;
/**
 * @generated from service evershard.v1.EventStore
 */
export declare const EventStore: GenService<{
    /**
     * One append, whole or not at all; acknowledged when it is durable.
     *
     * @generated from rpc evershard.v1.EventStore.Append
     */
    append: {
        methodKind: "unary";
        input: typeof AppendRequestSchema;
        output: typeof AppendResponseSchema;
    };
    /**
     * Many appends in flight; each has its own outcome, in the order they were sent. One that is refused ends nothing.
     *
     * @generated from rpc evershard.v1.EventStore.AppendMany
     */
    appendMany: {
        methodKind: "bidi_streaming";
        input: typeof AppendRequestSchema;
        output: typeof AppendOutcomeSchema;
    };
    /**
     * Everything, a query's matches, or one aggregate's events, a page a message.
     *
     * @generated from rpc evershard.v1.EventStore.Read
     */
    read: {
        methodKind: "server_streaming";
        input: typeof ReadRequestSchema;
        output: typeof PageSchema;
    };
    /**
     * The same read, repeated whenever the watermark moves; until the caller ends it.
     *
     * @generated from rpc evershard.v1.EventStore.Subscribe
     */
    subscribe: {
        methodKind: "server_streaming";
        input: typeof SubscribeRequestSchema;
        output: typeof SubscribeResponseSchema;
    };
    /**
     * @generated from rpc evershard.v1.EventStore.Head
     */
    head: {
        methodKind: "unary";
        input: typeof HeadRequestSchema;
        output: typeof HeadResponseSchema;
    };
    /**
     * @generated from rpc evershard.v1.EventStore.GetEvent
     */
    getEvent: {
        methodKind: "unary";
        input: typeof GetEventRequestSchema;
        output: typeof RecordedEventSchema;
    };
    /**
     * @generated from rpc evershard.v1.EventStore.GetAggregate
     */
    getAggregate: {
        methodKind: "unary";
        input: typeof GetAggregateRequestSchema;
        output: typeof AggregateInfoSchema;
    };
    /**
     * @generated from rpc evershard.v1.EventStore.ListAggregates
     */
    listAggregates: {
        methodKind: "unary";
        input: typeof ListAggregatesRequestSchema;
        output: typeof ListAggregatesResponseSchema;
    };
    /**
     * As JSON, where the store has types registered: the newest snapshot at or before the moment, and the events behind it.
     *
     * @generated from rpc evershard.v1.EventStore.GetState
     */
    getState: {
        methodKind: "unary";
        input: typeof GetStateRequestSchema;
        output: typeof GetStateResponseSchema;
    };
    /**
     * @generated from rpc evershard.v1.EventStore.PutSnapshot
     */
    putSnapshot: {
        methodKind: "unary";
        input: typeof SnapshotSchema;
        output: typeof PutSnapshotResponseSchema;
    };
    /**
     * @generated from rpc evershard.v1.EventStore.GetSnapshot
     */
    getSnapshot: {
        methodKind: "unary";
        input: typeof GetSnapshotRequestSchema;
        output: typeof GetSnapshotResponseSchema;
    };
    /**
     * @generated from rpc evershard.v1.EventStore.ListSnapshots
     */
    listSnapshots: {
        methodKind: "unary";
        input: typeof ListSnapshotsRequestSchema;
        output: typeof ListSnapshotsResponseSchema;
    };
    /**
     * How payloads are read: what `evershard types` registered.
     *
     * @generated from rpc evershard.v1.EventStore.GetTypes
     */
    getTypes: {
        methodKind: "unary";
        input: typeof GetTypesRequestSchema;
        output: typeof GetTypesResponseSchema;
    };
    /**
     * Which store this is, who serves it, and who writes which shard: for clients that know several addresses, or send an append straight
     * to the node that decides it. Any member takes any request: a client that asks for none of this loses a hop and nothing else.
     *
     * @generated from rpc evershard.v1.EventStore.Members
     */
    members: {
        methodKind: "unary";
        input: typeof MembersRequestSchema;
        output: typeof MembersResponseSchema;
    };
}>;
/**
 * For operators. All but Stats need the scope `admin`.
 *
 * @generated from service evershard.v1.Administration
 */
export declare const Administration: GenService<{
    /**
     * @generated from rpc evershard.v1.Administration.Stats
     */
    stats: {
        methodKind: "unary";
        input: typeof StatsRequestSchema;
        output: typeof StatsResponseSchema;
    };
    /**
     * Seals the tail: the next opening has nothing to rebuild.
     *
     * @generated from rpc evershard.v1.Administration.Flush
     */
    flush: {
        methodKind: "unary";
        input: typeof FlushRequestSchema;
        output: typeof FlushResponseSchema;
    };
    /**
     * Long work tells how far it is about twice a second and, last, its result; cancelling the call stops it.
     *
     * @generated from rpc evershard.v1.Administration.Verify
     */
    verify: {
        methodKind: "server_streaming";
        input: typeof VerifyRequestSchema;
        output: typeof VerifyResponseSchema;
    };
    /**
     * @generated from rpc evershard.v1.Administration.Vacuum
     */
    vacuum: {
        methodKind: "server_streaming";
        input: typeof VacuumRequestSchema;
        output: typeof VacuumResponseSchema;
    };
    /**
     * Into a directory of the server's machine.
     *
     * @generated from rpc evershard.v1.Administration.Backup
     */
    backup: {
        methodKind: "server_streaming";
        input: typeof BackupRequestSchema;
        output: typeof BackupResponseSchema;
    };
    /**
     * Of a cluster, asked at any of its nodes; invalid_argument where the store is one process.
     *
     * @generated from rpc evershard.v1.Administration.ClusterStatus
     */
    clusterStatus: {
        methodKind: "unary";
        input: typeof ClusterStatusRequestSchema;
        output: typeof ClusterStatusResponseSchema;
    };
    /**
     * Gives shards, whose node is gone for good or came back with less, to a node that is up: all of them, or none.
     *
     * @generated from rpc evershard.v1.Administration.ClusterAssign
     */
    clusterAssign: {
        methodKind: "unary";
        input: typeof ClusterAssignRequestSchema;
        output: typeof ClusterAssignResponseSchema;
    };
}>;
