import { EvershardError } from "./errors.js";
/** 10, 20, 40 .. 500 ms, each less a random part of up to its half, and never less than the server asks for. */
export declare function backoffMs(attempt: number, error?: EvershardError): number;
/** Errors: CancelledError */
export declare function sleep(ms: number, signal?: AbortSignal): Promise<void>;
export interface Attempts {
    /** `append`: what may be stored without an answer is OutcomeUnknownError in the end. `change`: must not be done twice, so at once. */
    kind: "read" | "append" | "change";
    /** There is another server to ask: of a change, what one says of itself is not the answer then. */
    several?: boolean | undefined;
    /** In milliseconds, as Date.now(). */
    deadline: number;
    signal?: AbortSignal | undefined;
    onRetry?: ((error: EvershardError, attempt: number) => void) | undefined;
    /** What else another try may find otherwise. */
    again?: ((error: EvershardError) => boolean) | undefined;
}
/** Tries until it works, fails for good, or would begin after the deadline. `attempt` is safe to repeat, but for a change. */
export declare function retrying<T>({ kind, several, deadline, signal, onRetry, again: also }: Attempts, attempt: () => Promise<T>): Promise<T>;
