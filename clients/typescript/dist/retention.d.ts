import type { AtLeast, CallOptions, Connection } from "./connection.js";
import type { JsonValue } from "./event.js";
import { type WorkOptions } from "./work.js";
/** Who wants it and why: kept in the log. */
export interface RetentionReason {
    by?: string | undefined;
    reason?: string | undefined;
}
export interface RetentionOptions extends RetentionReason, WorkOptions {
    /** Says what would go, changes nothing, records nothing. */
    dryRun?: boolean | undefined;
    /** Of records that are written again; 0, absent: as fast as it goes. */
    bytesPerSecond?: number | undefined;
}
export interface TruncateOptions extends RetentionOptions {
    /** Also where no snapshot stands for what goes: the aggregate's state cannot be made any more. */
    uncovered?: boolean | undefined;
}
/** What was done, or would be. */
export interface RetentionResult {
    /** Its name in the log; empty: nothing was to be done, or a dry run. */
    readonly operation: string;
    readonly aggregates: number;
    /** That are gone now and were not before. */
    readonly events: number;
    readonly snapshots: number;
    /** Of the journal, written again. */
    readonly records: number;
    readonly bytesBefore: number;
    /** The disk has them back after a vacuum. */
    readonly bytesAfter: number;
    /** Of one aggregate: its version. */
    readonly version: number;
    /** The same: its events below are gone. */
    readonly before: number;
    /** The version of the snapshot that stands for them. */
    readonly coveredBy?: number;
    readonly coveredRevision: number;
}
/** Time to live by a rule: events of a type, one by one; of aggregates of a type what a snapshot stands for, or the whole. */
export interface RetentionPolicy {
    readonly name: string;
    readonly kind: "events" | "truncate" | "remove";
    /** Of events, or of aggregates. */
    readonly type: string;
    readonly keepSeconds: number;
    /** Of events: also where no snapshot stands for them. */
    readonly uncovered?: boolean;
}
/** One step, as the log has it. */
export interface RetentionEntry {
    readonly position: number;
    /** In the log, from 1. */
    readonly number: number;
    readonly at: string;
    /** The event's type: $TruncationOrdered, $RemovalDone, ... */
    readonly what: string;
    readonly content: Record<string, JsonValue>;
}
export interface RetentionLogOptions extends AtLeast, CallOptions {
    /** A number in the log; exclusive. */
    after?: number | undefined;
    /** Absent: all. */
    limit?: number | undefined;
}
/**
 * What is removed is removed for good. All but the policies and the log need the scope `admin`. `signal` stops the work at the next safe point, and the
 * same again does what is left. Errors of what removes: OutcomeUnknownError (its end was not heard: the same again tells).
 */
export declare class Retention {
    #private;
    constructor(connection: Connection);
    /** Removes an aggregate's events below `before`; its version stays. Errors: NotFoundError, InvalidArgumentError */
    truncate(aggregate: string, before: number, options?: TruncateOptions): Promise<RetentionResult>;
    /** Removes all of an aggregate's events and snapshots. It is hidden until its next event. Errors: NotFoundError, InvalidArgumentError */
    remove(aggregate: string, options?: RetentionOptions): Promise<RetentionResult>;
    /** Destroys a subject's key: nobody reads its payloads any more, in backups neither. Errors: NotFoundError (it has none), InvalidArgumentError */
    erase(subject: string, options?: RetentionOptions): Promise<RetentionResult>;
    /** Finishes what was broken off, applies all policies as of now, removes expired snapshots. */
    apply(options?: RetentionOptions): Promise<RetentionResult>;
    /** Creates or replaces. Errors: InvalidArgumentError */
    setPolicy(policy: RetentionPolicy, options?: RetentionReason & CallOptions): Promise<void>;
    /** Errors: NotFoundError */
    dropPolicy(name: string, options?: RetentionReason & CallOptions): Promise<void>;
    policies(options?: AtLeast & CallOptions): Promise<RetentionPolicy[]>;
    /** What was done, in order, fetched as it is taken. */
    log(options?: RetentionLogOptions): AsyncGenerator<RetentionEntry, void, void>;
}
