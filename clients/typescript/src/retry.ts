// When to try again: only what is safe, within the call's time, with a pause that grows.

import { setTimeout as pause } from "node:timers/promises";

import { CancelledError, EvershardError, UnavailableError } from "./errors.js";
import { WriteOutcome } from "./write_outcome.js";

const backoffMsMin = 10;
const backoffMsMax = 500;

/** 10, 20, 40 .. 500 ms, each less a random part of up to its half, and never less than the server asks for. */
export function backoffMs(attempt: number, error?: EvershardError): number {
  const full = Math.min(backoffMsMax, backoffMsMin * 2 ** Math.min(attempt, 16));
  return Math.max(full * (0.5 + Math.random() / 2), error?.details.retryAfterMs ?? 0);
}

/** Errors: CancelledError */
export async function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  try {
    await pause(ms, undefined, signal && { signal });
  } catch (cause) {
    throw new CancelledError("cancelled while waiting to try again", {}, { cause: signal?.reason ?? cause });
  }
}

/**
 * How long, in one call, what a server answers as "not now" is asked for again: from the first time on. That nobody answers is another matter: it is
 * borne until the call's time-out. So is `overloaded`, which says itself when to come again. Source: docs/server.md, "What is tried again".
 */
export class Patience {
  readonly #mostMs: number;
  readonly #began: number;
  #since: number | undefined;

  constructor(mostMs: number, began: number) {
    this.#mostMs = mostMs;
    this.#began = began;
  }

  bears(error: EvershardError, now: number): boolean {
    if (!error.told || error.code === "overloaded") return true;
    if (error.code === "timeout") return now - this.#began < this.#mostMs; // the server has waited itself
    this.#since ??= now;
    return now - this.#since < this.#mostMs;
  }
  worked(): void {
    this.#since = undefined;
  }
}

export interface Attempts {
  /** `append`: names itself; what may be stored without an answer is OutcomeUnknownError in the end. `change`: must not be done twice, so at once. */
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

/** It did not arrive, or was not taken. */
function notDone(error: EvershardError, several: boolean): boolean {
  return error.retryable && (error.told ? several || error.code !== "unavailable" : !error.outcomeUnknown);
}

/** Tries until it works, fails for good, or would begin after the deadline. `attempt` is safe to repeat, but for a change. */
export async function retrying<T>(
  { kind, several = false, deadline, unavailableTimeoutMs, signal, onRetry, again: also }: Attempts,
  attempt: () => Promise<T>,
): Promise<T> {
  const outcome = new WriteOutcome();
  let before: EvershardError | undefined;
  const patience = new Patience(unavailableTimeoutMs, Date.now());
  for (let tried = 0; ; ++tried) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof EvershardError)) throw error;
      if (kind !== "read") outcome.failed(error);
      const elsewhere = also?.(error) === true;
      const again =
        kind === "change"
          ? notDone(error, several) && !outcome.unknown
          : error.retryable || (kind === "append" && error.code === "timeout") || elsewhere;
      const isLasting = error instanceof UnavailableError && error.lasting;
      const wait = backoffMs(tried, error);
      const borne = elsewhere || patience.bears(error, Date.now());
      if (!again || isLasting || !borne || Date.now() + wait >= deadline) {
        const late = error.code === "timeout" && (!error.told || kind === "read");
        // Why it took so long says more. What a signal cancels is told as that: an append may be stored then.
        throw error.code === "cancelled" && !error.told ? error : outcome.end(late ? (before ?? error) : error);
      }
      before = error;
      onRetry?.(error, tried + 1);
      await sleep(wait, signal);
    }
  }
}
