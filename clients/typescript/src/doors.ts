// The doors of a store: which one is asked, whether it is of our store, and who writes which shard.

import { connectivityState, status, type Client as Channel } from "@grpc/grpc-js";

import { ConnectFaults } from "./connect_faults.js";
import { DoorChoice, restMs } from "./door_choice.js";
import { EvershardError, InvalidArgumentError, UnavailableError } from "./errors.js";
import type { MembersResponse } from "./gen/evershard/v1/service_pb.js";
import type { History } from "./history.js";
import { hashId, shardOf } from "./route.js";

const meetingMs = 2_000;
const mapAgeMsMax = 30_000;
const mapAgeMsMin = 200; // what is doubtful is asked for again, but no storm is made of it
const waitAtOneMs = 3_000;

export interface Door {
  readonly number: number;
  readonly address: string;
  readonly channel: Channel;
}

export interface DoorParts {
  /** Errors: InvalidArgumentError: none that may be used */
  channel(address: string, several: boolean): Channel;
  /** Of this door, until `deadline`. Errors: as calls have them; `status`: gRPC's own */
  members(door: Door, deadline: number): Promise<MembersResponse>;
  followShards: boolean;
  history: History;
}

/** A gRPC status that nobody of the store gave, beside the error it became. */
export class CallFailed extends Error {
  constructor(
    readonly status: number,
    readonly error: EvershardError,
  ) {
    super(error.message);
  }
}
const passing: readonly number[] = [
  status.UNAVAILABLE,
  status.DEADLINE_EXCEEDED,
  status.CANCELLED,
  status.UNKNOWN,
  status.INTERNAL,
  status.RESOURCE_EXHAUSTED,
];

/**
 * Where there are several addresses, each is asked whose it is before it is used: an append that was sent to one store is never sent again to
 * another.
 */
export class Doors {
  readonly #parts: DoorParts;
  readonly #choice: DoorChoice;
  readonly #faults: ConnectFaults;
  readonly #doors: Door[];
  #meeting: Promise<void> = Promise.resolve();
  #trouble = "no server was reached";
  #store: string | undefined;
  #storeId: string | undefined;
  /** The fork that a door serves now which answered as ours before; empty: none does. */
  #forked = "";
  #owners: { node: number; epoch: bigint }[] = [];
  readonly #addresses = new Map<number, string>();
  /** A node's door, as it said itself. */
  readonly #met = new Map<number, number>();
  readonly #wanted = new Set<number>();
  #mapKnown = false;
  #mapAskedAt = -Infinity;

  constructor(addresses: readonly string[], parts: DoorParts) {
    this.#parts = parts;
    this.#choice = new DoorChoice(addresses);
    this.#faults = new ConnectFaults(addresses.length);
    this.#doors = addresses.map((address, number) => ({
      number,
      address,
      channel: parts.channel(address, addresses.length > 1),
    }));
  }

  close(): void {
    for (const { channel } of this.#doors) channel.close();
  }

  get several(): boolean {
    return this.#doors.length > 1;
  }

  /** How long one door is waited for to come to a position: another may be there already. */
  waitAtOne(leftMs: number): number {
    return Math.max(0, Math.ceil(this.several ? Math.min(leftMs, waitAtOneMs) : leftMs));
  }

  /**
   * The door to ask. Errors: UnavailableError: none answers now; InvalidArgumentError: all of them are another store's; ForkChangedError: none
   * answers, and one that did serves another fork by now
   */
  async pick(): Promise<Door> {
    for (let candidate; (candidate = this.#choice.toMeet(Date.now())) !== undefined; ) {
      const wanted = candidate;
      this.#meeting = this.#meeting.then(async () => {
        if (this.#choice.toMeet(Date.now()) === wanted) await this.#meet(wanted);
      });
      await this.#meeting;
    }
    const { current } = this.#choice;
    if (current !== undefined) return this.#doors[current]!;
    this.#parts.history.hearFork(this.#forked);
    if (this.#choice.allForeign) throw new InvalidArgumentError(this.#trouble);
    throw this.#faults.final ?? new UnavailableError(this.#trouble);
  }

  /** What a call at this door ended with; or that no address will ever work, which is final. */
  fault(door: Door, error: EvershardError): EvershardError {
    return this.#faults.failed(door.number, door.address, error, Date.now());
  }
  worked(door: Door): void {
    this.#faults.heard();
    this.#choice.worked(door.number);
  }

  failed(door: Door): void {
    this.#choice.failed(door.number, Date.now(), restMs(this.#choice.doors[door.number]!.failures));
    this.learnShards(true);
  }

  /** The door of the node that decides an append whose first event has this aggregate, or this id without one; where it is open now. */
  home(first: string | Uint8Array): Door | undefined {
    return this.doorOf(this.shardAndNode(first).node);
  }

  /** The append's shard, and the node that decides it where its door is known; `undefined` and 0: not known. */
  shardAndNode(first: string | Uint8Array): { shard: number | undefined; node: number } {
    this.learnShards();
    if (this.#owners.length === 0) return { shard: undefined, node: 0 };
    const shard = shardOf(first, this.#owners.length);
    const { node } = this.#owners[shard]!;
    if (this.#met.has(node)) return { shard, node };
    this.#lookFor(node);
    return { shard, node: 0 };
  }

  /** Of a node, where it is open now. */
  doorOf(node: number): Door | undefined {
    const number = this.#met.get(node);
    if (number === undefined || this.#choice.rests(number, Date.now())) return undefined;
    const door = this.#doors[number]!;
    // One that is not open is not waited for: any other takes the append.
    return door.channel.getChannel().getConnectivityState(true) === connectivityState.READY ? door : undefined;
  }

  /** Asks who writes which shard, beside everything else, where that is not known, or old. */
  learnShards(doubtful = false): void {
    const least = this.#mapKnown && !(doubtful && this.#owners.length > 0) ? mapAgeMsMax : mapAgeMsMin;
    if (!this.#parts.followShards || Date.now() - this.#mapAskedAt < least || this.#choice.current === undefined)
      return;
    this.#mapAskedAt = Date.now();
    void this.#meet(this.#choice.current);
  }

  #lookFor(node: number): void {
    const number = this.#doors.findIndex(({ address }) => address === this.#addresses.get(node));
    if (
      number < 0 ||
      this.#wanted.has(number) ||
      this.#choice.doors[number]!.ours !== undefined ||
      this.#choice.rests(number, Date.now())
    )
      return;
    this.#wanted.add(number);
    void this.#meet(number);
  }

  /** Never fails: what it finds out is kept. */
  async #meet(number: number): Promise<void> {
    const door = this.#doors[number]!;
    try {
      const said = await this.#parts.members(door, Date.now() + meetingMs);
      this.#faults.heard();
      this.#learn(number, said);
    } catch (failed) {
      if (failed instanceof CallFailed) this.fault(door, failed.error);
      if (!(failed instanceof CallFailed) || passing.includes(failed.status)) {
        this.#trouble = `${door.address}: ${failed instanceof Error ? failed.message : String(failed)}`;
        this.#choice.failed(number, Date.now(), restMs(this.#choice.doors[number]!.failures));
      } else {
        // of an earlier release, or our token may not ask: what it says to the calls themselves counts
        this.#mapKnown = true;
        this.#choice.is(number, true);
      }
    } finally {
      this.#wanted.delete(number);
    }
  }

  #learn(number: number, { storeId, forkId, shards, hash, here, members, owners, epochs }: MembersResponse): void {
    const store = `${storeId} (copy ${forkId}, ${shards} shards)`;
    this.#mapKnown = true;
    const severalGiven = this.#parts.history.several;
    this.#store ??= store;
    if (store !== this.#store && !severalGiven && number === 0) {
      // One address: whatever it is, it is what was asked for. Who else serves that has to say so anew.
      this.#store = store;
      this.#storeId = storeId;
      this.#owners = [];
      this.#addresses.clear();
      this.#met.clear();
      this.#choice.forgetAllBut(0);
    }
    this.#storeId ??= storeId;
    if (store !== this.#store) {
      if (severalGiven && this.#choice.doors[number]!.ours && storeId === this.#storeId) this.#forked = forkId;
      this.#trouble = `${this.#doors[number]!.address} serves another store: ${store}, the first one is ${this.#store}`;
      this.#choice.is(number, false);
      return;
    }
    this.#choice.is(number, true);
    this.#forked = "";
    this.#parts.history.hearFork(forkId);
    if (!this.#parts.followShards || hash !== hashId || owners.length !== epochs.length) return;
    if (here !== 0 && !this.#met.has(here)) this.#met.set(here, number);
    // Of the same epoch the later word counts: the node may have gone.
    this.#owners = owners.map((node, shard) => {
      const known = this.#owners[shard];
      return known && known.epoch > epochs[shard]! ? known : { node, epoch: epochs[shard]! };
    });
    for (const { node, address } of members) {
      if (address === "") continue;
      this.#addresses.set(node, address);
      if (this.#met.has(node) || this.#doors.some((door) => door.address === address)) continue;
      try {
        const channel = this.#parts.channel(address, true);
        this.#doors.push({ number: this.#choice.add(address), address, channel });
      } catch (error) {
        if (!(error instanceof EvershardError)) throw error; // as a token that would go there in the clear: it is left out
      }
    }
  }
}
