import { type CallOptions, type Connection } from "./connection.js";
import { EvershardError } from "./errors.js";
import { RecordedEvent } from "./event.js";
import type { Query } from "./query.js";
/**
 * `watermark`: everything up to it was looked at and, if it matches, given: what to go on after. `caught_up`: from now on events come as they are
 * appended; `fell_behind`: more than a page is waiting; `heartbeat`: nothing new. After a broken connection `caught_up` comes again.
 */
export type SubscriptionItem = {
    readonly kind: "events";
    readonly events: readonly RecordedEvent[];
    readonly watermark: number;
} | {
    readonly kind: "caught_up" | "fell_behind" | "heartbeat";
    readonly watermark: number;
};
export interface SubscribeOptions {
    /** Exclusive; 0 is from the beginning. Absent: from now on. */
    after?: number | undefined;
    /** Of one item. */
    pageEventsMax?: number | undefined;
    /** At least 100; 0: none. Three of them without a word are a broken connection. 10,000 */
    heartbeatMs?: number | undefined;
    /** Told what is wrong, once the server has been away for a second, and `undefined` when it is back; each once an absence. */
    onAway?: ((error: EvershardError | undefined) => void) | undefined;
    /** Ends the subscription: the loop ends. */
    signal?: AbortSignal | undefined;
}
export declare class Subscription implements AsyncIterable<SubscriptionItem> {
    #private;
    /** Of the last item that was taken. */
    watermark: number | undefined;
    /** Why the server is, while it has been for a second. `undefined`: it is there. */
    away: EvershardError | undefined;
    constructor(connection: Connection, query: Query, options: SubscribeOptions, head: (options: CallOptions) => Promise<number>);
    /** The events alone. */
    events(): AsyncGenerator<RecordedEvent, void, void>;
    /** Tries to connect until it is cancelled. Errors: what trying again does not help, such as InvalidQueryError, UnauthenticatedError */
    [Symbol.asyncIterator](): AsyncGenerator<SubscriptionItem, void, void>;
}
