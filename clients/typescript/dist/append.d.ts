import type { MessageInitShape } from "@bufbuild/protobuf";
import { type ExpectedVersion } from "./errors.js";
import { type NewEvent, type Payload } from "./event.js";
import { type AppendResponse, type SnapshotSchema } from "./gen/evershard/v1/store_pb.js";
import type { Query } from "./query.js";
/** No event that matches stands between `after` (exclusive; 0 without it) and the append. */
export interface Condition {
    query: Query;
    after?: number | undefined;
}
/** A snapshot to be written; with an append it is of the version the append leaves. */
export interface NewSnapshot {
    aggregate: string;
    /** Alone: required. With an append: absent, or the version it leaves. */
    version?: number | undefined;
    payload: Payload;
    payloadFormat?: number | undefined;
    /** A reader that knows another one replays instead. */
    schemaRevision?: number | undefined;
    /** How many copies beside the latest are kept. */
    keep?: number | undefined;
    /** Hides, and later removes, a copy that was kept; never the latest. */
    ttlS?: number | undefined;
    /** Whose data the payload is: it is sealed under a key of theirs, which can be destroyed. */
    subject?: string | undefined;
}
export interface Append {
    events: Iterable<NewEvent>;
    /** By aggregate; there is no default: an aggregate that is not named is not checked. */
    expect?: Readonly<Record<string, ExpectedVersion>> | undefined;
    /** All of them are required. */
    failIf?: Condition | Iterable<Condition> | undefined;
    snapshots?: Iterable<NewSnapshot> | undefined;
    /** A command's id and its reply, stored with its events: the same command again gives the stored reply. */
    command?: {
        aggregate: string;
        id: Uint8Array | string;
        reply?: Uint8Array;
    } | undefined;
    /**
     * A UUID that names the request, so that another process can send it again: events without an id get theirs from it. Absent: the events' ids
     * name it, which are made once for all tries where they are not given.
     */
    requestId?: string | undefined;
    /** How many of the events that make a condition fail come with the error. 0 */
    conflictsMax?: number | undefined;
    /** `ordered`: when positions are known (the default); `durable`: as soon as it will survive. In one process both are the same. */
    ack?: "ordered" | "durable" | undefined;
}
/** The same for every try of the same append, but for `duplicate` and `watermark`. */
export interface Appended {
    firstPosition: number;
    lastPosition: number;
    /** Of each aggregate it wrote to, after it. */
    versions: Record<string, number>;
    /** It was stored already: an earlier try got through. */
    duplicate: boolean;
    /** For `atLeast`: reads there see this append. */
    watermark: number;
}
/** The bytes of an append: the same for each try; and what its shard follows from, where that is known here. Errors: InvalidArgumentError, TooLargeError */
export declare function encodeAppend(append: Append): {
    bytes: Uint8Array;
    first: string | Uint8Array | undefined;
};
export declare function snapshotMessage(snapshot: NewSnapshot, what: string): MessageInitShape<typeof SnapshotSchema>;
export declare function appendedOf(response: AppendResponse): Appended;
