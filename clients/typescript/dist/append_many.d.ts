import { type Append, type Appended } from "./append.js";
import { type CallOptions, type Connection } from "./connection.js";
import { EvershardError } from "./errors.js";
/** Of each append its own. */
export type Outcome = {
    readonly appended: Appended;
    readonly error?: undefined;
} | {
    readonly appended?: undefined;
    readonly error: EvershardError;
};
export interface AppendManyOptions extends CallOptions {
    /** How many may be taken from the source whose outcome was not taken yet; then no more are asked for. 256 */
    inFlightMax?: number | undefined;
    /** And how many bytes of them. 16 MiB */
    inFlightBytesMax?: number | undefined;
}
export type Appends = AsyncIterable<Append> | Iterable<Append>;
/** `bytes`: the same for each try; `first`: see encodeAppend. `error`: it was refused here, and is not sent. */
export type Pending = {
    bytes: Uint8Array;
    first?: string | Uint8Array | undefined;
    error?: undefined;
} | {
    bytes?: undefined;
    error: EvershardError;
};
export declare function pendingOf(append: Append): Pending;
/**
 * One stream of appends. A broken connection is made anew and what is unanswered is sent again, in order, with the same bytes. Time is over
 * when nothing is answered for `timeoutMs`.
 */
export declare class AppendStream {
    #private;
    /** `node`: to its door, where that is open when a call begins; 0: to any. */
    constructor(connection: Connection, options: AppendManyOptions, node: number);
    /** Errors: OutcomeUnknownError: time is over; what refuses the call as a whole; what the source throws, when all it gave before is answered */
    outcomes(source: AsyncIterable<Pending>): AsyncGenerator<Outcome, void, void>;
}
