import type { GenEnum, GenFile, GenMessage } from "@bufbuild/protobuf/codegenv2";
import type { Message } from "@bufbuild/protobuf";
/**
 * Describes the file evershard/v1/event.proto.
 */
export declare const file_evershard_v1_event: GenFile;
/**
 * Which aggregate. In two parts, so that neither can be mistaken for the other; its text form is `type-value`.
 * The type contains no '-'; neither part is empty. Case matters. At most 128 and 512 bytes of UTF-8 without NUL.
 *
 * @generated from message evershard.v1.AggregateId
 */
export type AggregateId = Message<"evershard.v1.AggregateId"> & {
    /**
     * @generated from field: string type = 1;
     */
    type: string;
    /**
     * @generated from field: string value = 2;
     */
    value: string;
};
/**
 * Describes the message evershard.v1.AggregateId.
 * Use `create(AggregateIdSchema)` to create a new message.
 */
export declare const AggregateIdSchema: GenMessage<AggregateId>;
/**
 * An event as given to an append.
 *
 * @generated from message evershard.v1.Event
 */
export type Event = Message<"evershard.v1.Event"> & {
    /**
     * 16 bytes, a UUID; empty: the store makes one
     *
     * @generated from field: bytes id = 1;
     */
    id: Uint8Array;
    /**
     * absent: a tagged event without an aggregate
     *
     * @generated from field: evershard.v1.AggregateId aggregate = 2;
     */
    aggregate?: AggregateId | undefined;
    /**
     * 1 to 255 bytes, without NUL
     *
     * @generated from field: string type = 3;
     */
    type: string;
    /**
     * a set of at most 64, each 1 to 255 bytes without NUL
     *
     * @generated from field: repeated string tags = 4;
     */
    tags: string[];
    /**
     * further aggregates it concerns; a set of at most 64
     *
     * @generated from field: repeated evershard.v1.AggregateId also = 5;
     */
    also: AggregateId[];
    /**
     * @generated from field: bytes payload = 6;
     */
    payload: Uint8Array;
    /**
     * 0 unspecified, 1 JSON, 2 Protobuf, 3 text, 4 encrypted, from 1000 on the user's
     *
     * @generated from field: uint32 payload_format = 7;
     */
    payloadFormat: number;
    /**
     * @generated from field: bytes metadata = 8;
     */
    metadata: Uint8Array;
    /**
     * microseconds since 1970-01-01T00:00:00Z; absent: set at append
     *
     * @generated from field: optional int64 occurred_at_us = 9;
     */
    occurredAtUs?: bigint | undefined;
    /**
     * whose data the payload is: it is sealed under that subject's key. At most 255 bytes; empty: nobody's
     *
     * @generated from field: string subject = 10;
     */
    subject: string;
    /**
     * Of what comes from another store (AppendRequest.from_export): what it has no more. A removed one has id and aggregate only. An erased one has its
     * type in `erased_type` and none in `type`, so that a server that does not know these fields refuses it.
     *
     * @generated from field: evershard.v1.EventState state = 11;
     */
    state: EventState;
    /**
     * @generated from field: string erased_type = 12;
     */
    erasedType: string;
};
/**
 * Describes the message evershard.v1.Event.
 * Use `create(EventSchema)` to create a new message.
 */
export declare const EventSchema: GenMessage<Event>;
/**
 * An event as stored: with its place in its aggregate's stream, its shard and the global order.
 *
 * @generated from message evershard.v1.RecordedEvent
 */
export type RecordedEvent = Message<"evershard.v1.RecordedEvent"> & {
    /**
     * in the global order, dense, from 1
     *
     * @generated from field: uint64 position = 1;
     */
    position: bigint;
    /**
     * at most 65,535
     *
     * @generated from field: uint32 shard = 2;
     */
    shard: number;
    /**
     * in its shard, ascending, from 1
     *
     * @generated from field: uint64 offset = 3;
     */
    offset: bigint;
    /**
     * 16 bytes
     *
     * @generated from field: bytes id = 4;
     */
    id: Uint8Array;
    /**
     * @generated from field: evershard.v1.AggregateId aggregate = 5;
     */
    aggregate?: AggregateId | undefined;
    /**
     * in its aggregate's stream, dense, from 1; 0 without an aggregate
     *
     * @generated from field: uint64 seq_nr = 6;
     */
    seqNr: bigint;
    /**
     * @generated from field: string type = 7;
     */
    type: string;
    /**
     * ascending, each once
     *
     * @generated from field: repeated string tags = 8;
     */
    tags: string[];
    /**
     * ascending, each once
     *
     * @generated from field: repeated evershard.v1.AggregateId also = 9;
     */
    also: AggregateId[];
    /**
     * @generated from field: bytes payload = 10;
     */
    payload: Uint8Array;
    /**
     * @generated from field: uint32 payload_format = 11;
     */
    payloadFormat: number;
    /**
     * @generated from field: bytes metadata = 12;
     */
    metadata: Uint8Array;
    /**
     * @generated from field: int64 occurred_at_us = 13;
     */
    occurredAtUs: bigint;
    /**
     * @generated from field: evershard.v1.EventState state = 14;
     */
    state: EventState;
    /**
     * its number in its append, from 0
     *
     * @generated from field: uint32 append_index = 15;
     */
    appendIndex: number;
    /**
     * how many events its append has; 0 stands for 1
     *
     * @generated from field: uint32 append_events = 16;
     */
    appendEvents: number;
    /**
     * of a sealed payload that was opened: whose data it is
     *
     * @generated from field: string subject = 17;
     */
    subject: string;
};
/**
 * Describes the message evershard.v1.RecordedEvent.
 * Use `create(RecordedEventSchema)` to create a new message.
 */
export declare const RecordedEventSchema: GenMessage<RecordedEvent>;
/**
 * Whether an event's content can still be read.
 *
 * @generated from enum evershard.v1.EventState
 */
export declare enum EventState {
    /**
     * @generated from enum value: EVENT_STATE_LIVE = 0;
     */
    LIVE = 0,
    /**
     * truncated or removed with its aggregate: id, aggregate, seq_nr and place are kept
     *
     * @generated from enum value: EVENT_STATE_REMOVED = 1;
     */
    REMOVED = 1,
    /**
     * its payload's key is gone: everything but the payload is kept
     *
     * @generated from enum value: EVENT_STATE_ERASED = 2;
     */
    ERASED = 2
}
/**
 * Describes the enum evershard.v1.EventState.
 */
export declare const EventStateSchema: GenEnum<EventState>;
