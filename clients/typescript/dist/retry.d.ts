import { EvershardError } from "./errors.js";
/** 10, 20, 40 .. 500 ms, each less a random part of up to its half, and never less than the server asks for. */
export declare function backoffMs(attempt: number, error?: EvershardError): number;
/** Errors: CancelledError */
export declare function sleep(ms: number, signal?: AbortSignal): Promise<void>;
export interface Attempts {
    /** `append`: what may be stored without an answer is OutcomeUnknownError in the end. */
    kind: "read" | "append";
    /** In milliseconds, as Date.now(). */
    deadline: number;
    signal?: AbortSignal | undefined;
    onRetry?: ((error: EvershardError, attempt: number) => void) | undefined;
    /** What else another try may find otherwise. */
    again?: ((error: EvershardError) => boolean) | undefined;
}
/** Tries until it works, fails for good, or would begin after the deadline. `attempt` is safe to repeat. */
export declare function retrying<T>({ kind, deadline, signal, onRetry, again: also }: Attempts, attempt: () => Promise<T>): Promise<T>;
