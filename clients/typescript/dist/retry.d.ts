import { EvershardError } from "./errors.js";
/** 10, 20, 40 .. 500 ms, each less a random part of up to its half, and never less than the server asks for. */
export declare function backoffMs(attempt: number, error?: EvershardError): number;
/** Errors: CancelledError */
export declare function sleep(ms: number, signal?: AbortSignal): Promise<void>;
/**
 * How long, in one call, what a server answers as "not now" is asked for again: from the first time on. That nobody answers is another matter: it is
 * borne until the call's time-out. So is `overloaded`, which says itself when to come again. Source: docs/server.md, "What is tried again".
 */
export declare class Patience {
    #private;
    constructor(mostMs: number, began: number);
    bears(error: EvershardError, now: number): boolean;
    worked(): void;
}
export interface Attempts {
    /** `append`: what may be stored without an answer is OutcomeUnknownError in the end. `change`: must not be done twice, so at once. */
    kind: "read" | "append" | "change";
    /** There is another server to ask: of a change, what one says of itself is not the answer then. */
    several?: boolean | undefined;
    /** In milliseconds, as Date.now(). */
    deadline: number;
    /** Of what a server answers as `unavailable`. */
    unavailableTimeoutMs: number;
    signal?: AbortSignal | undefined;
    onRetry?: ((error: EvershardError, attempt: number) => void) | undefined;
    /** What else another try may find otherwise. */
    again?: ((error: EvershardError) => boolean) | undefined;
}
/** Tries until it works, fails for good, or would begin after the deadline. `attempt` is safe to repeat, but for a change. */
export declare function retrying<T>({ kind, several, deadline, unavailableTimeoutMs, signal, onRetry, again: also }: Attempts, attempt: () => Promise<T>): Promise<T>;
