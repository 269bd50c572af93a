import { type StatusObject } from "@grpc/grpc-js";
import { RecordedEvent } from "./event.js";
import { type Error as ErrorMessage } from "./gen/evershard/v1/store_pb.js";
/** What an append expects of an aggregate; a number is its version. */
export type ExpectedVersion = "any" | "none" | "exists" | number;
/** As on the command line and in every other client. `unknown`: what is no answer of this server, or of a newer one. */
export type Code = "version_conflict" | "condition_failed" | "duplicate_event" | "not_found" | "invalid_argument" | "invalid_query" | "too_large" | "wrong_shard" | "fenced" | "unavailable" | "overloaded" | "timeout" | "corruption" | "io" | "cancelled" | "unauthenticated" | "permission_denied" | "unknown";
/** The values that decided it; which of them are there, the classes say. */
export interface Details {
    aggregate?: string;
    expected?: ExpectedVersion;
    actual?: number;
    condition?: number;
    position?: number;
    shard?: number;
    offset?: number;
    conflicts?: RecordedEvent[];
    retryAfterMs?: number;
    lasting?: boolean;
}
/** Everything this package throws. */
export declare class EvershardError extends Error {
    readonly code: Code;
    readonly details: Details;
    /** The same request may succeed later. The client has tried again already, where that is safe, until its time was over. */
    readonly retryable: boolean;
    /** Of an append: it may be stored, or not. */
    readonly outcomeUnknown: boolean;
    /** The server said it; else it happened on the way. */
    told: boolean;
    constructor(message: string, details?: Details, options?: ErrorOptions);
}
/** An aggregate is not at the expected version: read it again and decide again. */
export declare class VersionConflictError extends EvershardError {
    readonly code = "version_conflict";
    get aggregate(): string | undefined;
    get expected(): ExpectedVersion | undefined;
    get actual(): number | undefined;
}
/** An event matches an append condition: read again and decide again. */
export declare class ConditionFailedError extends EvershardError {
    readonly code = "condition_failed";
    /** Which, from 0, in the append's order. */
    get condition(): number | undefined;
    /** Of the first event that matches. */
    get position(): number | undefined;
    /** The first of the events that match, as many as `conflictsMax` asked for and had room. */
    get conflicts(): RecordedEvent[];
}
/** An event id is stored already, by another request. */
export declare class DuplicateEventError extends EvershardError {
    readonly code = "duplicate_event";
    /** Where. */
    get position(): number | undefined;
}
export declare class NotFoundError extends EvershardError {
    readonly code = "not_found";
}
export declare class InvalidArgumentError extends EvershardError {
    readonly code = "invalid_argument";
}
export declare class InvalidQueryError extends EvershardError {
    readonly code = "invalid_query";
}
/** Over a limit, which the message names. */
export declare class TooLargeError extends EvershardError {
    readonly code = "too_large";
}
export declare class WrongShardError extends EvershardError {
    readonly code = "wrong_shard";
    readonly retryable = true;
}
export declare class FencedError extends EvershardError {
    readonly code = "fenced";
    readonly retryable = true;
}
/** Not now: no connection, or the server cannot. */
export declare class UnavailableError extends EvershardError {
    readonly code = "unavailable";
    readonly retryable: boolean;
    readonly outcomeUnknown: boolean;
    constructor(message: string, details?: Details, options?: ErrorOptions & {
        outcomeUnknown?: boolean;
    });
    /** Until somebody mends it: trying again alone changes nothing. */
    get lasting(): boolean;
}
/** A bounded queue is full. */
export declare class OverloadedError extends EvershardError {
    readonly code = "overloaded";
    readonly retryable = true;
    get retryAfterMs(): number | undefined;
}
/** Not in time. */
export declare class TimeoutError extends EvershardError {
    readonly code = "timeout";
    readonly outcomeUnknown: boolean;
    constructor(message: string, details?: Details, options?: ErrorOptions & {
        outcomeUnknown?: boolean;
    });
}
/** No answer says whether it is stored, or done. Of an append time is over: send the same again, with the same ids, to know. */
export declare class OutcomeUnknownError extends TimeoutError {
}
/** Damaged data was found; it is never served. */
export declare class CorruptionError extends EvershardError {
    readonly code = "corruption";
}
/** The store has failed for good; the outcome of what was under way is unknown. */
export declare class IoError extends EvershardError {
    readonly code = "io";
    readonly outcomeUnknown = true;
}
/** By its signal, or because the client was closed; `cause` is the signal's reason. An append that was under way may be stored. */
export declare class CancelledError extends EvershardError {
    readonly code = "cancelled";
}
/** No token, or one that is not known. */
export declare class UnauthenticatedError extends EvershardError {
    readonly code = "unauthenticated";
}
/** A token whose scopes do not reach so far. */
export declare class PermissionDeniedError extends EvershardError {
    readonly code = "permission_denied";
}
/** What the server said. */
export declare function errorOf(message: ErrorMessage): EvershardError;
/** A call's status. Without an Error in its details the server did not speak: the connection broke, or what lies between. */
export declare function errorOfStatus({ code, details: text, metadata }: StatusObject): EvershardError;
