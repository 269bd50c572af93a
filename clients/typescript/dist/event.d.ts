import type { MessageInitShape } from "@bufbuild/protobuf";
import { type EventSchema, type RecordedEvent as Message } from "./gen/evershard/v1/event_pb.js";
/** How a payload is to be read; from 1000 on they are the user's. */
export declare const PayloadFormat: {
    readonly unspecified: 0;
    readonly json: 1;
    readonly protobuf: 2;
    readonly text: 3;
    readonly encrypted: 4;
};
/** Bytes as they are (format unspecified), a string as UTF-8 (text), anything else as JSON. `payloadFormat` says otherwise. */
export type Payload = Uint8Array | string | JsonValue;
export type JsonValue = null | boolean | number | string | readonly JsonValue[] | {
    readonly [key: string]: JsonValue | undefined;
};
/** An event to be appended. */
export interface NewEvent {
    /** Absent: a tagged event without an aggregate. */
    aggregate?: string | undefined;
    type: string;
    tags?: Iterable<string> | undefined;
    /** Further aggregates it concerns. */
    also?: Iterable<string> | undefined;
    payload?: Payload | undefined;
    payloadFormat?: number | undefined;
    metadata?: Payload | undefined;
    /** A UUID. Absent: a random one, made once for all tries. */
    id?: string | undefined;
    /** A Date, RFC 3339 text, or microseconds since 1970. Absent: the server's time when it is appended. */
    occurredAt?: Date | string | bigint | undefined;
    /** Whose data the payload is: it is sealed under a key of theirs, which can be destroyed. Absent: nobody's. */
    subject?: string | undefined;
}
/** Bytes and the format they have by themselves. Errors: InvalidArgumentError */
export declare function encodePayload(payload: Payload | undefined, what: string): {
    bytes: Uint8Array;
    format: number;
};
/** `id`: for an event that has none; empty: the server makes one. Errors: InvalidArgumentError, TooLargeError */
export declare function eventMessage(event: NewEvent, id: string, what: string): MessageInitShape<typeof EventSchema>;
/** What an event and a snapshot have in common: bytes, and how to read them. */
export declare abstract class Stored {
    abstract readonly payload: Uint8Array;
    /** See PayloadFormat. */
    abstract readonly payloadFormat: number;
    /** The payload, parsed as JSON whatever its format says. Numbers beyond 2^53 are rounded, as JSON.parse does. Errors: SyntaxError */
    json<T = unknown>(): T;
    /** The payload as text. Errors: TypeError: it is not UTF-8 */
    text(): string;
}
/** An event as stored. */
export declare class RecordedEvent extends Stored {
    /** In the global order, dense, from 1. */
    readonly position: number;
    readonly shard: number;
    /** In its shard, ascending, from 1. */
    readonly offset: number;
    readonly id: string;
    /** Such as `order-1`. */
    readonly aggregate: string | undefined;
    /** In its aggregate's stream, dense, from 1; 0 without an aggregate. */
    readonly seqNr: number;
    readonly type: string;
    readonly tags: string[];
    readonly also: string[];
    readonly payload: Uint8Array;
    readonly payloadFormat: number;
    readonly metadata: Uint8Array;
    /** UTC with microseconds, such as `2026-01-31T12:00:00.000000Z`. */
    readonly occurredAt: string;
    /** `removed`: only its id, aggregate, number and place are kept; `erased`: all but the payload. */
    readonly state: "live" | "removed" | "erased";
    /** Its number in its append, from 0, and how many events that has. */
    readonly appendIndex: number;
    readonly appendEvents: number;
    /** Of a sealed payload: whose data it is; else empty. */
    readonly subject: string;
    constructor(message: Message);
    /** As the command line shows it; payload and metadata as JSON where they are, else as base64. */
    toJSON(): Record<string, unknown>;
}
