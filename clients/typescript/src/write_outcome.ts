// WriteOutcome: what a write ends with, where tries may have arrived whose answer nobody heard.

import { EvershardError, OutcomeUnknownError, type Code } from "./errors.js";

/** A server that says so has looked at the write: an earlier try that was stored would have been answered with that. */
const decisions: readonly Code[] = [
  "version_conflict",
  "condition_failed",
  "duplicate_event",
  "already_exists",
  "not_found",
  "invalid_argument",
  "invalid_query",
  "too_large",
];

/**
 * Of one write, over all its tries. Once a byte of a try may have arrived, it is unknown whether the write was done until a server answers by looking
 * at the write: that a token is refused, or a shard closed, or a queue full, says nothing about the try before.
 * Source: docs/server.md, "What is tried again"; tests/clients/outcomes.json has the cases.
 */
export class WriteOutcome {
  #unknown = false;

  /** A try of it may have arrived, and nobody has answered for it. */
  get unknown(): boolean {
    return this.#unknown;
  }
  /** A try ended so. What a store says that has failed is told as it is: that the outcome is unknown is its meaning. */
  failed(error: EvershardError): void {
    this.#unknown ||= error.outcomeUnknown && error.code !== "io";
  }
  /** What the caller is told, when `last` is what the last try ended with. */
  end(last: EvershardError): EvershardError {
    const answered = !this.#unknown || (last.told && decisions.includes(last.code));
    if (answered || last instanceof OutcomeUnknownError) return last;
    const error = new OutcomeUnknownError(
      `no answer says whether it is stored, or done; the same again tells: ${last.message}`,
      last.details,
      { cause: last },
    );
    error.told = last.told;
    return error;
  }
}
