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
/**
 * One stream of appends. A broken connection is made anew and what is unanswered is sent again, in order, with the same bytes. Time is over
 * when nothing is answered for `timeoutMs`.
 */
export declare class AppendStream {
    #private;
    constructor(connection: Connection, options: AppendManyOptions);
    /** Errors: OutcomeUnknownError: time is over; what refuses the call as a whole; what the source throws, when all it gave before is answered */
    outcomes(source: Appends): AsyncGenerator<Outcome, void, void>;
}
