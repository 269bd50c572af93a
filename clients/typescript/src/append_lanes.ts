// Many appends by several streams: one to each node that decides some of them; their outcomes in the order the appends were given.

import {
  AppendStream,
  pendingOf,
  type AppendManyOptions,
  type Appends,
  type Outcome,
  type Pending,
} from "./append_many.js";
import { cancelled, type Connection } from "./connection.js";
import { EvershardError, UnavailableError } from "./errors.js";

interface Slot {
  readonly pending: Pending;
  outcome?: Outcome;
}
const isOpen = (slot: Slot) => slot.outcome === undefined;

/**
 * Appends of one shard are decided in the order they were given: they go by one lane, and change to another when all before them are answered.
 * Without a connection.
 */
export class LaneChoice<T> {
  readonly #of = new Map<number | undefined, { lane: number; underWay: T[] }>();
  readonly #isOpen: (one: T) => boolean;

  constructor(isOpenYet: (one: T) => boolean) {
    this.#isOpen = isOpenYet;
  }

  /** `shard` undefined: not known. `home`: the node that decides the append, 0: not known now. Returns: undefined: not yet, others are under way */
  lane(shard: number | undefined, home: number): number | undefined {
    const before = this.#underWay(shard);
    if (before !== undefined) return home === 0 || home === before ? before : undefined;
    return shard !== undefined && home !== 0 && this.#underWay(undefined) !== undefined ? undefined : home;
  }

  goes(shard: number | undefined, lane: number, one: T): void {
    if (this.#underWay(shard) === undefined) this.#of.set(shard, { lane, underWay: [] });
    this.#of.get(shard)!.underWay.push(one);
  }

  #underWay(shard: number | undefined): number | undefined {
    const of = this.#of.get(shard);
    while (of && of.underWay.length > 0 && !this.#isOpen(of.underWay[0]!)) of.underWay.shift();
    return of && of.underWay.length > 0 ? of.lane : undefined;
  }
}

/** What goes by one stream. */
interface Lane {
  readonly slots: Slot[]; // given to the stream, or to be given to it; without an outcome
  given: number;
}

export class AppendLanes {
  readonly #connection: Connection;
  readonly #options: AppendManyOptions;
  readonly #appendsMax: number;
  readonly #bytesMax: number;
  readonly #choice = new LaneChoice<Slot>(isOpen);
  readonly #lanes = new Map<number, Lane>();
  readonly #slots: Slot[] = []; // in order, until their outcomes are taken
  #bytes = 0;
  #sourceEnded = false;
  #sourceError: { error: unknown } | undefined;
  #failed: { error: unknown } | undefined; // a lane: nothing more is taken, and what is under way by the others is answered
  #changed!: Promise<void>;
  #tell: () => void = () => {};

  constructor(connection: Connection, options: AppendManyOptions) {
    this.#connection = connection;
    this.#options = options;
    this.#appendsMax = options.inFlightMax ?? 256;
    this.#bytesMax = options.inFlightBytesMax ?? 16 << 20;
    this.#changes();
  }

  /** Errors: as AppendStream's, behind an outcome for each that was taken */
  async *outcomes(source: Appends): AsyncGenerator<Outcome, void, void> {
    const scope = this.#connection.scope(this.#options.signal);
    const wake = () => this.#changes();
    scope.signal.addEventListener("abort", wake);
    void this.#take(source, scope.signal);
    try {
      for (;;) {
        const first = this.#slots[0];
        if (!first && this.#sourceEnded) break;
        if (first?.outcome) {
          this.#slots.shift();
          this.#bytes -= first.pending.bytes?.length ?? 0;
          this.#changes();
          yield first.outcome;
        } else {
          if (scope.signal.aborted) throw cancelled(scope.signal);
          await this.#changed;
        }
      }
      const failed = this.#sourceError ?? this.#failed;
      if (failed) throw failed.error;
    } finally {
      scope.abort(); // ends the taking, and the lanes
      scope.end();
    }
  }

  async #take(source: Appends, signal: AbortSignal): Promise<void> {
    try {
      for await (const append of source) {
        if (signal.aborted) break;
        const slot: Slot = { pending: pendingOf(append, this.#connection.sendBytesMax) };
        if (slot.pending.error) slot.outcome = { error: slot.pending.error };
        else await this.#send(slot, signal);
        if (signal.aborted) break;
        this.#slots.push(slot);
        this.#bytes += slot.pending.bytes?.length ?? 0;
        this.#changes();
        while (
          !signal.aborted &&
          !this.#failed &&
          (this.#slots.length >= this.#appendsMax || this.#bytes >= this.#bytesMax)
        )
          await this.#changed;
        if (signal.aborted || this.#failed) break;
      }
    } catch (error) {
      this.#sourceError = { error };
    }
    this.#sourceEnded = true;
    this.#changes();
  }

  /** By the lane of its shard, when what is under way by another one is answered. */
  async #send(slot: Slot, signal: AbortSignal): Promise<void> {
    const first = slot.pending.error ? undefined : slot.pending.first;
    for (;;) {
      const { shard, node } =
        first === undefined ? { shard: undefined, node: 0 } : this.#connection.shardAndNode(first);
      const number = this.#choice.lane(shard, node);
      if (signal.aborted) return;
      if (this.#failed) {
        slot.outcome = { error: this.#neverSent(this.#failed.error) };
        return;
      }
      if (number === undefined) {
        await this.#changed;
        continue;
      }
      this.#choice.goes(shard, number, slot);
      const lane = this.#lanes.get(number) ?? this.#begin(number, signal);
      lane.slots.push(slot);
      return;
    }
  }

  #begin(node: number, signal: AbortSignal): Lane {
    const lane: Lane = { slots: [], given: 0 };
    this.#lanes.set(node, lane);
    void this.#run(lane, node, signal);
    return lane;
  }

  async #run(lane: Lane, node: number, signal: AbortSignal): Promise<void> {
    try {
      for await (const outcome of new AppendStream(this.#connection, { ...this.#options, signal }, node).outcomes(
        this.#feed(lane, signal),
      )) {
        --lane.given;
        lane.slots.shift()!.outcome = outcome;
        this.#changes();
      }
    } catch (error) {
      this.#failed ??= { error };
      for (const slot of lane.slots.splice(0)) slot.outcome = { error: this.#neverSent(error) };
      this.#changes();
    }
  }

  /** Of what the streams were not given any more. */
  #neverSent(error: unknown): EvershardError {
    return error instanceof EvershardError ? error : new UnavailableError(`not sent: ${String(error)}`);
  }

  async *#feed(lane: Lane, signal: AbortSignal): AsyncGenerator<Pending, void, void> {
    while (!signal.aborted) {
      const next = lane.slots[lane.given];
      if (next) {
        ++lane.given;
        yield next.pending;
      } else if (this.#sourceEnded) {
        return;
      } else {
        await this.#changed;
      }
    }
  }

  /** Whoever waits for a change looks again. */
  #changes(): void {
    this.#tell();
    this.#changed = new Promise((resolve) => (this.#tell = resolve));
  }
}
