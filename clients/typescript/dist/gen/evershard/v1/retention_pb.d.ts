import type { GenEnum, GenFile, GenMessage, GenService } from "@bufbuild/protobuf/codegenv2";
import type { AggregateId } from "./event_pb.js";
import type { AtLeast, WorkProgress } from "./service_pb.js";
import type { Message } from "@bufbuild/protobuf";
/**
 * Describes the file evershard/v1/retention.proto.
 */
export declare const file_evershard_v1_retention: GenFile;
/**
 * Who wants it, why, and how.
 *
 * @generated from message evershard.v1.RetentionOrder
 */
export type RetentionOrder = Message<"evershard.v1.RetentionOrder"> & {
    /**
     * kept in the log
     *
     * @generated from field: string by = 1;
     */
    by: string;
    /**
     * the same
     *
     * @generated from field: string reason = 2;
     */
    reason: string;
    /**
     * says what would go, changes nothing
     *
     * @generated from field: bool dry_run = 3;
     */
    dryRun: boolean;
    /**
     * of records rewritten; 0: as fast as it goes
     *
     * @generated from field: uint64 bytes_per_second = 4;
     */
    bytesPerSecond: bigint;
};
/**
 * Describes the message evershard.v1.RetentionOrder.
 * Use `create(RetentionOrderSchema)` to create a new message.
 */
export declare const RetentionOrderSchema: GenMessage<RetentionOrder>;
/**
 * @generated from message evershard.v1.TruncateAggregateRequest
 */
export type TruncateAggregateRequest = Message<"evershard.v1.TruncateAggregateRequest"> & {
    /**
     * @generated from field: evershard.v1.AggregateId aggregate = 1;
     */
    aggregate?: AggregateId | undefined;
    /**
     * its events below are removed
     *
     * @generated from field: uint64 before = 2;
     */
    before: bigint;
    /**
     * also where no snapshot stands for what goes
     *
     * @generated from field: bool uncovered = 3;
     */
    uncovered: boolean;
    /**
     * @generated from field: evershard.v1.RetentionOrder order = 4;
     */
    order?: RetentionOrder | undefined;
};
/**
 * Describes the message evershard.v1.TruncateAggregateRequest.
 * Use `create(TruncateAggregateRequestSchema)` to create a new message.
 */
export declare const TruncateAggregateRequestSchema: GenMessage<TruncateAggregateRequest>;
/**
 * @generated from message evershard.v1.RemoveAggregateRequest
 */
export type RemoveAggregateRequest = Message<"evershard.v1.RemoveAggregateRequest"> & {
    /**
     * @generated from field: evershard.v1.AggregateId aggregate = 1;
     */
    aggregate?: AggregateId | undefined;
    /**
     * @generated from field: evershard.v1.RetentionOrder order = 2;
     */
    order?: RetentionOrder | undefined;
};
/**
 * Describes the message evershard.v1.RemoveAggregateRequest.
 * Use `create(RemoveAggregateRequestSchema)` to create a new message.
 */
export declare const RemoveAggregateRequestSchema: GenMessage<RemoveAggregateRequest>;
/**
 * The subject's key is destroyed: nobody reads its payloads any more, in backups neither; then they are taken out of the records.
 *
 * @generated from message evershard.v1.EraseSubjectRequest
 */
export type EraseSubjectRequest = Message<"evershard.v1.EraseSubjectRequest"> & {
    /**
     * as its events named it
     *
     * @generated from field: string subject = 1;
     */
    subject: string;
    /**
     * @generated from field: evershard.v1.RetentionOrder order = 2;
     */
    order?: RetentionOrder | undefined;
};
/**
 * Describes the message evershard.v1.EraseSubjectRequest.
 * Use `create(EraseSubjectRequestSchema)` to create a new message.
 */
export declare const EraseSubjectRequestSchema: GenMessage<EraseSubjectRequest>;
/**
 * @generated from message evershard.v1.ApplyRetentionRequest
 */
export type ApplyRetentionRequest = Message<"evershard.v1.ApplyRetentionRequest"> & {
    /**
     * @generated from field: evershard.v1.RetentionOrder order = 1;
     */
    order?: RetentionOrder | undefined;
};
/**
 * Describes the message evershard.v1.ApplyRetentionRequest.
 * Use `create(ApplyRetentionRequestSchema)` to create a new message.
 */
export declare const ApplyRetentionRequestSchema: GenMessage<ApplyRetentionRequest>;
/**
 * @generated from message evershard.v1.RetentionResponse
 */
export type RetentionResponse = Message<"evershard.v1.RetentionResponse"> & {
    /**
     * @generated from field: evershard.v1.WorkProgress progress = 1;
     */
    progress?: WorkProgress | undefined;
    /**
     * in the last message
     *
     * @generated from field: evershard.v1.RetentionResult result = 2;
     */
    result?: RetentionResult | undefined;
};
/**
 * Describes the message evershard.v1.RetentionResponse.
 * Use `create(RetentionResponseSchema)` to create a new message.
 */
export declare const RetentionResponseSchema: GenMessage<RetentionResponse>;
/**
 * @generated from message evershard.v1.RetentionResult
 */
export type RetentionResult = Message<"evershard.v1.RetentionResult"> & {
    /**
     * its name in the log; empty: nothing was to be done, or a dry run
     *
     * @generated from field: string operation = 1;
     */
    operation: string;
    /**
     * @generated from field: uint64 aggregates = 2;
     */
    aggregates: bigint;
    /**
     * @generated from field: uint64 events = 3;
     */
    events: bigint;
    /**
     * @generated from field: uint64 snapshots = 4;
     */
    snapshots: bigint;
    /**
     * @generated from field: uint64 records = 5;
     */
    records: bigint;
    /**
     * @generated from field: uint64 bytes_before = 6;
     */
    bytesBefore: bigint;
    /**
     * @generated from field: uint64 bytes_after = 7;
     */
    bytesAfter: bigint;
    /**
     * of one aggregate: its version
     *
     * @generated from field: uint64 version = 8;
     */
    version: bigint;
    /**
     * the same: its events below are gone
     *
     * @generated from field: uint64 before = 9;
     */
    before: bigint;
    /**
     * the version of the snapshot that stands for them
     *
     * @generated from field: optional uint64 covered_by = 10;
     */
    coveredBy?: bigint | undefined;
    /**
     * that snapshot's schema revision
     *
     * @generated from field: uint32 covered_revision = 11;
     */
    coveredRevision: number;
};
/**
 * Describes the message evershard.v1.RetentionResult.
 * Use `create(RetentionResultSchema)` to create a new message.
 */
export declare const RetentionResultSchema: GenMessage<RetentionResult>;
/**
 * @generated from message evershard.v1.RetentionPolicy
 */
export type RetentionPolicy = Message<"evershard.v1.RetentionPolicy"> & {
    /**
     * @generated from field: string name = 1;
     */
    name: string;
    /**
     * @generated from field: evershard.v1.RetentionPolicyKind kind = 2;
     */
    kind: RetentionPolicyKind;
    /**
     * of events, or of aggregates
     *
     * @generated from field: string type = 3;
     */
    type: string;
    /**
     * @generated from field: uint64 keep_seconds = 4;
     */
    keepSeconds: bigint;
    /**
     * of events: also where no snapshot stands for them
     *
     * @generated from field: bool uncovered = 5;
     */
    uncovered: boolean;
};
/**
 * Describes the message evershard.v1.RetentionPolicy.
 * Use `create(RetentionPolicySchema)` to create a new message.
 */
export declare const RetentionPolicySchema: GenMessage<RetentionPolicy>;
/**
 * @generated from message evershard.v1.SetRetentionPolicyRequest
 */
export type SetRetentionPolicyRequest = Message<"evershard.v1.SetRetentionPolicyRequest"> & {
    /**
     * @generated from field: evershard.v1.RetentionPolicy policy = 1;
     */
    policy?: RetentionPolicy | undefined;
    /**
     * @generated from field: evershard.v1.RetentionOrder order = 2;
     */
    order?: RetentionOrder | undefined;
};
/**
 * Describes the message evershard.v1.SetRetentionPolicyRequest.
 * Use `create(SetRetentionPolicyRequestSchema)` to create a new message.
 */
export declare const SetRetentionPolicyRequestSchema: GenMessage<SetRetentionPolicyRequest>;
/**
 * @generated from message evershard.v1.SetRetentionPolicyResponse
 */
export type SetRetentionPolicyResponse = Message<"evershard.v1.SetRetentionPolicyResponse"> & {};
/**
 * Describes the message evershard.v1.SetRetentionPolicyResponse.
 * Use `create(SetRetentionPolicyResponseSchema)` to create a new message.
 */
export declare const SetRetentionPolicyResponseSchema: GenMessage<SetRetentionPolicyResponse>;
/**
 * @generated from message evershard.v1.DropRetentionPolicyRequest
 */
export type DropRetentionPolicyRequest = Message<"evershard.v1.DropRetentionPolicyRequest"> & {
    /**
     * @generated from field: string name = 1;
     */
    name: string;
    /**
     * @generated from field: evershard.v1.RetentionOrder order = 2;
     */
    order?: RetentionOrder | undefined;
};
/**
 * Describes the message evershard.v1.DropRetentionPolicyRequest.
 * Use `create(DropRetentionPolicyRequestSchema)` to create a new message.
 */
export declare const DropRetentionPolicyRequestSchema: GenMessage<DropRetentionPolicyRequest>;
/**
 * @generated from message evershard.v1.DropRetentionPolicyResponse
 */
export type DropRetentionPolicyResponse = Message<"evershard.v1.DropRetentionPolicyResponse"> & {};
/**
 * Describes the message evershard.v1.DropRetentionPolicyResponse.
 * Use `create(DropRetentionPolicyResponseSchema)` to create a new message.
 */
export declare const DropRetentionPolicyResponseSchema: GenMessage<DropRetentionPolicyResponse>;
/**
 * @generated from message evershard.v1.ListRetentionPoliciesRequest
 */
export type ListRetentionPoliciesRequest = Message<"evershard.v1.ListRetentionPoliciesRequest"> & {
    /**
     * @generated from field: evershard.v1.AtLeast at_least = 1;
     */
    atLeast?: AtLeast | undefined;
};
/**
 * Describes the message evershard.v1.ListRetentionPoliciesRequest.
 * Use `create(ListRetentionPoliciesRequestSchema)` to create a new message.
 */
export declare const ListRetentionPoliciesRequestSchema: GenMessage<ListRetentionPoliciesRequest>;
/**
 * @generated from message evershard.v1.ListRetentionPoliciesResponse
 */
export type ListRetentionPoliciesResponse = Message<"evershard.v1.ListRetentionPoliciesResponse"> & {
    /**
     * @generated from field: repeated evershard.v1.RetentionPolicy policies = 1;
     */
    policies: RetentionPolicy[];
};
/**
 * Describes the message evershard.v1.ListRetentionPoliciesResponse.
 * Use `create(ListRetentionPoliciesResponseSchema)` to create a new message.
 */
export declare const ListRetentionPoliciesResponseSchema: GenMessage<ListRetentionPoliciesResponse>;
/**
 * @generated from message evershard.v1.ReadRetentionLogRequest
 */
export type ReadRetentionLogRequest = Message<"evershard.v1.ReadRetentionLogRequest"> & {
    /**
     * a number in the log; exclusive
     *
     * @generated from field: uint64 after = 1;
     */
    after: bigint;
    /**
     * 0: 1,000; at most 1,000
     *
     * @generated from field: uint32 limit = 2;
     */
    limit: number;
    /**
     * @generated from field: evershard.v1.AtLeast at_least = 3;
     */
    atLeast?: AtLeast | undefined;
};
/**
 * Describes the message evershard.v1.ReadRetentionLogRequest.
 * Use `create(ReadRetentionLogRequestSchema)` to create a new message.
 */
export declare const ReadRetentionLogRequestSchema: GenMessage<ReadRetentionLogRequest>;
/**
 * @generated from message evershard.v1.ReadRetentionLogResponse
 */
export type ReadRetentionLogResponse = Message<"evershard.v1.ReadRetentionLogResponse"> & {
    /**
     * @generated from field: repeated evershard.v1.RetentionEntry entries = 1;
     */
    entries: RetentionEntry[];
    /**
     * the next page's `after`; absent: these are all
     *
     * @generated from field: optional uint64 next = 2;
     */
    next?: bigint | undefined;
};
/**
 * Describes the message evershard.v1.ReadRetentionLogResponse.
 * Use `create(ReadRetentionLogResponseSchema)` to create a new message.
 */
export declare const ReadRetentionLogResponseSchema: GenMessage<ReadRetentionLogResponse>;
/**
 * @generated from message evershard.v1.RetentionEntry
 */
export type RetentionEntry = Message<"evershard.v1.RetentionEntry"> & {
    /**
     * @generated from field: uint64 position = 1;
     */
    position: bigint;
    /**
     * in the log, from 1
     *
     * @generated from field: uint64 number = 2;
     */
    number: bigint;
    /**
     * microseconds since 1970
     *
     * @generated from field: int64 at_us = 3;
     */
    atUs: bigint;
    /**
     * the event's type: $TruncationOrdered, $RemovalOrdered, $RemovalDone, ...
     *
     * @generated from field: string what = 4;
     */
    what: string;
    /**
     * @generated from field: bytes json = 5;
     */
    json: Uint8Array;
};
/**
 * Describes the message evershard.v1.RetentionEntry.
 * Use `create(RetentionEntrySchema)` to create a new message.
 */
export declare const RetentionEntrySchema: GenMessage<RetentionEntry>;
/**
 * @generated from enum evershard.v1.RetentionPolicyKind
 */
export declare enum RetentionPolicyKind {
    /**
     * @generated from enum value: RETENTION_POLICY_KIND_UNSPECIFIED = 0;
     */
    UNSPECIFIED = 0,
    /**
     * events of a type, one by one
     *
     * @generated from enum value: RETENTION_POLICY_KIND_EVENTS = 1;
     */
    EVENTS = 1,
    /**
     * of aggregates of a type: events that a snapshot stands for
     *
     * @generated from enum value: RETENTION_POLICY_KIND_TRUNCATE = 2;
     */
    TRUNCATE = 2,
    /**
     * aggregates of a type, as a whole
     *
     * @generated from enum value: RETENTION_POLICY_KIND_REMOVE = 3;
     */
    REMOVE = 3
}
/**
 * Describes the enum evershard.v1.RetentionPolicyKind.
 */
export declare const RetentionPolicyKindSchema: GenEnum<RetentionPolicyKind>;
/**
 * @generated from service evershard.v1.Retention
 */
export declare const Retention: GenService<{
    /**
     * Each says how far it is, then what was done; ending the call stops it at the next safe point. What was ordered by then is removed to
     * every reader, and the rest of the work is done by the next call of any of these. The same again does nothing. Each needs the scope admin.
     *
     * @generated from rpc evershard.v1.Retention.TruncateAggregate
     */
    truncateAggregate: {
        methodKind: "server_streaming";
        input: typeof TruncateAggregateRequestSchema;
        output: typeof RetentionResponseSchema;
    };
    /**
     * @generated from rpc evershard.v1.Retention.RemoveAggregate
     */
    removeAggregate: {
        methodKind: "server_streaming";
        input: typeof RemoveAggregateRequestSchema;
        output: typeof RetentionResponseSchema;
    };
    /**
     * @generated from rpc evershard.v1.Retention.EraseSubject
     */
    eraseSubject: {
        methodKind: "server_streaming";
        input: typeof EraseSubjectRequestSchema;
        output: typeof RetentionResponseSchema;
    };
    /**
     * @generated from rpc evershard.v1.Retention.ApplyRetention
     */
    applyRetention: {
        methodKind: "server_streaming";
        input: typeof ApplyRetentionRequestSchema;
        output: typeof RetentionResponseSchema;
    };
    /**
     * Need the scope admin.
     *
     * @generated from rpc evershard.v1.Retention.SetRetentionPolicy
     */
    setRetentionPolicy: {
        methodKind: "unary";
        input: typeof SetRetentionPolicyRequestSchema;
        output: typeof SetRetentionPolicyResponseSchema;
    };
    /**
     * @generated from rpc evershard.v1.Retention.DropRetentionPolicy
     */
    dropRetentionPolicy: {
        methodKind: "unary";
        input: typeof DropRetentionPolicyRequestSchema;
        output: typeof DropRetentionPolicyResponseSchema;
    };
    /**
     * Need the scope read.
     *
     * @generated from rpc evershard.v1.Retention.ListRetentionPolicies
     */
    listRetentionPolicies: {
        methodKind: "unary";
        input: typeof ListRetentionPoliciesRequestSchema;
        output: typeof ListRetentionPoliciesResponseSchema;
    };
    /**
     * @generated from rpc evershard.v1.Retention.ReadRetentionLog
     */
    readRetentionLog: {
        methodKind: "unary";
        input: typeof ReadRetentionLogRequestSchema;
        output: typeof ReadRetentionLogResponseSchema;
    };
}>;
