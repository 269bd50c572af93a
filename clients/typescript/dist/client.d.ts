import type { MessageInitShape } from "@bufbuild/protobuf";
import { Administration } from "./administration.js";
import { type Append, type Appended, type NewSnapshot } from "./append.js";
import { type AppendManyOptions, type Appends, type Outcome } from "./append_many.js";
import { Connection, type AtLeast, type CallOptions, type ConnectOptions } from "./connection.js";
import { Documents, Projections } from "./derived.js";
import { RecordedEvent } from "./event.js";
import { type GroupSettingsSchema } from "./gen/evershard/v1/groups_pb.js";
import { GroupWorker, type GroupInfo, type WorkerOptions } from "./groups.js";
import { Query } from "./query.js";
import { Reading, type ReadAggregateOptions, type ReadOptions } from "./reading.js";
import { Retention } from "./retention.js";
import { RecordedSnapshot } from "./snapshot.js";
import { Subscription, type SubscribeOptions } from "./subscription.js";
/** One row of the directory. */
export interface AggregateInfo {
    aggregate: string;
    version: number;
    lastPosition: number;
    shard: number;
}
export interface AggregatesOptions extends AtLeast, CallOptions {
    /** Absent: all. */
    type?: string | undefined;
    /** Exclusive. */
    after?: string | undefined;
    /** Of one request. 1,000; at most 10,000 */
    pageAggregatesMax?: number | undefined;
}
export interface StateOptions extends AtLeast, CallOptions {
    /** Absent: the latest. */
    version?: number | undefined;
    /** As of this position. */
    upTo?: number | undefined;
    /** At most so many of the events behind the snapshot; absent: all. */
    limit?: number | undefined;
}
/** An aggregate's newest snapshot at or before the moment, as JSON, and the events behind it: docs/types.md, "An aggregate's state". */
export interface AggregateState {
    aggregate: string;
    version: number;
    position: number;
    state: unknown;
    state_version: number;
    events_after: number;
    [more: string]: unknown;
}
/**
 * HOST:PORT, or unix:PATH; several nodes of one store as HOST:PORT,HOST:PORT or as a list: it keeps to one that works, the first before the others,
 * and goes on to another when that is gone or cannot. Connects with the first call. Errors: InvalidArgumentError
 */
export declare function connect(address: string | readonly string[], options?: ConnectOptions): Client;
export interface CreateGroupOptions {
    query?: Query | undefined;
    after?: number | "now" | undefined;
    /** Of docs/groups.md; what is absent has its default. */
    settings?: MessageInitShape<typeof GroupSettingsSchema> | undefined;
}
/** Every method may be called at any time, any number at once. To be closed, or taken with `await using`. */
export declare class Client implements AsyncDisposable {
    #private;
    readonly admin: Administration;
    /** Indexes and tables. */
    readonly projections: Projections;
    readonly documents: Documents;
    /** What is removed for good, and the record of it. */
    readonly retention: Retention;
    constructor(connection: Connection);
    /** Ends what is under way with CancelledError; subscriptions end as loops do. Any number of times. */
    close(): void;
    [Symbol.asyncDispose](): Promise<void>;
    /** The greatest position that any answer told: reads there see all that was written and read by this client. For another client's see(). */
    get seen(): number;
    /** Reads of this client see at least this from now on. */
    see(position: number): void;
    /**
     * Writes whole or not at all; comes back when it is durable. Tried again, as the same append, until it is answered or time is over.
     * Errors: VersionConflictError, ConditionFailedError, DuplicateEventError, InvalidArgumentError, TooLargeError, OutcomeUnknownError, ...
     */
    append(append: Append, options?: CallOptions): Promise<Appended>;
    /**
     * Many appends in flight, taken from `appends` as there is room; their outcomes in the same order. One that is refused ends nothing; `overloaded`
     * is an outcome too, since trying again would store it behind later ones. Leaving the loop ends it: what was in flight may be stored.
     */
    appendMany(appends: Appends, options?: AppendManyOptions): AsyncGenerator<Outcome, void, void>;
    /** What matches, in global order. */
    read(query?: Query, options?: ReadOptions): Reading;
    /** One aggregate's events, by number. Empty where there is none. */
    readAggregate(aggregate: string, options?: ReadAggregateOptions): Reading;
    /** What matches, and goes on with what is appended, until it is cancelled. */
    subscribe(query?: Query, options?: SubscribeOptions): Subscription;
    /** The watermark: the last position that can be read. With `atLeast` it waits. */
    head(options?: AtLeast & CallOptions): Promise<number>;
    /** Errors: NotFoundError */
    eventAt(position: number, options?: AtLeast & CallOptions): Promise<RecordedEvent>;
    /** Errors: NotFoundError */
    aggregate(aggregate: string, options?: {
        upTo?: number | undefined;
    } & AtLeast & CallOptions): Promise<AggregateInfo>;
    /** In order of type and value, fetched as they are taken. */
    aggregates(options?: AggregatesOptions): AsyncGenerator<AggregateInfo, void, void>;
    /** Errors: NotFoundError, InvalidArgumentError */
    state(aggregate: string, options?: StateOptions): Promise<AggregateState>;
    /** Of a version that exists. Errors: NotFoundError, InvalidArgumentError, ... */
    putSnapshot(snapshot: NewSnapshot & {
        version: number;
    }, options?: CallOptions): Promise<void>;
    /** The latest, or the newest at or before a version, or as of a position. Returns: nothing, where there is none */
    snapshot(aggregate: string, options?: {
        atOrBefore?: number | undefined;
        upTo?: number | undefined;
    } & AtLeast & CallOptions): Promise<RecordedSnapshot | undefined>;
    snapshots(aggregate: string, options?: AtLeast & CallOptions): Promise<RecordedSnapshot[]>;
    /** A named subscription that workers share; begins behind `after` (0: with the first event; "now"). Needs the scope `admin`. Errors: InvalidArgumentError */
    createGroup(name: string, options?: CreateGroupOptions & CallOptions): Promise<GroupInfo>;
    dropGroup(name: string, options?: CallOptions): Promise<void>;
    /** In order of name. */
    groups(options?: CallOptions): Promise<GroupInfo[]>;
    /** A worker of a group. It joins when it is first asked for an event. */
    work(group: string, options?: WorkerOptions): GroupWorker;
    /** How payloads are read: what `evershard types` registered, as the store's file TYPES has it; empty: nothing. */
    types(options?: CallOptions): Promise<Uint8Array>;
}
