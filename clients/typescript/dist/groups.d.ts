import { type Connection } from "./connection.js";
import { RecordedEvent } from "./event.js";
import { type GroupInfo as GroupInfoMessage } from "./gen/evershard/v1/groups_pb.js";
/** An event that a worker was given: its own until it is settled, or its lease ran out. */
export interface GroupDelivery {
    readonly event: RecordedEvent;
    readonly delivery: bigint;
    /** From 1. */
    readonly attempt: number;
}
export interface WorkerOptions {
    /** As it is listed. */
    name?: string | undefined;
    /** Events that it may have at a time. 16 */
    credit?: number | undefined;
    /** Ends the worker: the loop ends, and it leaves the group. */
    signal?: AbortSignal | undefined;
}
/** How a group is; see docs/groups.md. */
export interface GroupInfo {
    readonly name: string;
    readonly position: number;
    readonly readTo: number;
    readonly head: number;
    readonly unsettled: number;
    readonly inFlight: number;
    readonly waiting: number;
    readonly parked: number;
    readonly acknowledged: number;
    readonly workers: readonly string[];
}
export declare function groupInfoOf(m: GroupInfoMessage): GroupInfo;
/**
 * Takes events one by one, in a loop or by next(), and settles each. Every call says that it is there; what takes longer than a lease calls renew() now
 * and then, or others are given its events. A broken connection is made again: what was not settled comes again. To be closed, or taken with `await using`.
 */
export declare class GroupWorker implements AsyncIterable<GroupDelivery>, AsyncDisposable {
    #private;
    constructor(connection: Connection, group: string, options: WorkerOptions);
    /** Errors: NotFoundError: the group is gone; what trying again does not help */
    [Symbol.asyncIterator](): AsyncGenerator<GroupDelivery, void, void>;
    /** Nothing: there was none for so long (absent: waits on and on), or it was closed, or told to end: then it has left. */
    next(timeoutMs?: number): Promise<GroupDelivery | undefined>;
    /** It is done; comes back when that is durable. Errors: FencedError: others have it by now, or may */
    acknowledge(delivery: GroupDelivery): Promise<void>;
    /** Again later (`afterMs`: absent: as the group is set), or parked, when that was its last attempt. */
    reject(delivery: GroupDelivery, reason: string, afterMs?: number): Promise<void>;
    /** Aside, until somebody replays or discards it. Errors: OverloadedError: no more can be parked */
    park(delivery: GroupDelivery, reason: string): Promise<void>;
    /** Their leases begin anew. */
    renew(...deliveries: GroupDelivery[]): void;
    /** Leaves; what it has is given to others, and no attempt is counted. Any number of times. */
    close(): Promise<void>;
    [Symbol.asyncDispose](): Promise<void>;
}
