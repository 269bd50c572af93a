// Reading: a read's events, fetched page by page as they are taken, on over broken connections.

import { encode, type AtLeast, type AtLeastField, type CallOptions, type Connection } from "./connection.js";
import { RecordedEvent } from "./event.js";
import { EvershardError, ForkChangedError, UnavailableError } from "./errors.js";
import { EventStore, ReadRequestSchema } from "./gen/evershard/v1/service_pb.js";
import { Direction } from "./gen/evershard/v1/store_pb.js";
import { splitAggregate, toNumber, toUint64 } from "./ids.js";
import type { Query } from "./query.js";
import { backoffMs, Patience, sleep } from "./retry.js";

interface Bounds {
  /** No limit without it; 0 is nothing. */
  limit?: number | undefined;
  backwards?: boolean | undefined;
  /** Inclusive: as of this position. */
  upTo?: number | undefined;
}

/** `timeoutMs`: of the whole read; without it a read may take as long as it takes. */
export interface ReadOptions extends Bounds, AtLeast, CallOptions {
  /** Exclusive. */
  after?: number | undefined;
  /** Exclusive. */
  before?: number | undefined;
  /** At most so many events of each aggregate, those met first. One without an aggregate is not counted. */
  perAggregate?: number | undefined;
}

export interface ReadAggregateOptions extends Bounds, AtLeast, CallOptions {
  /** Inclusive; without it the first, backwards the last. */
  from?: number | undefined;
}

/** Each iteration is a read of its own. Leaving the loop ends it. */
export class Reading implements AsyncIterable<RecordedEvent> {
  /** What the last iteration is bounded by, from its first event on: for `atLeast`, or to go on after. */
  watermark: number | undefined;
  /** Of the store, as the first page named it; empty: it did not. */
  #fork = "";
  readonly #connection: Connection;
  readonly #of: { query: Query; options: ReadOptions } | { aggregate: string; options: ReadAggregateOptions };

  constructor(
    connection: Connection,
    of: { query: Query; options: ReadOptions } | { aggregate: string; options: ReadAggregateOptions },
  ) {
    this.#connection = connection;
    this.#of = of;
  }

  async toArray(): Promise<RecordedEvent[]> {
    const events: RecordedEvent[] = [];
    for await (const event of this) events.push(event);
    return events;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<RecordedEvent, void, void> {
    this.watermark = undefined;
    this.#fork = "";
    const { signal, timeoutMs } = this.#of.options;
    const deadline = timeoutMs === undefined ? undefined : Date.now() + timeoutMs;
    const scope = this.#connection.scope(signal);
    const patience = new Patience(this.#connection.unavailableTimeoutMs, Date.now());
    let before: EvershardError | undefined;
    const given = { events: 0, last: undefined as RecordedEvent | undefined };
    try {
      for (let failed = 0, since = 0; ; ++failed) {
        try {
          // Whoever answers next must have come as far as the first one.
          const { atLeast, atLeastTimeoutMs = this.#connection.timeoutMs } = this.#of.options;
          if (failed === 0) since = Date.now();
          const leftMs = Math.max(0, Math.min(since + atLeastTimeoutMs, deadline ?? Infinity) - Date.now());
          const request = this.#request(
            given.events,
            given.last,
            this.#connection.atLeast(this.watermark ?? atLeast, leftMs),
          );
          if (!request) return;
          for await (const page of this.#connection.stream(EventStore.method.read, request, {
            signal: scope.signal,
            deadline,
            onFork: (fork) => {
              // All pages are of one fork, also at one address, where another one may be served from one page to the next.
              if (fork && this.#fork && fork !== this.#fork)
                throw new ForkChangedError(
                  `the store is fork ${fork} now, and the read began on fork ${this.#fork}: the store was restored, or another one is served here`,
                );
              this.#fork = fork || this.#fork;
            },
          })) {
            failed = 0;
            patience.worked();
            before = undefined;
            this.watermark ??= toNumber(page.watermark);
            for (const message of page.events) {
              given.last = new RecordedEvent(message);
              given.events += 1;
              yield given.last;
            }
            if (page.complete) return;
          }
          throw new UnavailableError("the read ended before it was complete");
        } catch (error) {
          if (!(error instanceof EvershardError)) throw error;
          const elsewhere = this.#connection.elsewhere(error);
          if (error.code === "timeout" && !error.told) throw before ?? error; // why it took so long says more
          if (!(elsewhere || (error.retryable && patience.bears(error, Date.now())))) throw error;
          before = error;
          if (failed === 0) since = Date.now();
          const wait = backoffMs(failed, error);
          if (Date.now() + wait >= (deadline ?? since + this.#connection.timeoutMs)) throw error;
          this.#connection.onRetry?.(error, failed + 1);
          await sleep(wait, scope.signal);
        }
      }
    } finally {
      scope.end();
    }
  }

  /** What is left to read after the last event that was given, as of the same watermark; nothing, where nothing is. */
  #request(events: number, last: RecordedEvent | undefined, atLeast: AtLeastField): Uint8Array | undefined {
    const { options } = this.#of;
    const { limit, backwards = false } = options;
    const left = limit === undefined || !last ? limit : limit - events;
    if (last && left === 0) return undefined;
    const upTo = this.watermark === undefined ? options.upTo : Math.min(this.watermark, options.upTo ?? this.watermark);
    const bounds = {
      ...(left !== undefined && { limit: toUint64(left, "limit") }),
      ...(upTo !== undefined && { upTo: toUint64(upTo, "upTo") }),
      direction: backwards ? Direction.BACKWARDS : Direction.FORWARDS,
    };
    if ("query" in this.#of) {
      let { after = 0, before } = this.#of.options;
      const { perAggregate } = this.#of.options;
      // What was given counts when the read goes on.
      const perAggregateFrom =
        perAggregate === undefined || !last ? undefined : backwards ? (before ?? (upTo ?? last.position) + 1) : after;
      if (last && backwards) before = last.position;
      else if (last) after = last.position;
      return encode(ReadRequestSchema, {
        query: this.#of.query.message(),
        options: {
          ...bounds,
          after: toUint64(after, "after"),
          ...(before !== undefined && { before: toUint64(before, "before") }),
          ...(perAggregate !== undefined && { perAggregate: toUint64(perAggregate, "perAggregate") }),
          ...(perAggregateFrom !== undefined && { perAggregateFrom: toUint64(perAggregateFrom, "perAggregateFrom") }),
        },
        ...atLeast,
      });
    }
    let { from } = this.#of.options;
    if (last) from = last.seqNr + (backwards ? -1 : 1);
    if (last && from === 0) return undefined;
    return encode(ReadRequestSchema, {
      aggregate: splitAggregate(this.#of.aggregate),
      stream: { ...bounds, ...(from !== undefined && { from: toUint64(from, "from") }) },
      ...atLeast,
    });
  }
}
