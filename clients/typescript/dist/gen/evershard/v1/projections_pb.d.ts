import type { GenEnum, GenFile, GenMessage, GenService } from "@bufbuild/protobuf/codegenv2";
import type { RecordedEvent } from "./event_pb.js";
import type { Error, Query } from "./store_pb.js";
import type { AtLeast } from "./service_pb.js";
import type { Message } from "@bufbuild/protobuf";
/**
 * Describes the file evershard/v1/projections.proto.
 */
export declare const file_evershard_v1_projections: GenFile;
/**
 * @generated from message evershard.v1.CreateIndexRequest
 */
export type CreateIndexRequest = Message<"evershard.v1.CreateIndexRequest"> & {
    /**
     * required
     *
     * @generated from field: evershard.v1.Query query = 1;
     */
    query?: Query | undefined;
};
/**
 * Describes the message evershard.v1.CreateIndexRequest.
 * Use `create(CreateIndexRequestSchema)` to create a new message.
 */
export declare const CreateIndexRequestSchema: GenMessage<CreateIndexRequest>;
/**
 * @generated from message evershard.v1.CreateValueIndexRequest
 */
export type CreateValueIndexRequest = Message<"evershard.v1.CreateValueIndexRequest"> & {
    /**
     * @generated from field: string name = 1;
     */
    name: string;
    /**
     * of events
     *
     * @generated from field: repeated string types = 2;
     */
    types: string[];
    /**
     * payload (also when empty), metadata
     *
     * @generated from field: string source = 3;
     */
    source: string;
    /**
     * $.customer.city, $.items[0].sku
     *
     * @generated from field: string path = 4;
     */
    path: string;
    /**
     * text (also when empty), integer, number, boolean, time
     *
     * @generated from field: string value = 5;
     */
    value: string;
};
/**
 * Describes the message evershard.v1.CreateValueIndexRequest.
 * Use `create(CreateValueIndexRequestSchema)` to create a new message.
 */
export declare const CreateValueIndexRequestSchema: GenMessage<CreateValueIndexRequest>;
/**
 * @generated from message evershard.v1.CreateProjectionRequest
 */
export type CreateProjectionRequest = Message<"evershard.v1.CreateProjectionRequest"> & {
    /**
     * @generated from field: string name = 1;
     */
    name: string;
    /**
     * @generated from field: string kind = 2;
     */
    kind: string;
    /**
     * JSON
     *
     * @generated from field: string spec = 3;
     */
    spec: string;
};
/**
 * Describes the message evershard.v1.CreateProjectionRequest.
 * Use `create(CreateProjectionRequestSchema)` to create a new message.
 */
export declare const CreateProjectionRequestSchema: GenMessage<CreateProjectionRequest>;
/**
 * @generated from message evershard.v1.ChangeProjectionRequest
 */
export type ChangeProjectionRequest = Message<"evershard.v1.ChangeProjectionRequest"> & {
    /**
     * @generated from field: string name = 1;
     */
    name: string;
    /**
     * JSON
     *
     * @generated from field: string spec = 2;
     */
    spec: string;
    /**
     * ProjectionInfo.last; absent: whatever it is
     *
     * @generated from field: optional uint64 expected = 3;
     */
    expected?: bigint | undefined;
};
/**
 * Describes the message evershard.v1.ChangeProjectionRequest.
 * Use `create(ChangeProjectionRequestSchema)` to create a new message.
 */
export declare const ChangeProjectionRequestSchema: GenMessage<ChangeProjectionRequest>;
/**
 * @generated from message evershard.v1.AskProjectionRequest
 */
export type AskProjectionRequest = Message<"evershard.v1.AskProjectionRequest"> & {
    /**
     * @generated from field: string name = 1;
     */
    name: string;
    /**
     * @generated from field: evershard.v1.AskProjectionRequest.Ask ask = 2;
     */
    ask: AskProjectionRequest_Ask;
};
/**
 * Describes the message evershard.v1.AskProjectionRequest.
 * Use `create(AskProjectionRequestSchema)` to create a new message.
 */
export declare const AskProjectionRequestSchema: GenMessage<AskProjectionRequest>;
/**
 * @generated from enum evershard.v1.AskProjectionRequest.Ask
 */
export declare enum AskProjectionRequest_Ask {
    /**
     * @generated from enum value: ASK_UNSPECIFIED = 0;
     */
    UNSPECIFIED = 0,
    /**
     * @generated from enum value: ASK_PAUSE = 1;
     */
    PAUSE = 1,
    /**
     * also one that failed: it tries the event again
     *
     * @generated from enum value: ASK_RESUME = 2;
     */
    RESUME = 2,
    /**
     * its rows are cleared at once and built anew
     *
     * @generated from enum value: ASK_RESET = 3;
     */
    RESET = 3,
    /**
     * built anew beside those that are read, then swapped
     *
     * @generated from enum value: ASK_REBUILD = 4;
     */
    REBUILD = 4,
    /**
     * @generated from enum value: ASK_DROP = 5;
     */
    DROP = 5
}
/**
 * Describes the enum evershard.v1.AskProjectionRequest.Ask.
 */
export declare const AskProjectionRequest_AskSchema: GenEnum<AskProjectionRequest_Ask>;
/**
 * @generated from message evershard.v1.AskProjectionResponse
 */
export type AskProjectionResponse = Message<"evershard.v1.AskProjectionResponse"> & {};
/**
 * Describes the message evershard.v1.AskProjectionResponse.
 * Use `create(AskProjectionResponseSchema)` to create a new message.
 */
export declare const AskProjectionResponseSchema: GenMessage<AskProjectionResponse>;
/**
 * @generated from message evershard.v1.ListProjectionsRequest
 */
export type ListProjectionsRequest = Message<"evershard.v1.ListProjectionsRequest"> & {};
/**
 * Describes the message evershard.v1.ListProjectionsRequest.
 * Use `create(ListProjectionsRequestSchema)` to create a new message.
 */
export declare const ListProjectionsRequestSchema: GenMessage<ListProjectionsRequest>;
/**
 * @generated from message evershard.v1.ListProjectionsResponse
 */
export type ListProjectionsResponse = Message<"evershard.v1.ListProjectionsResponse"> & {
    /**
     * in order of name
     *
     * @generated from field: repeated evershard.v1.ProjectionInfo projections = 1;
     */
    projections: ProjectionInfo[];
};
/**
 * Describes the message evershard.v1.ListProjectionsResponse.
 * Use `create(ListProjectionsResponseSchema)` to create a new message.
 */
export declare const ListProjectionsResponseSchema: GenMessage<ListProjectionsResponse>;
/**
 * @generated from message evershard.v1.DescribeProjectionRequest
 */
export type DescribeProjectionRequest = Message<"evershard.v1.DescribeProjectionRequest"> & {
    /**
     * @generated from field: string name = 1;
     */
    name: string;
};
/**
 * Describes the message evershard.v1.DescribeProjectionRequest.
 * Use `create(DescribeProjectionRequestSchema)` to create a new message.
 */
export declare const DescribeProjectionRequestSchema: GenMessage<DescribeProjectionRequest>;
/**
 * @generated from message evershard.v1.ProjectionInfo
 */
export type ProjectionInfo = Message<"evershard.v1.ProjectionInfo"> & {
    /**
     * @generated from field: string name = 1;
     */
    name: string;
    /**
     * @generated from field: string kind = 2;
     */
    kind: string;
    /**
     * JSON
     *
     * @generated from field: string spec = 3;
     */
    spec: string;
    /**
     * what a change expects
     *
     * @generated from field: uint64 last = 4;
     */
    last: bigint;
    /**
     * @generated from field: bool paused = 5;
     */
    paused: boolean;
    /**
     * @generated from field: uint64 watermark = 6;
     */
    watermark: bigint;
    /**
     * the newest last
     *
     * @generated from field: repeated evershard.v1.ProjectionInfo.Version versions = 7;
     */
    versions: ProjectionInfo_Version[];
};
/**
 * Describes the message evershard.v1.ProjectionInfo.
 * Use `create(ProjectionInfoSchema)` to create a new message.
 */
export declare const ProjectionInfoSchema: GenMessage<ProjectionInfo>;
/**
 * @generated from message evershard.v1.ProjectionInfo.Figure
 */
export type ProjectionInfo_Figure = Message<"evershard.v1.ProjectionInfo.Figure"> & {
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
 * Describes the message evershard.v1.ProjectionInfo.Figure.
 * Use `create(ProjectionInfo_FigureSchema)` to create a new message.
 */
export declare const ProjectionInfo_FigureSchema: GenMessage<ProjectionInfo_Figure>;
/**
 * @generated from message evershard.v1.ProjectionInfo.Version
 */
export type ProjectionInfo_Version = Message<"evershard.v1.ProjectionInfo.Version"> & {
    /**
     * @generated from field: uint64 version = 1;
     */
    version: bigint;
    /**
     * @generated from field: uint64 rows = 2;
     */
    rows: bigint;
    /**
     * building, live, paused, failed, waiting
     *
     * @generated from field: string state = 3;
     */
    state: string;
    /**
     * @generated from field: bool complete = 4;
     */
    complete: boolean;
    /**
     * @generated from field: bool serving = 5;
     */
    serving: boolean;
    /**
     * @generated from field: uint64 position = 6;
     */
    position: bigint;
    /**
     * @generated from field: uint64 lag = 7;
     */
    lag: bigint;
    /**
     * @generated from field: uint64 events = 8;
     */
    events: bigint;
    /**
     * @generated from field: uint64 errors = 9;
     */
    errors: bigint;
    /**
     * absent: nothing stopped it
     *
     * @generated from field: evershard.v1.Error error = 10;
     */
    error?: Error | undefined;
    /**
     * the position of the event it is about
     *
     * @generated from field: optional uint64 failed_at = 11;
     */
    failedAt?: bigint | undefined;
    /**
     * @generated from field: optional uint64 busy_ms = 12;
     */
    busyMs?: bigint | undefined;
    /**
     * @generated from field: repeated evershard.v1.ProjectionInfo.Figure figures = 13;
     */
    figures: ProjectionInfo_Figure[];
    /**
     * of a table in parts: which, from 0; a version has one of these a part
     *
     * @generated from field: optional uint32 part = 14;
     */
    part?: number | undefined;
    /**
     * of a part on a cluster: its node
     *
     * @generated from field: uint32 home = 15;
     */
    home: number;
};
/**
 * Describes the message evershard.v1.ProjectionInfo.Version.
 * Use `create(ProjectionInfo_VersionSchema)` to create a new message.
 */
export declare const ProjectionInfo_VersionSchema: GenMessage<ProjectionInfo_Version>;
/**
 * Of each read: at_least is the position that the rows must show, with the time that may take; absent: of an index whatever they show, of
 * values the watermark when the read begins.
 *
 * @generated from message evershard.v1.ReadIndexRequest
 */
export type ReadIndexRequest = Message<"evershard.v1.ReadIndexRequest"> & {
    /**
     * @generated from field: string name = 1;
     */
    name: string;
    /**
     * a number, from 1; absent: the first, backwards the last
     *
     * @generated from field: optional uint64 start = 2;
     */
    start?: bigint | undefined;
    /**
     * absent: 100; at most 1,000
     *
     * @generated from field: optional uint32 limit = 3;
     */
    limit?: number | undefined;
    /**
     * @generated from field: bool backwards = 4;
     */
    backwards: boolean;
    /**
     * @generated from field: evershard.v1.AtLeast at_least = 5;
     */
    atLeast?: AtLeast | undefined;
    /**
     * @generated from field: optional uint64 version = 6;
     */
    version?: bigint | undefined;
    /**
     * with the events themselves
     *
     * @generated from field: bool events = 7;
     */
    events: boolean;
};
/**
 * Describes the message evershard.v1.ReadIndexRequest.
 * Use `create(ReadIndexRequestSchema)` to create a new message.
 */
export declare const ReadIndexRequestSchema: GenMessage<ReadIndexRequest>;
/**
 * @generated from message evershard.v1.IndexEntry
 */
export type IndexEntry = Message<"evershard.v1.IndexEntry"> & {
    /**
     * @generated from field: uint64 number = 1;
     */
    number: bigint;
    /**
     * @generated from field: uint64 position = 2;
     */
    position: bigint;
    /**
     * @generated from field: evershard.v1.RecordedEvent event = 3;
     */
    event?: RecordedEvent | undefined;
};
/**
 * Describes the message evershard.v1.IndexEntry.
 * Use `create(IndexEntrySchema)` to create a new message.
 */
export declare const IndexEntrySchema: GenMessage<IndexEntry>;
/**
 * @generated from message evershard.v1.IndexPage
 */
export type IndexPage = Message<"evershard.v1.IndexPage"> & {
    /**
     * @generated from field: repeated evershard.v1.IndexEntry entries = 1;
     */
    entries: IndexEntry[];
    /**
     * @generated from field: uint64 count = 2;
     */
    count: bigint;
    /**
     * every event up to here is in the index
     *
     * @generated from field: uint64 watermark = 3;
     */
    watermark: bigint;
};
/**
 * Describes the message evershard.v1.IndexPage.
 * Use `create(IndexPageSchema)` to create a new message.
 */
export declare const IndexPageSchema: GenMessage<IndexPage>;
/**
 * Values as text: 42, -1.5, true, 2026-01-31T12:00:00Z, of text the text itself.
 *
 * @generated from message evershard.v1.ReadValuesRequest
 */
export type ReadValuesRequest = Message<"evershard.v1.ReadValuesRequest"> & {
    /**
     * @generated from field: string name = 1;
     */
    name: string;
    /**
     * @generated from field: optional string equal = 2;
     */
    equal?: string | undefined;
    /**
     * inclusive
     *
     * @generated from field: optional string from = 3;
     */
    from?: string | undefined;
    /**
     * inclusive
     *
     * @generated from field: optional string to = 4;
     */
    to?: string | undefined;
    /**
     * exclusive
     *
     * @generated from field: optional string until = 5;
     */
    until?: string | undefined;
    /**
     * ValuePage.next of the page before
     *
     * @generated from field: string after = 6;
     */
    after: string;
    /**
     * absent: 100; at most 1,000
     *
     * @generated from field: optional uint32 limit = 7;
     */
    limit?: number | undefined;
    /**
     * @generated from field: bool backwards = 8;
     */
    backwards: boolean;
    /**
     * @generated from field: evershard.v1.AtLeast at_least = 9;
     */
    atLeast?: AtLeast | undefined;
    /**
     * @generated from field: optional uint64 version = 10;
     */
    version?: bigint | undefined;
    /**
     * @generated from field: bool events = 11;
     */
    events: boolean;
};
/**
 * Describes the message evershard.v1.ReadValuesRequest.
 * Use `create(ReadValuesRequestSchema)` to create a new message.
 */
export declare const ReadValuesRequestSchema: GenMessage<ReadValuesRequest>;
/**
 * @generated from message evershard.v1.ValueEntry
 */
export type ValueEntry = Message<"evershard.v1.ValueEntry"> & {
    /**
     * as JSON
     *
     * @generated from field: string value = 1;
     */
    value: string;
    /**
     * @generated from field: uint64 position = 2;
     */
    position: bigint;
    /**
     * @generated from field: evershard.v1.RecordedEvent event = 3;
     */
    event?: RecordedEvent | undefined;
};
/**
 * Describes the message evershard.v1.ValueEntry.
 * Use `create(ValueEntrySchema)` to create a new message.
 */
export declare const ValueEntrySchema: GenMessage<ValueEntry>;
/**
 * @generated from message evershard.v1.ValuePage
 */
export type ValuePage = Message<"evershard.v1.ValuePage"> & {
    /**
     * @generated from field: repeated evershard.v1.ValueEntry entries = 1;
     */
    entries: ValueEntry[];
    /**
     * empty: nothing follows
     *
     * @generated from field: string next = 2;
     */
    next: string;
    /**
     * @generated from field: uint64 watermark = 3;
     */
    watermark: bigint;
};
/**
 * Describes the message evershard.v1.ValuePage.
 * Use `create(ValuePageSchema)` to create a new message.
 */
export declare const ValuePageSchema: GenMessage<ValuePage>;
/**
 * @generated from message evershard.v1.WaitForProjectionRequest
 */
export type WaitForProjectionRequest = Message<"evershard.v1.WaitForProjectionRequest"> & {
    /**
     * @generated from field: string name = 1;
     */
    name: string;
    /**
     * required
     *
     * @generated from field: evershard.v1.AtLeast at_least = 2;
     */
    atLeast?: AtLeast | undefined;
};
/**
 * Describes the message evershard.v1.WaitForProjectionRequest.
 * Use `create(WaitForProjectionRequestSchema)` to create a new message.
 */
export declare const WaitForProjectionRequestSchema: GenMessage<WaitForProjectionRequest>;
/**
 * @generated from message evershard.v1.WaitForProjectionResponse
 */
export type WaitForProjectionResponse = Message<"evershard.v1.WaitForProjectionResponse"> & {
    /**
     * @generated from field: uint64 position = 1;
     */
    position: bigint;
};
/**
 * Describes the message evershard.v1.WaitForProjectionResponse.
 * Use `create(WaitForProjectionResponseSchema)` to create a new message.
 */
export declare const WaitForProjectionResponseSchema: GenMessage<WaitForProjectionResponse>;
/**
 * @generated from service evershard.v1.Projections
 */
export declare const Projections: GenService<{
    /**
     * The same query asked twice shares one index.
     *
     * @generated from rpc evershard.v1.Projections.CreateIndex
     */
    createIndex: {
        methodKind: "unary";
        input: typeof CreateIndexRequestSchema;
        output: typeof ProjectionInfoSchema;
    };
    /**
     * @generated from rpc evershard.v1.Projections.CreateValueIndex
     */
    createValueIndex: {
        methodKind: "unary";
        input: typeof CreateValueIndexRequestSchema;
        output: typeof ProjectionInfoSchema;
    };
    /**
     * Of any kind, by its spec.
     *
     * @generated from rpc evershard.v1.Projections.CreateProjection
     */
    createProjection: {
        methodKind: "unary";
        input: typeof CreateProjectionRequestSchema;
        output: typeof ProjectionInfoSchema;
    };
    /**
     * Another version, built beside the one that is read.
     *
     * @generated from rpc evershard.v1.Projections.ChangeProjection
     */
    changeProjection: {
        methodKind: "unary";
        input: typeof ChangeProjectionRequestSchema;
        output: typeof ProjectionInfoSchema;
    };
    /**
     * @generated from rpc evershard.v1.Projections.AskProjection
     */
    askProjection: {
        methodKind: "unary";
        input: typeof AskProjectionRequestSchema;
        output: typeof AskProjectionResponseSchema;
    };
    /**
     * @generated from rpc evershard.v1.Projections.ListProjections
     */
    listProjections: {
        methodKind: "unary";
        input: typeof ListProjectionsRequestSchema;
        output: typeof ListProjectionsResponseSchema;
    };
    /**
     * @generated from rpc evershard.v1.Projections.DescribeProjection
     */
    describeProjection: {
        methodKind: "unary";
        input: typeof DescribeProjectionRequestSchema;
        output: typeof ProjectionInfoSchema;
    };
    /**
     * @generated from rpc evershard.v1.Projections.ReadIndex
     */
    readIndex: {
        methodKind: "unary";
        input: typeof ReadIndexRequestSchema;
        output: typeof IndexPageSchema;
    };
    /**
     * @generated from rpc evershard.v1.Projections.ReadValues
     */
    readValues: {
        methodKind: "unary";
        input: typeof ReadValuesRequestSchema;
        output: typeof ValuePageSchema;
    };
    /**
     * Until it shows a position.
     *
     * @generated from rpc evershard.v1.Projections.WaitForProjection
     */
    waitForProjection: {
        methodKind: "unary";
        input: typeof WaitForProjectionRequestSchema;
        output: typeof WaitForProjectionResponseSchema;
    };
}>;
