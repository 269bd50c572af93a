// Many appends in flight on one stream, answered in the order they were given, over broken connections too.

import type { ClientDuplexStream } from "@grpc/grpc-js";

import { appendedOf, encodeAppend, type Append, type Appended } from "./append.js";
import { cancelled, decode, failure, within, type CallOptions, type Connection } from "./connection.js";
import type { Door } from "./doors.js";
import { errorOf, EvershardError, TooLargeError } from "./errors.js";
import { AppendOutcomeSchema, EventStore } from "./gen/evershard/v1/service_pb.js";
import { backoffMs, Patience, sleep } from "./retry.js";
import { WriteOutcome } from "./write_outcome.js";

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

/** `bytes`: the same for each try; `first`: see encodeAppend. `error`: it was refused, here or for its size, and is not sent any more. */
export interface Pending {
  readonly bytes?: Uint8Array | undefined;
  readonly first?: string | Uint8Array | undefined;
  readonly outcome: WriteOutcome;
  error?: EvershardError;
}

/** `bytesMax`: what is larger is refused here: sent, it would end the call of all the others. */
export function pendingOf(append: Append, bytesMax: number): Pending {
  const outcome = new WriteOutcome();
  try {
    const encoded = encodeAppend(append);
    if (encoded.bytes.length <= bytesMax) return { ...encoded, outcome };
    return {
      outcome,
      error: new TooLargeError(`an append of ${encoded.bytes.length} bytes, at most ${bytesMax} go out`),
    };
  } catch (error) {
    if (error instanceof EvershardError) return { error, outcome };
    throw error;
  }
}

/**
 * One stream of appends. A broken connection is made anew and what is unanswered is sent again, in order, with the same bytes. Time is over
 * when nothing is answered for `timeoutMs`. When it ends early, each that was taken has been given an outcome: what was sent is unknown.
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
  #led = ""; // whose order the answers of the call follow, as they said last
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

  /** Errors, behind an outcome for each that was taken: what refuses the call as a whole, or is wrong when time is over; what the source throws */
  async *outcomes(source: AsyncIterable<Pending>): AsyncGenerator<Outcome, void, void> {
    const scope = this.#connection.scope(this.#options.signal);
    const wake = () => this.#changes();
    scope.signal.addEventListener("abort", wake);
    void this.#take(source, scope.signal);
    const patience = new Patience(this.#connection.unavailableTimeoutMs, Date.now());
    try {
      for (let failed = 0; ; ++failed) {
        try {
          for await (const outcome of this.#answers(scope.signal)) {
            failed = 0;
            patience.worked();
            yield outcome;
          }
          break;
        } catch (failure) {
          if (!(failure instanceof EvershardError)) throw failure;
          if (failure.code === "cancelled" && !failure.told) throw failure;
          const error = this.#connection.failed(this.#door, failure);
          if (this.#tooLarge(error)) continue;
          for (const pending of this.#pending) if (pending.bytes && !pending.error) pending.outcome.failed(error);
          const wait = backoffMs(failed, error);
          const late = Date.now() + wait - (this.#waitingSince ?? Date.now()) >= this.#timeoutMs;
          if (!error.retryable || late || !patience.bears(error, Date.now())) {
            scope.abort(); // nothing more is taken
            for (const pending of this.#pending.splice(0)) yield { error: pending.error ?? pending.outcome.end(error) };
            throw error;
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

  /** gRPC ends a call as a whole for one message that a server does not take: the largest is one, and has its outcome. The others go on. */
  #tooLarge(error: EvershardError): boolean {
    if (error.told || error.code !== "too_large") return false;
    let largest: Pending | undefined;
    for (const pending of this.#pending)
      if (pending.bytes && !pending.error && pending.bytes.length > (largest?.bytes?.length ?? 0)) largest = pending;
    if (largest) largest.error = largest.outcome.end(error);
    return largest !== undefined;
  }

  /** Takes from the source while there is room, and writes to the call there is; without one, the next call begins with what is pending. */
  async #take(source: AsyncIterable<Pending>, signal: AbortSignal): Promise<void> {
    try {
      for await (const pending of source) {
        if (signal.aborted) break;
        this.#pending.push(pending);
        this.#pendingBytes += pending.bytes?.length ?? 0;
        if (pending.bytes && !pending.error) this.#call?.write(pending.bytes); // what it buffers is bounded by what is pending
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
          outcome = await this.#next(answers, first.outcome, signal);
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
    this.#led = "";
    for (const { bytes, error } of this.#pending) if (bytes && !error) call.write(bytes);
    if (this.#sourceEnded) call.end();
    return call[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>;
  }

  async #next(answers: AsyncIterator<Uint8Array>, write: WriteOutcome, signal: AbortSignal): Promise<Outcome> {
    this.#waitingSince ??= Date.now();
    try {
      const next = await within(answers.next(), Math.max(1, this.#timeoutMs - (Date.now() - this.#waitingSince)));
      if (next.done) throw new Error("the stream ended before all was answered");
      this.#waitingSince = undefined;
      const { outcome, led } = decode(AppendOutcomeSchema, next.value);
      this.#led = led || this.#led;
      this.#connection.hearLed(this.#led);
      if (outcome.case === "appended" && this.#door) this.#connection.worked(this.#door, outcome.value);
      if (outcome.case === "appended") return { appended: appendedOf(outcome.value) };
      if (outcome.case === "refused") {
        const error = errorOf(outcome.value);
        write.failed(error);
        return { error: write.end(error) };
      }
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
