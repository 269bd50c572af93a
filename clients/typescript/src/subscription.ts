// Subscription: a read that never ends, without a gap or a double over broken connections.

import { encode, type CallOptions, type Connection } from "./connection.js";
import { CancelledError, EvershardError, ForkChangedError, UnavailableError } from "./errors.js";
import { RecordedEvent } from "./event.js";
import {
  EventStore,
  SubscribeRequestSchema,
  SubscribeResponse_Kind as Kind,
  type SubscribeResponse,
} from "./gen/evershard/v1/service_pb.js";
import { toNumber, toUint64 } from "./ids.js";
import type { Query } from "./query.js";
import { backoffMs, sleep } from "./retry.js";

/**
 * `watermark`: everything up to it was looked at and, if it matches, given: what to go on after. `caught_up`: from now on events come as they are
 * appended; `fell_behind`: more than a page is waiting; `heartbeat`: nothing new. After a broken connection `caught_up` comes again.
 */
export type SubscriptionItem =
  | { readonly kind: "events"; readonly events: readonly RecordedEvent[]; readonly watermark: number }
  | { readonly kind: "caught_up" | "fell_behind" | "heartbeat"; readonly watermark: number };

export interface SubscribeOptions {
  /** Exclusive; 0 is from the beginning. Absent: from now on. */
  after?: number | undefined;
  /** Of one item. */
  pageEventsMax?: number | undefined;
  /** At least 100; 0: none. Three of them without a word are a broken connection. 10,000 */
  heartbeatMs?: number | undefined;
  /** Told what is wrong, once the server has been away for a second, and `undefined` when it is back; each once an absence. */
  onAway?: ((error: EvershardError | undefined) => void) | undefined;
  /** Ends the subscription: the loop ends. */
  signal?: AbortSignal | undefined;
}

const kinds = {
  [Kind.EVENTS]: "events",
  [Kind.CAUGHT_UP]: "caught_up",
  [Kind.FELL_BEHIND]: "fell_behind",
  [Kind.HEARTBEAT]: "heartbeat",
} as const;

const awayAfterMs = 1_000; // a shorter break is nobody's business

/** Left and iterated again, it goes on behind what was taken. */
export class Subscription implements AsyncIterable<SubscriptionItem> {
  /** Of the last item that was taken; in the middle of one, of the last of its events that events() gave. */
  watermark: number | undefined;
  /** Why the server is, while it has been for a second. `undefined`: it is there. */
  away: EvershardError | undefined;
  readonly #connection: Connection;
  readonly #query: Query;
  readonly #options: SubscribeOptions;
  readonly #head: (options: CallOptions) => Promise<number>;
  #at: number | undefined;
  /** The fork of the store that was followed so far; empty: not known yet. */
  #fork = "";
  /** Of an item that events() was left in the middle of. */
  #rest: SubscriptionItem | undefined;

  constructor(
    connection: Connection,
    query: Query,
    options: SubscribeOptions,
    head: (options: CallOptions) => Promise<number>,
  ) {
    this.#connection = connection;
    this.#query = query;
    this.#options = options;
    this.#head = head;
    this.#at = options.after;
  }

  /** The events alone. */
  async *events(): AsyncGenerator<RecordedEvent, void, void> {
    for await (const item of this) {
      if (item.kind !== "events") continue;
      const { events } = item;
      let given = 0;
      try {
        for (const event of events) {
          given += 1;
          this.watermark = given < events.length ? event.position : item.watermark;
          yield event;
        }
      } finally {
        if (given < events.length) this.#rest = { ...item, events: events.slice(given) };
      }
    }
  }

  /** Tries to connect until it is cancelled. Errors: what trying again does not help, such as InvalidQueryError, UnauthenticatedError, ForkChangedError */
  async *[Symbol.asyncIterator](): AsyncGenerator<SubscriptionItem, void, void> {
    const { heartbeatMs = 10_000 } = this.#options;
    const scope = this.#connection.scope(this.#options.signal);
    const { signal } = scope;
    try {
      if (this.#rest) {
        const rest = this.#rest;
        this.#rest = undefined;
        this.watermark = rest.watermark;
        yield rest;
      }
      for (let failed = 0, brokenAt = 0; ; ++failed) {
        try {
          this.#at ??= await this.#head({ signal }); // "now" is once, not whenever a connection is made
          if (this.#at > 0) this.#fork ||= this.#connection.fork; // a position is of the fork that this client was answered by
          let led = ""; // whose order the answers follow, as they said last
          const request = this.#request(this.#at, heartbeatMs, this.#fork);
          for await (const answer of this.#connection.stream(EventStore.method.subscribe, request, {
            signal,
            stallMs: heartbeatMs * 3 || undefined,
          })) {
            led = answer.led || led;
            this.#connection.hearLed(led);
            failed = 0;
            this.#tellAway(undefined);
            if (answer.forkId && this.#fork && answer.forkId !== this.#fork)
              throw new ForkChangedError(
                `the store is fork ${answer.forkId} now, and fork ${this.#fork} was followed, up to position ${this.#at}`,
              );
            this.#fork = answer.forkId || this.#fork;
            const item = itemOf(answer);
            if (!item) continue;
            this.#at = this.watermark = Math.max(this.#at, item.watermark); // another node than before may be behind what was given
            yield { ...item, watermark: this.#at };
          }
          throw new UnavailableError("the server ended the subscription");
        } catch (error) {
          if (!(error instanceof EvershardError) || !(error.retryable || error.code === "timeout")) throw error;
          if (failed === 0) brokenAt = Date.now();
          if (Date.now() - brokenAt >= awayAfterMs) this.#tellAway(error);
          this.#connection.onRetry?.(error, failed + 1);
          await sleep(backoffMs(failed, error), signal);
        }
      }
    } catch (error) {
      if (!(error instanceof CancelledError && signal.aborted)) throw error;
    } finally {
      scope.end();
    }
  }

  #tellAway(why: EvershardError | undefined): void {
    const changed = (why === undefined) !== (this.away === undefined);
    this.away = why;
    if (changed) this.#options.onAway?.(why);
  }

  #request(after: number, heartbeatMs: number, forkId: string): Uint8Array {
    const { pageEventsMax } = this.#options;
    return encode(SubscribeRequestSchema, {
      query: this.#query.message(),
      after: toUint64(after, "after"),
      heartbeatMs,
      forkId,
      ...(pageEventsMax !== undefined && { pageEventsMax }),
    });
  }
}

/** Nothing, where it is of a kind that only a newer client knows. */
function itemOf({ kind, events, watermark }: SubscribeResponse): SubscriptionItem | undefined {
  if (kind === Kind.UNSPECIFIED || !(kind in kinds)) return undefined;
  const name = kinds[kind];
  return name === "events"
    ? { kind: name, events: events.map((event) => new RecordedEvent(event)), watermark: toNumber(watermark) }
    : { kind: name, watermark: toNumber(watermark) };
}
