import { type AtLeast, type CallOptions, type Connection } from "./connection.js";
import { RecordedEvent } from "./event.js";
import type { Query } from "./query.js";
interface Bounds {
    /** No limit without it; 0 is nothing. */
    limit?: number | undefined;
    backwards?: boolean | undefined;
    /** Inclusive: as of this position. */
    upTo?: number | undefined;
}
/** `timeoutMs`: of the whole read; without it a read may take as long as it takes. */
export interface ReadOptions extends Bounds, AtLeast, CallOptions {
    /** Exclusive. */
    after?: number | undefined;
    /** Exclusive. */
    before?: number | undefined;
}
export interface ReadAggregateOptions extends Bounds, AtLeast, CallOptions {
    /** Inclusive; without it the first, backwards the last. */
    from?: number | undefined;
}
/** Each iteration is a read of its own. Leaving the loop ends it. */
export declare class Reading implements AsyncIterable<RecordedEvent> {
    #private;
    /** What the last iteration is bounded by, from its first event on: for `atLeast`, or to go on after. */
    watermark: number | undefined;
    constructor(connection: Connection, of: {
        query: Query;
        options: ReadOptions;
    } | {
        aggregate: string;
        options: ReadAggregateOptions;
    });
    toArray(): Promise<RecordedEvent[]>;
    [Symbol.asyncIterator](): AsyncGenerator<RecordedEvent, void, void>;
}
export {};
