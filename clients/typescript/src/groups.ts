// GroupWorker: a worker of a consumer group: one Work stream, and the next one when it breaks.

import type { ClientDuplexStream } from "@grpc/grpc-js";

import { cancelled, decode, encode, failure, within, type Connection } from "./connection.js";
import type { Door } from "./doors.js";
import { errorOf, EvershardError, FencedError, UnavailableError } from "./errors.js";
import { RecordedEvent } from "./event.js";
import {
  Groups,
  WorkRequestSchema,
  WorkResponseSchema,
  WorkRequest_Settlement_Kind as Kind,
  type GroupInfo as GroupInfoMessage,
  type WorkRequest_SettlementSchema,
  type WorkResponse,
} from "./gen/evershard/v1/groups_pb.js";
import { toNumber, toUint64 } from "./ids.js";
import { backoffMs, sleep } from "./retry.js";
import type { MessageInitShape } from "@bufbuild/protobuf";

/** An event that a worker was given: its own until it is settled, or its lease ran out. */
export interface GroupDelivery {
  readonly event: RecordedEvent;
  readonly delivery: bigint;
  /** From 1. */
  readonly attempt: number;
}

export interface WorkerOptions {
  /** As it is listed. */
  name?: string | undefined;
  /** Events that it may have at a time. 16 */
  credit?: number | undefined;
  /** Ends the worker: the loop ends, and it leaves the group. */
  signal?: AbortSignal | undefined;
}

/** How a group is; see docs/groups.md. */
export interface GroupInfo {
  readonly name: string;
  readonly position: number;
  readonly readTo: number;
  readonly head: number;
  readonly unsettled: number;
  readonly inFlight: number;
  readonly waiting: number;
  readonly parked: number;
  readonly acknowledged: number;
  readonly workers: readonly string[];
}

export function groupInfoOf(m: GroupInfoMessage): GroupInfo {
  return {
    name: m.name,
    position: toNumber(m.position),
    readTo: toNumber(m.readTo),
    head: toNumber(m.head),
    unsettled: toNumber(m.unsettled),
    inFlight: toNumber(m.inFlight),
    waiting: toNumber(m.waiting),
    parked: toNumber(m.parked),
    acknowledged: toNumber(m.acknowledged),
    workers: m.workers.map((one) => one.name),
  };
}

type Settlement = MessageInitShape<typeof WorkRequest_SettlementSchema>;
interface Waits {
  resolve: (settled: boolean) => void;
  reject: (error: EvershardError) => void;
}

/** From joining to the end of its stream. */
interface Stay {
  readonly call: ClientDuplexStream<Uint8Array, Uint8Array>;
  readonly door: Door;
  leaseMs: number;
  saidAt: number;
  /** What is not taken yet. */
  renewedAt: number;
  takesBegun: boolean;
  queue: GroupDelivery[];
  readonly batches: Map<bigint, Waits>;
  over?: EvershardError;
  ended?: Promise<void>;
}

/**
 * Takes events one by one, in a loop or by next(), and settles each. Every call says that it is there; what takes longer than a lease calls renew() now
 * and then, or others are given its events. A broken connection is made again: what was not settled comes again, and who settles it meanwhile is told
 * so by `false`, not by an error that would end a loop. To be closed, or taken with `await using`.
 */
export class GroupWorker implements AsyncIterable<GroupDelivery>, AsyncDisposable {
  readonly #connection: Connection;
  readonly #group: string;
  readonly #options: WorkerOptions;
  readonly #taken = new WeakMap<GroupDelivery, Stay>();
  #stay: Stay | undefined;
  #lastBatch = 0n;
  #closed = false;
  #changed!: Promise<void>;
  #tell: () => void = () => {};

  constructor(connection: Connection, group: string, options: WorkerOptions) {
    this.#connection = connection;
    this.#group = group;
    this.#options = options;
    this.#changes();
  }

  /** Errors: NotFoundError: the group is gone; what trying again does not help */
  async *[Symbol.asyncIterator](): AsyncGenerator<GroupDelivery, void, void> {
    for (;;) {
      const delivery = await this.next();
      if (delivery) yield delivery;
      else if (this.#ended) return;
    }
  }

  /** Nothing: there was none for so long (absent: waits on and on), or it or its client was closed, or told to end: then it has left. */
  async next(timeoutMs?: number): Promise<GroupDelivery | undefined> {
    try {
      const delivery = await this.#next(timeoutMs);
      if (delivery || !this.#ended) return delivery;
    } catch (error) {
      if (!this.#ended) throw error;
    }
    await this.close();
    return undefined;
  }
  get #ended(): boolean {
    return this.#closed || this.#connection.closed || this.#options.signal?.aborted === true;
  }

  async #next(timeoutMs?: number): Promise<GroupDelivery | undefined> {
    const scope = this.#connection.scope(this.#options.signal);
    const wake = () => this.#changes();
    scope.signal.addEventListener("abort", wake);
    const until = timeoutMs === undefined ? Infinity : Date.now() + timeoutMs;
    try {
      for (let failed = 0; !this.#closed && !scope.signal.aborted; ) {
        const changed = this.#changed;
        const stay = this.#stay;
        let waitMs: number;
        if (!stay || stay.over) {
          try {
            await this.#open(scope.signal);
            continue;
          } catch (error) {
            if (!(error instanceof EvershardError) || !(error.retryable || error.code === "timeout")) throw error;
            waitMs = backoffMs(failed++, error);
            if (Date.now() >= until) return undefined;
            await sleep(Math.min(waitMs, until - Date.now()), scope.signal);
            continue;
          }
        }
        failed = 0;
        // It hung for a lease: others have these, and may have settled them. The server is about to say so.
        if (Date.now() - stay.saidAt >= stay.leaseMs) stay.queue = [];
        this.#alive(stay);
        const delivery = stay.queue.shift();
        if (delivery) {
          this.#taken.set(delivery, stay);
          this.#begin(stay, delivery);
          return delivery;
        }
        waitMs = Math.min(stay.leaseMs / 3, until - Date.now());
        if (waitMs <= 0) return undefined;
        await within(changed, waitMs).catch(() => {});
      }
      return undefined;
    } finally {
      scope.signal.removeEventListener("abort", wake);
      scope.end();
    }
  }

  /** It is done. Returns: `true` when that is durable; `false`: the connection broke, or a lease ran out: it comes again, here or elsewhere */
  acknowledge(delivery: GroupDelivery): Promise<boolean> {
    return this.#settle(delivery, { kind: Kind.ACKNOWLEDGE });
  }
  /** Again later (`afterMs`: absent: as the group is set), or parked, when that was its last attempt. Returns: as acknowledge() */
  reject(delivery: GroupDelivery, reason: string, afterMs?: number): Promise<boolean> {
    return this.#settle(delivery, {
      kind: Kind.REJECT,
      reason,
      ...(afterMs !== undefined && { afterMs: toUint64(afterMs, "afterMs") }),
    });
  }
  /** Aside, until somebody replays or discards it. Returns: as acknowledge(). Errors: OverloadedError: no more can be parked */
  park(delivery: GroupDelivery, reason: string): Promise<boolean> {
    return this.#settle(delivery, { kind: Kind.PARK, reason });
  }

  /** Their leases begin anew. Returns: `false`: they come again, as in acknowledge() */
  renew(...deliveries: GroupDelivery[]): boolean {
    const stay = this.#stay;
    if (!stay || stay.over || deliveries.some((one) => (this.#taken.get(one) ?? stay) !== stay)) return false;
    this.#renew(stay, deliveries);
    return true;
  }

  /** Leaves; what it has is given to others, and no attempt is counted. Any number of times. */
  async close(): Promise<void> {
    this.#closed = true;
    const stay = this.#stay;
    this.#stay = undefined;
    this.#changes();
    if (!stay || stay.over) return;
    this.#write(stay, { leave: true });
    await within(stay.ended!, 2_000).catch(() => {});
    stay.call.cancel();
  }
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #open(signal: AbortSignal): Promise<void> {
    const door = await this.#connection.pick();
    if (signal.aborted) throw cancelled(signal);
    const call = this.#connection.duplex(door, Groups.method.work);
    const stay: Stay = {
      call,
      door,
      leaseMs: 30_000,
      saidAt: 0,
      renewedAt: 0,
      takesBegun: false,
      queue: [],
      batches: new Map(),
    };
    this.#write(stay, {
      join: {
        group: this.#group,
        worker: this.#options.name ?? `node:${process.pid}`,
        credit: this.#options.credit ?? 16,
      },
    });
    const answers = call[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>;
    try {
      const first = await within(answers.next(), this.#connection.timeoutMs);
      if (first.done) throw new UnavailableError("the server ended the worker's stay");
      const { joined } = decode(WorkResponseSchema, first.value);
      stay.leaseMs = joined ? toNumber(joined.leaseMs) : stay.leaseMs;
      stay.takesBegun = joined?.takesBegun ?? false;
    } catch (cause) {
      call.cancel();
      throw this.#connection.failed(door, failure(cause, signal));
    }
    this.#connection.worked(door, {});
    if (this.#closed) return call.cancel();
    this.#stay = stay;
    stay.ended = this.#read(stay, answers);
  }

  async #read(stay: Stay, answers: AsyncIterator<Uint8Array>): Promise<void> {
    let over: EvershardError = new UnavailableError("the server ended the worker's stay");
    try {
      for (let next = await answers.next(); !next.done; next = await answers.next())
        this.#came(stay, decode(WorkResponseSchema, next.value));
    } catch (error) {
      over = failure(error, new AbortController().signal);
    }
    stay.over = over;
    stay.queue = [];
    for (const waits of stay.batches.values()) waits.resolve(false); // nobody knows: it may come again
    stay.batches.clear();
    this.#changes();
  }

  #came(stay: Stay, message: WorkResponse): void {
    if (message.deliveries.length > 0 && stay.queue.length === 0) stay.renewedAt = Date.now();
    for (const { event, delivery, attempt } of message.deliveries)
      if (event) stay.queue.push({ event: new RecordedEvent(event), delivery, attempt });
    if (message.lost.length > 0) {
      const lost = new Set(message.lost.map(toNumber));
      stay.queue = stay.queue.filter(({ event }) => !lost.has(event.position));
    }
    const outcome = message.outcomes[0];
    const waits = outcome && stay.batches.get(message.batch);
    if (waits) {
      stay.batches.delete(message.batch);
      const refused = outcome.refused && errorOf(outcome.refused);
      if (!refused || refused instanceof FencedError) waits.resolve(!refused);
      else waits.reject(refused);
    }
    this.#changes();
  }

  #settle(delivery: GroupDelivery, settlement: Settlement): Promise<boolean> {
    const stay = this.#taken.get(delivery) ?? this.#stay;
    if (!stay || stay.over || stay !== this.#stay) return Promise.resolve(false);
    const batch = ++this.#lastBatch;
    return new Promise((resolve, reject) => {
      stay.batches.set(batch, { resolve, reject });
      this.#write(stay, {
        batch,
        settlements: [
          { ...settlement, position: toUint64(delivery.event.position, "position"), delivery: delivery.delivery },
        ],
      });
    });
  }

  /** A quarter of a lease without a word: what is not taken yet stays its own. */
  #alive(stay: Stay): void {
    const now = Date.now(); // what it settles says that it is there, and nothing of what it has not taken yet
    if (now - stay.saidAt >= stay.leaseMs / 4 || (stay.queue.length > 0 && now - stay.renewedAt >= stay.leaseMs / 4))
      this.#renew(stay, []);
  }
  /** Its handler begins: only that, or being settled, counts as an attempt. The answer has no batch: nobody waits for it. */
  #begin(stay: Stay, { event, delivery }: GroupDelivery): void {
    if (stay.takesBegun)
      this.#write(stay, {
        settlements: [{ kind: Kind.BEGIN, position: toUint64(event.position, "position"), delivery }],
      });
  }
  #renew(stay: Stay, deliveries: readonly GroupDelivery[]): void {
    stay.renewedAt = Date.now();
    this.#write(stay, {
      renew: [...deliveries, ...stay.queue].map(({ event }) => toUint64(event.position, "position")),
    });
  }
  #write(stay: Stay, request: MessageInitShape<typeof WorkRequestSchema>): void {
    stay.saidAt = Date.now();
    stay.call.write(encode(WorkRequestSchema, request));
  }

  /** Whoever waits for a change looks again. */
  #changes(): void {
    this.#tell();
    this.#changed = new Promise((resolve) => (this.#tell = resolve));
  }
}
