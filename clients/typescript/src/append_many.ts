// Many appends in flight on one stream, answered in the order they were given, over broken connections too.

import type { ClientDuplexStream } from "@grpc/grpc-js";

import { appendedOf, encodeAppend, type Append, type Appended } from "./append.js";
import { cancelled, decode, failure, within, type CallOptions, type Connection } from "./connection.js";
import type { Door } from "./doors.js";
import { errorOf, EvershardError, OutcomeUnknownError } from "./errors.js";
import { AppendOutcomeSchema, EventStore } from "./gen/evershard/v1/service_pb.js";
import { backoffMs, Patience, sleep } from "./retry.js";

/** Of each append its own. */
export type Outcome =
  | { readonly appended: Appended; readonly error?: undefined }
  | { readonly appended?: undefined; readonly error: EvershardError };

export interface AppendManyOptions extends CallOptions {
  /** How many may be taken from the source whose outcome was not taken yet; then no more are asked for. 256 */
  inFlightMax?: number | undefined;
  /** And how many bytes of them. 16 MiB */
  inFlightBytesMax?: number | undefined;
}

export type Appends = AsyncIterable<Append> | Iterable<Append>;

/** `bytes`: the same for each try; `first`: see encodeAppend. `error`: it was refused here, and is not sent. */
export type Pending =
  | { bytes: Uint8Array; first?: string | Uint8Array | undefined; error?: undefined }
  | { bytes?: undefined; error: EvershardError };

export function pendingOf(append: Append): Pending {
  try {
    return encodeAppend(append);
  } catch (error) {
    if (error instanceof EvershardError) return { error };
    throw error;
  }
}

/**
 * One stream of appends. A broken connection is made anew and what is unanswered is sent again, in order, with the same bytes. Time is over
 * when nothing is answered for `timeoutMs`.
 */
export class AppendStream {
  readonly #connection: Connection;
  readonly #node: number;
  readonly #options: AppendManyOptions;
  readonly #appendsMax: number;
  readonly #bytesMax: number;
  readonly #timeoutMs: number;
  readonly #pending: Pending[] = []; // in order: the first is answered first
  #pendingBytes = 0;
  #sourceEnded = false;
  #sourceError: { error: unknown } | undefined;
  #call: ClientDuplexStream<Uint8Array, Uint8Array> | undefined;
  #door: Door | undefined;
  #waitingSince: number | undefined; // for the first one's answer, over all tries
  #changed!: Promise<void>;
  #tell: () => void = () => {};

  /** `node`: to its door, where that is open when a call begins; 0: to any. */
  constructor(connection: Connection, options: AppendManyOptions, node: number) {
    this.#connection = connection;
    this.#node = node;
    this.#options = options;
    this.#appendsMax = options.inFlightMax ?? 256;
    this.#bytesMax = options.inFlightBytesMax ?? 16 << 20;
    this.#timeoutMs = options.timeoutMs ?? connection.timeoutMs;
    this.#changes();
  }

  /** Errors: OutcomeUnknownError: time is over; what refuses the call as a whole; what the source throws, when all it gave before is answered */
  async *outcomes(source: AsyncIterable<Pending>): AsyncGenerator<Outcome, void, void> {
    const scope = this.#connection.scope(this.#options.signal);
    const wake = () => this.#changes();
    scope.signal.addEventListener("abort", wake);
    void this.#take(source, scope.signal);
    let unknown = false;
    const patience = new Patience(this.#connection.unavailableTimeoutMs, Date.now());
    try {
      for (let failed = 0; ; ++failed) {
        try {
          for await (const outcome of this.#answers(scope.signal)) {
            failed = 0;
            unknown = false;
            patience.worked();
            yield outcome;
          }
          break;
        } catch (error) {
          if (!(error instanceof EvershardError) || !error.retryable) throw error;
          this.#connection.failed(this.#door, error);
          unknown ||= error.outcomeUnknown;
          const wait = backoffMs(failed, error);
          if (
            !patience.bears(error, Date.now()) ||
            Date.now() + wait - (this.#waitingSince ?? Date.now()) >= this.#timeoutMs
          ) {
            if (!unknown) throw error;
            throw new OutcomeUnknownError(
              `no answer says whether the last ${this.#pending.length} appends are stored: ${error.message}`,
              error.details,
              { cause: error },
            );
          }
          this.#connection.onRetry?.(error, failed + 1);
          await sleep(wait, scope.signal);
        }
      }
      if (this.#sourceError) throw this.#sourceError.error;
    } finally {
      scope.abort(); // ends the taking
      scope.end();
    }
  }

  /** Takes from the source while there is room, and writes to the call there is; without one, the next call begins with what is pending. */
  async #take(source: AsyncIterable<Pending>, signal: AbortSignal): Promise<void> {
    try {
      for await (const pending of source) {
        if (signal.aborted) break;
        this.#pending.push(pending);
        this.#pendingBytes += pending.bytes?.length ?? 0;
        if (pending.bytes) this.#call?.write(pending.bytes); // what it buffers is bounded by what is pending
        this.#changes();
        while (!signal.aborted && (this.#pending.length >= this.#appendsMax || this.#pendingBytes >= this.#bytesMax))
          await this.#changed;
        if (signal.aborted) break;
      }
    } catch (error) {
      this.#sourceError = { error };
    }
    this.#sourceEnded = true;
    this.#call?.end();
    this.#changes();
  }

  /** Of one call, which begins with all that is pending. Ends when all is answered and nothing more comes. */
  async *#answers(signal: AbortSignal): AsyncGenerator<Outcome, void, void> {
    const cancel = () => this.#call?.cancel();
    signal.addEventListener("abort", cancel, { once: true });
    let answers: AsyncIterator<Uint8Array> | undefined;
    try {
      for (;;) {
        if (signal.aborted) throw cancelled(signal);
        const first = this.#pending[0];
        if (!first && this.#sourceEnded) return;
        if (!first) {
          await this.#changed;
          continue;
        }
        let outcome: Outcome | undefined = first.error && { error: first.error };
        if (!outcome) {
          answers ??= await this.#open(signal);
          outcome = await this.#next(answers, signal);
        }
        this.#pending.shift();
        this.#pendingBytes -= first.bytes?.length ?? 0;
        this.#changes();
        yield outcome;
      }
    } finally {
      signal.removeEventListener("abort", cancel);
      this.#call?.cancel();
      this.#call = undefined;
    }
  }

  async #open(signal: AbortSignal): Promise<AsyncIterator<Uint8Array>> {
    this.#waitingSince ??= Date.now();
    this.#door = this.#connection.doorOf(this.#node) ?? (await this.#connection.pick());
    await this.#connection.connected(this.#door, this.#waitingSince + this.#timeoutMs, signal);
    const call = this.#connection.duplex(this.#door, EventStore.method.appendMany);
    this.#call = call;
    for (const { bytes } of this.#pending) if (bytes) call.write(bytes);
    if (this.#sourceEnded) call.end();
    return call[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>;
  }

  async #next(answers: AsyncIterator<Uint8Array>, signal: AbortSignal): Promise<Outcome> {
    this.#waitingSince ??= Date.now();
    try {
      const next = await within(answers.next(), Math.max(1, this.#timeoutMs - (Date.now() - this.#waitingSince)));
      if (next.done) throw new Error("the stream ended before all was answered");
      this.#waitingSince = undefined;
      const { outcome } = decode(AppendOutcomeSchema, next.value);
      if (outcome.case === "appended" && this.#door) this.#connection.worked(this.#door, outcome.value);
      if (outcome.case === "appended") return { appended: appendedOf(outcome.value) };
      if (outcome.case === "refused") return { error: errorOf(outcome.value) };
      throw new EvershardError("the server sent an outcome that is neither appended nor refused");
    } catch (error) {
      throw failure(error, signal);
    }
  }

  /** Whoever waits for a change looks again. */
  #changes(): void {
    this.#tell();
    this.#changed = new Promise((resolve) => (this.#tell = resolve));
  }
}
