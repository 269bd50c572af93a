// When to try again: only what is safe, within the call's time, with a pause that grows.
import { setTimeout as pause } from "node:timers/promises";
import { CancelledError, EvershardError, OutcomeUnknownError } from "./errors.js";
const backoffMsMin = 10;
const backoffMsMax = 500;
/** 10, 20, 40 .. 500 ms, each less a random part of up to its half, and never less than the server asks for. */
export function backoffMs(attempt, error) {
    const full = Math.min(backoffMsMax, backoffMsMin * 2 ** Math.min(attempt, 16));
    return Math.max(full * (0.5 + Math.random() / 2), error?.details.retryAfterMs ?? 0);
}
/** Errors: CancelledError */
export async function sleep(ms, signal) {
    try {
        await pause(ms, undefined, signal && { signal });
    }
    catch (cause) {
        throw new CancelledError("cancelled while waiting to try again", {}, { cause: signal?.reason ?? cause });
    }
}
/** It did not arrive, or was not taken. */
function notDone(error, several) {
    return error.retryable && (error.told ? several || error.code !== "unavailable" : !error.outcomeUnknown);
}
/** Tries until it works, fails for good, or would begin after the deadline. `attempt` is safe to repeat, but for a change. */
export async function retrying({ kind, several = false, deadline, signal, onRetry, again: also }, attempt) {
    let unknown = false;
    let before;
    for (let tried = 0;; ++tried) {
        try {
            return await attempt();
        }
        catch (error) {
            if (!(error instanceof EvershardError))
                throw error;
            unknown ||= error.outcomeUnknown;
            if (kind === "change" && unknown && (error.retryable || error.code === "timeout")) {
                throw new OutcomeUnknownError(`no answer says whether it was done: ${error.message}`, error.details, { cause: error });
            }
            const again = kind === "change" ? notDone(error, several) : error.retryable || (kind === "append" && error.code === "timeout") || also?.(error) === true;
            const wait = backoffMs(tried, error);
            if (!again && !(error.code === "timeout" && Date.now() >= deadline))
                throw error;
            if (Date.now() + wait >= deadline) {
                if (kind === "append" && unknown)
                    throw new OutcomeUnknownError(`no answer says whether it is stored: ${error.message}`, error.details, { cause: error });
                throw error.code === "timeout" ? before ?? error : error; // why it took so long says more
            }
            before = error;
            onRetry?.(error, tried + 1);
            await sleep(wait, signal);
        }
    }
}
