import type { GenEnum, GenFile, GenMessage, GenService } from "@bufbuild/protobuf/codegenv2";
import type { AggregateId, RecordedEvent } from "./event_pb.js";
import type { Error, Query } from "./store_pb.js";
import type { Message } from "@bufbuild/protobuf";
/**
 * Describes the file evershard/v1/groups.proto.
 */
export declare const file_evershard_v1_groups: GenFile;
/**
 * What is absent stays as it is; of a new group: the default, docs/groups.md.
 *
 * @generated from message evershard.v1.GroupSettings
 */
export type GroupSettings = Message<"evershard.v1.GroupSettings"> & {
    /**
     * @generated from field: optional evershard.v1.GroupOrder order = 1;
     */
    order?: GroupOrder | undefined;
    /**
     * @generated from field: optional evershard.v1.AfterParked after_parked = 2;
     */
    afterParked?: AfterParked | undefined;
    /**
     * @generated from field: optional uint32 attempts_max = 3;
     */
    attemptsMax?: number | undefined;
    /**
     * @generated from field: optional uint64 retry_first_ms = 4;
     */
    retryFirstMs?: bigint | undefined;
    /**
     * @generated from field: optional uint32 retry_factor = 5;
     */
    retryFactor?: number | undefined;
    /**
     * @generated from field: optional uint64 retry_most_ms = 6;
     */
    retryMostMs?: bigint | undefined;
    /**
     * @generated from field: optional uint32 retry_jitter_percent = 7;
     */
    retryJitterPercent?: number | undefined;
    /**
     * @generated from field: optional uint64 lease_ms = 8;
     */
    leaseMs?: bigint | undefined;
    /**
     * @generated from field: optional uint32 window = 9;
     */
    window?: number | undefined;
    /**
     * @generated from field: optional uint32 parked_max = 10;
     */
    parkedMax?: number | undefined;
};
/**
 * Describes the message evershard.v1.GroupSettings.
 * Use `create(GroupSettingsSchema)` to create a new message.
 */
export declare const GroupSettingsSchema: GenMessage<GroupSettings>;
/**
 * @generated from message evershard.v1.GroupMember
 */
export type GroupMember = Message<"evershard.v1.GroupMember"> & {
    /**
     * @generated from field: string name = 1;
     */
    name: string;
    /**
     * another one each time it joins
     *
     * @generated from field: uint64 worker = 2;
     */
    worker: bigint;
    /**
     * @generated from field: uint32 credit = 3;
     */
    credit: number;
    /**
     * @generated from field: uint64 in_flight = 4;
     */
    inFlight: bigint;
    /**
     * unsettled events of its aggregates: its lag
     *
     * @generated from field: uint64 share = 5;
     */
    share: bigint;
    /**
     * position; 0: none
     *
     * @generated from field: uint64 oldest = 6;
     */
    oldest: bigint;
    /**
     * @generated from field: uint64 acknowledged = 7;
     */
    acknowledged: bigint;
};
/**
 * Describes the message evershard.v1.GroupMember.
 * Use `create(GroupMemberSchema)` to create a new message.
 */
export declare const GroupMemberSchema: GenMessage<GroupMember>;
/**
 * @generated from message evershard.v1.GroupInfo
 */
export type GroupInfo = Message<"evershard.v1.GroupInfo"> & {
    /**
     * @generated from field: string name = 1;
     */
    name: string;
    /**
     * @generated from field: evershard.v1.Query query = 2;
     */
    query?: Query | undefined;
    /**
     * it began behind
     *
     * @generated from field: uint64 after = 3;
     */
    after: bigint;
    /**
     * @generated from field: evershard.v1.GroupSettings settings = 4;
     */
    settings?: GroupSettings | undefined;
    /**
     * everything up to here is settled or parked
     *
     * @generated from field: uint64 position = 5;
     */
    position: bigint;
    /**
     * @generated from field: uint64 read_to = 6;
     */
    readTo: bigint;
    /**
     * @generated from field: uint64 head = 7;
     */
    head: bigint;
    /**
     * @generated from field: uint64 unsettled = 8;
     */
    unsettled: bigint;
    /**
     * @generated from field: uint64 in_flight = 9;
     */
    inFlight: bigint;
    /**
     * @generated from field: uint64 waiting = 10;
     */
    waiting: bigint;
    /**
     * @generated from field: uint64 parked = 11;
     */
    parked: bigint;
    /**
     * @generated from field: bool parked_full = 12;
     */
    parkedFull: boolean;
    /**
     * @generated from field: uint64 acknowledged = 13;
     */
    acknowledged: bigint;
    /**
     * @generated from field: uint64 rejected = 14;
     */
    rejected: bigint;
    /**
     * @generated from field: uint64 expired = 15;
     */
    expired: bigint;
    /**
     * @generated from field: uint64 parked_ever = 16;
     */
    parkedEver: bigint;
    /**
     * @generated from field: uint64 replayed = 17;
     */
    replayed: bigint;
    /**
     * @generated from field: uint64 discarded = 18;
     */
    discarded: bigint;
    /**
     * @generated from field: repeated evershard.v1.GroupMember workers = 19;
     */
    workers: GroupMember[];
    /**
     * @generated from field: string trouble = 20;
     */
    trouble: string;
};
/**
 * Describes the message evershard.v1.GroupInfo.
 * Use `create(GroupInfoSchema)` to create a new message.
 */
export declare const GroupInfoSchema: GenMessage<GroupInfo>;
/**
 * @generated from message evershard.v1.CreateGroupRequest
 */
export type CreateGroupRequest = Message<"evershard.v1.CreateGroupRequest"> & {
    /**
     * @generated from field: string name = 1;
     */
    name: string;
    /**
     * absent: everything
     *
     * @generated from field: evershard.v1.Query query = 2;
     */
    query?: Query | undefined;
    /**
     * begins behind; absent: with the first event
     *
     * @generated from field: optional uint64 after = 3;
     */
    after?: bigint | undefined;
    /**
     * behind what is there now; `after` is absent
     *
     * @generated from field: bool from_now = 4;
     */
    fromNow: boolean;
    /**
     * @generated from field: evershard.v1.GroupSettings settings = 5;
     */
    settings?: GroupSettings | undefined;
};
/**
 * Describes the message evershard.v1.CreateGroupRequest.
 * Use `create(CreateGroupRequestSchema)` to create a new message.
 */
export declare const CreateGroupRequestSchema: GenMessage<CreateGroupRequest>;
/**
 * @generated from message evershard.v1.ChangeGroupRequest
 */
export type ChangeGroupRequest = Message<"evershard.v1.ChangeGroupRequest"> & {
    /**
     * @generated from field: string name = 1;
     */
    name: string;
    /**
     * @generated from field: evershard.v1.GroupSettings settings = 2;
     */
    settings?: GroupSettings | undefined;
};
/**
 * Describes the message evershard.v1.ChangeGroupRequest.
 * Use `create(ChangeGroupRequestSchema)` to create a new message.
 */
export declare const ChangeGroupRequestSchema: GenMessage<ChangeGroupRequest>;
/**
 * @generated from message evershard.v1.ResetGroupRequest
 */
export type ResetGroupRequest = Message<"evershard.v1.ResetGroupRequest"> & {
    /**
     * @generated from field: string name = 1;
     */
    name: string;
    /**
     * absent: with the first event
     *
     * @generated from field: optional uint64 after = 2;
     */
    after?: bigint | undefined;
    /**
     * @generated from field: bool from_now = 3;
     */
    fromNow: boolean;
};
/**
 * Describes the message evershard.v1.ResetGroupRequest.
 * Use `create(ResetGroupRequestSchema)` to create a new message.
 */
export declare const ResetGroupRequestSchema: GenMessage<ResetGroupRequest>;
/**
 * @generated from message evershard.v1.DropGroupRequest
 */
export type DropGroupRequest = Message<"evershard.v1.DropGroupRequest"> & {
    /**
     * @generated from field: string name = 1;
     */
    name: string;
};
/**
 * Describes the message evershard.v1.DropGroupRequest.
 * Use `create(DropGroupRequestSchema)` to create a new message.
 */
export declare const DropGroupRequestSchema: GenMessage<DropGroupRequest>;
/**
 * @generated from message evershard.v1.DropGroupResponse
 */
export type DropGroupResponse = Message<"evershard.v1.DropGroupResponse"> & {};
/**
 * Describes the message evershard.v1.DropGroupResponse.
 * Use `create(DropGroupResponseSchema)` to create a new message.
 */
export declare const DropGroupResponseSchema: GenMessage<DropGroupResponse>;
/**
 * @generated from message evershard.v1.ListGroupsRequest
 */
export type ListGroupsRequest = Message<"evershard.v1.ListGroupsRequest"> & {};
/**
 * Describes the message evershard.v1.ListGroupsRequest.
 * Use `create(ListGroupsRequestSchema)` to create a new message.
 */
export declare const ListGroupsRequestSchema: GenMessage<ListGroupsRequest>;
/**
 * @generated from message evershard.v1.ListGroupsResponse
 */
export type ListGroupsResponse = Message<"evershard.v1.ListGroupsResponse"> & {
    /**
     * in order of name
     *
     * @generated from field: repeated evershard.v1.GroupInfo groups = 1;
     */
    groups: GroupInfo[];
};
/**
 * Describes the message evershard.v1.ListGroupsResponse.
 * Use `create(ListGroupsResponseSchema)` to create a new message.
 */
export declare const ListGroupsResponseSchema: GenMessage<ListGroupsResponse>;
/**
 * @generated from message evershard.v1.DescribeGroupRequest
 */
export type DescribeGroupRequest = Message<"evershard.v1.DescribeGroupRequest"> & {
    /**
     * @generated from field: string name = 1;
     */
    name: string;
};
/**
 * Describes the message evershard.v1.DescribeGroupRequest.
 * Use `create(DescribeGroupRequestSchema)` to create a new message.
 */
export declare const DescribeGroupRequestSchema: GenMessage<DescribeGroupRequest>;
/**
 * @generated from message evershard.v1.ParkedEvent
 */
export type ParkedEvent = Message<"evershard.v1.ParkedEvent"> & {
    /**
     * @generated from field: uint64 position = 1;
     */
    position: bigint;
    /**
     * @generated from field: uint32 attempts = 2;
     */
    attempts: number;
    /**
     * of an earlier parked one of its aggregate
     *
     * @generated from field: bool behind = 3;
     */
    behind: boolean;
    /**
     * @generated from field: string reason = 4;
     */
    reason: string;
    /**
     * microseconds since 1970
     *
     * @generated from field: int64 parked_at = 5;
     */
    parkedAt: bigint;
    /**
     * @generated from field: evershard.v1.AggregateId aggregate = 6;
     */
    aggregate?: AggregateId | undefined;
    /**
     * empty: the event is not there any more
     *
     * @generated from field: string type = 7;
     */
    type: string;
};
/**
 * Describes the message evershard.v1.ParkedEvent.
 * Use `create(ParkedEventSchema)` to create a new message.
 */
export declare const ParkedEventSchema: GenMessage<ParkedEvent>;
/**
 * @generated from message evershard.v1.ListParkedRequest
 */
export type ListParkedRequest = Message<"evershard.v1.ListParkedRequest"> & {
    /**
     * @generated from field: string name = 1;
     */
    name: string;
    /**
     * exclusive
     *
     * @generated from field: uint64 after = 2;
     */
    after: bigint;
    /**
     * absent: 100; at most 1,000
     *
     * @generated from field: optional uint32 limit = 3;
     */
    limit?: number | undefined;
};
/**
 * Describes the message evershard.v1.ListParkedRequest.
 * Use `create(ListParkedRequestSchema)` to create a new message.
 */
export declare const ListParkedRequestSchema: GenMessage<ListParkedRequest>;
/**
 * @generated from message evershard.v1.ListParkedResponse
 */
export type ListParkedResponse = Message<"evershard.v1.ListParkedResponse"> & {
    /**
     * in order of position
     *
     * @generated from field: repeated evershard.v1.ParkedEvent parked = 1;
     */
    parked: ParkedEvent[];
    /**
     * the next page's `after`; absent: these are all
     *
     * @generated from field: optional uint64 next = 2;
     */
    next?: bigint | undefined;
};
/**
 * Describes the message evershard.v1.ListParkedResponse.
 * Use `create(ListParkedResponseSchema)` to create a new message.
 */
export declare const ListParkedResponseSchema: GenMessage<ListParkedResponse>;
/**
 * @generated from message evershard.v1.ReplayParkedRequest
 */
export type ReplayParkedRequest = Message<"evershard.v1.ReplayParkedRequest"> & {
    /**
     * @generated from field: string name = 1;
     */
    name: string;
    /**
     * absent: all
     *
     * @generated from field: optional uint64 position = 2;
     */
    position?: bigint | undefined;
};
/**
 * Describes the message evershard.v1.ReplayParkedRequest.
 * Use `create(ReplayParkedRequestSchema)` to create a new message.
 */
export declare const ReplayParkedRequestSchema: GenMessage<ReplayParkedRequest>;
/**
 * @generated from message evershard.v1.ReplayParkedResponse
 */
export type ReplayParkedResponse = Message<"evershard.v1.ReplayParkedResponse"> & {
    /**
     * @generated from field: uint64 events = 1;
     */
    events: bigint;
};
/**
 * Describes the message evershard.v1.ReplayParkedResponse.
 * Use `create(ReplayParkedResponseSchema)` to create a new message.
 */
export declare const ReplayParkedResponseSchema: GenMessage<ReplayParkedResponse>;
/**
 * @generated from message evershard.v1.DiscardParkedRequest
 */
export type DiscardParkedRequest = Message<"evershard.v1.DiscardParkedRequest"> & {
    /**
     * @generated from field: string name = 1;
     */
    name: string;
    /**
     * absent: all
     *
     * @generated from field: optional uint64 position = 2;
     */
    position?: bigint | undefined;
};
/**
 * Describes the message evershard.v1.DiscardParkedRequest.
 * Use `create(DiscardParkedRequestSchema)` to create a new message.
 */
export declare const DiscardParkedRequestSchema: GenMessage<DiscardParkedRequest>;
/**
 * @generated from message evershard.v1.DiscardParkedResponse
 */
export type DiscardParkedResponse = Message<"evershard.v1.DiscardParkedResponse"> & {
    /**
     * @generated from field: uint64 events = 1;
     */
    events: bigint;
};
/**
 * Describes the message evershard.v1.DiscardParkedResponse.
 * Use `create(DiscardParkedResponseSchema)` to create a new message.
 */
export declare const DiscardParkedResponseSchema: GenMessage<DiscardParkedResponse>;
/**
 * @generated from message evershard.v1.WorkRequest
 */
export type WorkRequest = Message<"evershard.v1.WorkRequest"> & {
    /**
     * the first message, and no other
     *
     * @generated from field: evershard.v1.WorkRequest.Join join = 1;
     */
    join?: WorkRequest_Join | undefined;
    /**
     * Answered together, when they are durable, under `batch`, which the worker numbers as it likes.
     *
     * @generated from field: repeated evershard.v1.WorkRequest.Settlement settlements = 2;
     */
    settlements: WorkRequest_Settlement[];
    /**
     * @generated from field: uint64 batch = 3;
     */
    batch: bigint;
    /**
     * It is there: any message says so. The leases of these begin anew.
     *
     * @generated from field: repeated uint64 renew = 4;
     */
    renew: bigint[];
    /**
     * it goes; what it has is given to others, no attempt counted
     *
     * @generated from field: bool leave = 5;
     */
    leave: boolean;
};
/**
 * Describes the message evershard.v1.WorkRequest.
 * Use `create(WorkRequestSchema)` to create a new message.
 */
export declare const WorkRequestSchema: GenMessage<WorkRequest>;
/**
 * @generated from message evershard.v1.WorkRequest.Join
 */
export type WorkRequest_Join = Message<"evershard.v1.WorkRequest.Join"> & {
    /**
     * @generated from field: string group = 1;
     */
    group: string;
    /**
     * as it is listed; empty: unnamed
     *
     * @generated from field: string worker = 2;
     */
    worker: string;
    /**
     * events that it may have at a time; absent: 16
     *
     * @generated from field: optional uint32 credit = 3;
     */
    credit?: number | undefined;
};
/**
 * Describes the message evershard.v1.WorkRequest.Join.
 * Use `create(WorkRequest_JoinSchema)` to create a new message.
 */
export declare const WorkRequest_JoinSchema: GenMessage<WorkRequest_Join>;
/**
 * @generated from message evershard.v1.WorkRequest.Settlement
 */
export type WorkRequest_Settlement = Message<"evershard.v1.WorkRequest.Settlement"> & {
    /**
     * @generated from field: evershard.v1.WorkRequest.Settlement.Kind kind = 1;
     */
    kind: WorkRequest_Settlement_Kind;
    /**
     * @generated from field: uint64 position = 2;
     */
    position: bigint;
    /**
     * @generated from field: uint64 delivery = 3;
     */
    delivery: bigint;
    /**
     * @generated from field: string reason = 4;
     */
    reason: string;
    /**
     * of a rejection: the wait; absent: as set
     *
     * @generated from field: optional uint64 after_ms = 5;
     */
    afterMs?: bigint | undefined;
};
/**
 * Describes the message evershard.v1.WorkRequest.Settlement.
 * Use `create(WorkRequest_SettlementSchema)` to create a new message.
 */
export declare const WorkRequest_SettlementSchema: GenMessage<WorkRequest_Settlement>;
/**
 * @generated from enum evershard.v1.WorkRequest.Settlement.Kind
 */
export declare enum WorkRequest_Settlement_Kind {
    /**
     * @generated from enum value: KIND_ACKNOWLEDGE = 0;
     */
    ACKNOWLEDGE = 0,
    /**
     * @generated from enum value: KIND_REJECT = 1;
     */
    REJECT = 1,
    /**
     * @generated from enum value: KIND_PARK = 2;
     */
    PARK = 2,
    /**
     * settles nothing: its handler begins. Only where Joined.takes_begun
     *
     * @generated from enum value: KIND_BEGIN = 3;
     */
    BEGIN = 3
}
/**
 * Describes the enum evershard.v1.WorkRequest.Settlement.Kind.
 */
export declare const WorkRequest_Settlement_KindSchema: GenEnum<WorkRequest_Settlement_Kind>;
/**
 * @generated from message evershard.v1.WorkResponse
 */
export type WorkResponse = Message<"evershard.v1.WorkResponse"> & {
    /**
     * the first message
     *
     * @generated from field: evershard.v1.WorkResponse.Joined joined = 1;
     */
    joined?: WorkResponse_Joined | undefined;
    /**
     * @generated from field: repeated evershard.v1.WorkResponse.Delivery deliveries = 2;
     */
    deliveries: WorkResponse_Delivery[];
    /**
     * @generated from field: uint64 batch = 3;
     */
    batch: bigint;
    /**
     * of that batch, in its order
     *
     * @generated from field: repeated evershard.v1.WorkResponse.Outcome outcomes = 4;
     */
    outcomes: WorkResponse_Outcome[];
    /**
     * positions of a `renew` that are no longer its own
     *
     * @generated from field: repeated uint64 lost = 5;
     */
    lost: bigint[];
};
/**
 * Describes the message evershard.v1.WorkResponse.
 * Use `create(WorkResponseSchema)` to create a new message.
 */
export declare const WorkResponseSchema: GenMessage<WorkResponse>;
/**
 * @generated from message evershard.v1.WorkResponse.Joined
 */
export type WorkResponse_Joined = Message<"evershard.v1.WorkResponse.Joined"> & {
    /**
     * @generated from field: uint64 worker = 1;
     */
    worker: bigint;
    /**
     * something must be heard as often
     *
     * @generated from field: uint64 lease_ms = 2;
     */
    leaseMs: bigint;
    /**
     * KIND_BEGIN is understood
     *
     * @generated from field: bool takes_begun = 3;
     */
    takesBegun: boolean;
};
/**
 * Describes the message evershard.v1.WorkResponse.Joined.
 * Use `create(WorkResponse_JoinedSchema)` to create a new message.
 */
export declare const WorkResponse_JoinedSchema: GenMessage<WorkResponse_Joined>;
/**
 * @generated from message evershard.v1.WorkResponse.Delivery
 */
export type WorkResponse_Delivery = Message<"evershard.v1.WorkResponse.Delivery"> & {
    /**
     * @generated from field: evershard.v1.RecordedEvent event = 1;
     */
    event?: RecordedEvent | undefined;
    /**
     * @generated from field: uint64 delivery = 2;
     */
    delivery: bigint;
    /**
     * @generated from field: uint32 attempt = 3;
     */
    attempt: number;
};
/**
 * Describes the message evershard.v1.WorkResponse.Delivery.
 * Use `create(WorkResponse_DeliverySchema)` to create a new message.
 */
export declare const WorkResponse_DeliverySchema: GenMessage<WorkResponse_Delivery>;
/**
 * @generated from message evershard.v1.WorkResponse.Outcome
 */
export type WorkResponse_Outcome = Message<"evershard.v1.WorkResponse.Outcome"> & {
    /**
     * absent: done
     *
     * @generated from field: evershard.v1.Error refused = 1;
     */
    refused?: Error | undefined;
};
/**
 * Describes the message evershard.v1.WorkResponse.Outcome.
 * Use `create(WorkResponse_OutcomeSchema)` to create a new message.
 */
export declare const WorkResponse_OutcomeSchema: GenMessage<WorkResponse_Outcome>;
/**
 * @generated from enum evershard.v1.GroupOrder
 */
export declare enum GroupOrder {
    /**
     * one aggregate's events in order, one at a time
     *
     * @generated from enum value: GROUP_ORDER_AGGREGATE = 0;
     */
    AGGREGATE = 0,
    /**
     * all in order, one at a time, to one worker
     *
     * @generated from enum value: GROUP_ORDER_GLOBAL = 1;
     */
    GLOBAL = 1
}
/**
 * Describes the enum evershard.v1.GroupOrder.
 */
export declare const GroupOrderSchema: GenEnum<GroupOrder>;
/**
 * @generated from enum evershard.v1.AfterParked
 */
export declare enum AfterParked {
    /**
     * @generated from enum value: AFTER_PARKED_GO_ON = 0;
     */
    GO_ON = 0,
    /**
     * later events of the aggregate are parked behind it
     *
     * @generated from enum value: AFTER_PARKED_BLOCK = 1;
     */
    BLOCK = 1
}
/**
 * Describes the enum evershard.v1.AfterParked.
 */
export declare const AfterParkedSchema: GenEnum<AfterParked>;
/**
 * @generated from service evershard.v1.Groups
 */
export declare const Groups: GenService<{
    /**
     * @generated from rpc evershard.v1.Groups.CreateGroup
     */
    createGroup: {
        methodKind: "unary";
        input: typeof CreateGroupRequestSchema;
        output: typeof GroupInfoSchema;
    };
    /**
     * Other settings; not the order.
     *
     * @generated from rpc evershard.v1.Groups.ChangeGroup
     */
    changeGroup: {
        methodKind: "unary";
        input: typeof ChangeGroupRequestSchema;
        output: typeof GroupInfoSchema;
    };
    /**
     * Begins anew: what was settled, waiting or parked is forgotten.
     *
     * @generated from rpc evershard.v1.Groups.ResetGroup
     */
    resetGroup: {
        methodKind: "unary";
        input: typeof ResetGroupRequestSchema;
        output: typeof GroupInfoSchema;
    };
    /**
     * @generated from rpc evershard.v1.Groups.DropGroup
     */
    dropGroup: {
        methodKind: "unary";
        input: typeof DropGroupRequestSchema;
        output: typeof DropGroupResponseSchema;
    };
    /**
     * @generated from rpc evershard.v1.Groups.ListGroups
     */
    listGroups: {
        methodKind: "unary";
        input: typeof ListGroupsRequestSchema;
        output: typeof ListGroupsResponseSchema;
    };
    /**
     * @generated from rpc evershard.v1.Groups.DescribeGroup
     */
    describeGroup: {
        methodKind: "unary";
        input: typeof DescribeGroupRequestSchema;
        output: typeof GroupInfoSchema;
    };
    /**
     * @generated from rpc evershard.v1.Groups.ListParked
     */
    listParked: {
        methodKind: "unary";
        input: typeof ListParkedRequestSchema;
        output: typeof ListParkedResponseSchema;
    };
    /**
     * @generated from rpc evershard.v1.Groups.ReplayParked
     */
    replayParked: {
        methodKind: "unary";
        input: typeof ReplayParkedRequestSchema;
        output: typeof ReplayParkedResponseSchema;
    };
    /**
     * @generated from rpc evershard.v1.Groups.DiscardParked
     */
    discardParked: {
        methodKind: "unary";
        input: typeof DiscardParkedRequestSchema;
        output: typeof DiscardParkedResponseSchema;
    };
    /**
     * One stay of a worker. It says `join` first; is given events as far as its credit goes; settles each. When the stream breaks, what was
     * not settled is given to others at once; when it said `leave` before, no attempt is counted.
     *
     * @generated from rpc evershard.v1.Groups.Work
     */
    work: {
        methodKind: "bidi_streaming";
        input: typeof WorkRequestSchema;
        output: typeof WorkResponseSchema;
    };
}>;
