// Client: a store behind its door. Every method says what it does in the words of protocol/v1/service.proto.

import type { MessageInitShape } from "@bufbuild/protobuf";

import { Administration } from "./administration.js";
import { appendedOf, encodeAppend, snapshotMessage, type Append, type Appended, type NewSnapshot } from "./append.js";
import { AppendLanes } from "./append_lanes.js";
import { type AppendManyOptions, type Appends, type Outcome } from "./append_many.js";
import { ask, kinds, type AskOptions, type Command, type CommandAnswer, type HostedKinds } from "./commands.js";
import { Connection, type AtLeast, type CallOptions, type ConnectOptions } from "./connection.js";
import { Documents, Projections, type IfAbsent } from "./derived.js";
import { InvalidArgumentError } from "./errors.js";
import { RecordedEvent } from "./event.js";
import { Groups, type GroupSettingsSchema } from "./gen/evershard/v1/groups_pb.js";
import { EventStore, type AggregateInfo as AggregateInfoMessage } from "./gen/evershard/v1/service_pb.js";
import { groupInfoOf, GroupWorker, type GroupInfo, type WorkerOptions } from "./groups.js";
import { aggregateText, splitAggregate, textOf, toNumber, toUint64 } from "./ids.js";
import { Query } from "./query.js";
import { Reading, type ReadAggregateOptions, type ReadOptions } from "./reading.js";
import { Retention } from "./retention.js";
import {
  cancelScheduled,
  getScheduled,
  listScheduled,
  schedule,
  type Schedule,
  type ScheduledAppend,
  type ScheduledOptions,
} from "./scheduled.js";
import { RecordedSnapshot } from "./snapshot.js";
import { Subscription, type SubscribeOptions } from "./subscription.js";
import { microseconds } from "./timestamp.js";

/** One row of the directory. */
export interface AggregateInfo {
  aggregate: string;
  version: number;
  lastPosition: number;
  shard: number;
}

export interface AggregatesOptions extends AtLeast, CallOptions {
  /** Absent: all. */
  type?: string | undefined;
  /** Exclusive. */
  after?: string | undefined;
  /** Of one request. 1,000; at most 10,000 */
  pageAggregatesMax?: number | undefined;
}

export interface StateOptions extends AtLeast, CallOptions {
  /** Absent: the latest. */
  version?: number | undefined;
  /** As of this position. */
  upTo?: number | undefined;
  /** At most so many of the events behind the snapshot; absent: all. */
  limit?: number | undefined;
}

/** An aggregate's newest snapshot at or before the moment, as JSON, and the events behind it: docs/types.md, "An aggregate's state". */
export interface AggregateState {
  aggregate: string;
  version: number;
  position: number;
  state: unknown;
  state_version: number;
  events_after: number;
  [more: string]: unknown;
}

/**
 * HOST:PORT, or unix:PATH; several nodes of one store as HOST:PORT,HOST:PORT or as a list: it keeps to one that works, the first before the others,
 * and goes on to another when that is gone or cannot. Connects with the first call. Errors: InvalidArgumentError
 */
export function connect(address: string | readonly string[], options: ConnectOptions = {}): Client {
  return new Client(new Connection(address, options));
}

export interface CreateGroupOptions {
  query?: Query | undefined;
  after?: number | "now" | undefined;
  /** Of docs/groups.md; what is absent has its default. */
  settings?: MessageInitShape<typeof GroupSettingsSchema> | undefined;
}

/** Every method may be called at any time, any number at once. To be closed, or taken with `await using`. */
export class Client implements AsyncDisposable {
  readonly admin: Administration;
  /** Indexes and tables. */
  readonly projections: Projections;
  readonly documents: Documents;
  /** What is removed for good, and the record of it. */
  readonly retention: Retention;
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
    this.admin = new Administration(connection);
    this.projections = new Projections(connection);
    this.documents = new Documents(connection);
    this.retention = new Retention(connection);
  }

  /** Ends what is under way with CancelledError; subscriptions end as loops do. Any number of times. */
  close(): void {
    if (!this.#connection.closed) this.#connection.close();
  }
  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
  }

  /** The greatest position that any answer told: reads there see all that was written and read by this client. For another client's see(). */
  get seen(): number {
    return this.#connection.seen;
  }
  /** Reads of this client see at least this from now on. */
  see(position: number): void {
    toUint64(position, "seen");
    this.#connection.see(position);
  }

  /**
   * Writes whole or not at all; comes back when it is durable. Tried again, as the same append, until it is answered or time is over.
   * Errors: VersionConflictError, ConditionFailedError, DuplicateEventError, InvalidArgumentError, TooLargeError, OutcomeUnknownError, ...
   */
  async append(append: Append, options?: CallOptions): Promise<Appended> {
    const { bytes, first } = encodeAppend(append);
    return appendedOf(await this.#connection.unary(EventStore.method.append, bytes, options, "append", first));
  }

  /**
   * Many appends in flight, taken from `appends` as there is room; their outcomes in the same order. One that is refused ends nothing; `overloaded`
   * is an outcome too, since trying again would store it behind later ones. Leaving the loop ends it: what was in flight may be stored.
   */
  appendMany(appends: Appends, options: AppendManyOptions = {}): AsyncGenerator<Outcome, void, void> {
    return new AppendLanes(this.#connection, options).outcomes(appends);
  }

  /**
   * Has an append made at a later time, once, also where this client has gone. It names itself before the first try, so that it is scheduled once
   * however often it is sent. Needs the scope `append`, as cancelScheduled() does.
   * Errors: VersionConflictError (another append has that id, or, with `replace`, it does not wait any more), InvalidArgumentError, TooLargeError,
   * OutcomeUnknownError (its `scheduleId`)
   */
  schedule(order: Schedule, options?: CallOptions): Promise<ScheduledAppend> {
    return schedule(this.#connection, order, options);
  }
  /** It is not made any more; one that is cancelled already stays so. Errors: NotFoundError, ConditionFailedError (it was made, or refused) */
  cancelScheduled(id: string, options?: CallOptions): Promise<ScheduledAppend> {
    return cancelScheduled(this.#connection, id, options);
  }
  /** How it is, or what became of it. Errors: NotFoundError */
  getScheduled(id: string, options?: AtLeast & CallOptions): Promise<ScheduledAppend> {
    return getScheduled(this.#connection, id, options);
  }
  /** Those that wait, or all, fetched as they are taken. Errors: TimeoutError */
  listScheduled(options?: ScheduledOptions): AsyncGenerator<ScheduledAppend, void, void> {
    return listScheduled(this.#connection, options);
  }

  /** What matches, in global order. */
  read(query: Query = Query.all, options: ReadOptions = {}): Reading {
    return new Reading(this.#connection, { query, options });
  }
  /** One aggregate's events, by number. Empty where there is none. */
  readAggregate(aggregate: string, options: ReadAggregateOptions = {}): Reading {
    return new Reading(this.#connection, { aggregate, options });
  }
  /** What matches, and goes on with what is appended, until it is cancelled. */
  subscribe(query: Query = Query.all, options: SubscribeOptions = {}): Subscription {
    return new Subscription(this.#connection, query, options, (call) => this.head(call));
  }

  /** The watermark: the last position that can be read. With `atLeast` it waits. */
  async head(options: AtLeast & CallOptions = {}): Promise<number> {
    return toNumber((await this.#connection.unary(EventStore.method.head, {}, options)).watermark);
  }
  /** The last position at or before a time, the end of an append. 0: nothing is that old. A time that is not past: the head. */
  async positionAt(at: Date | string | bigint, options: AtLeast & CallOptions = {}): Promise<number> {
    const request = { atUs: microseconds(at, "at") };
    return toNumber((await this.#connection.unary(EventStore.method.positionAt, request, options)).position);
  }
  /** Errors: NotFoundError */
  async eventAt(position: number, options: AtLeast & CallOptions = {}): Promise<RecordedEvent> {
    return new RecordedEvent(
      await this.#connection.unary(EventStore.method.getEvent, { position: toUint64(position, "position") }, options),
    );
  }

  /** Errors: NotFoundError */
  async aggregate(
    aggregate: string,
    options: { upTo?: number | undefined } & AtLeast & CallOptions = {},
  ): Promise<AggregateInfo> {
    const { upTo } = options;
    const request = {
      aggregate: splitAggregate(aggregate),
      ...(upTo !== undefined && { upTo: toUint64(upTo, "upTo") }),
    };
    return infoOf(await this.#connection.unary(EventStore.method.getAggregate, request, options));
  }
  /** In order of type and value, fetched as they are taken. */
  async *aggregates(options: AggregatesOptions = {}): AsyncGenerator<AggregateInfo, void, void> {
    const { type, pageAggregatesMax: limit = 1_000 } = options;
    if (!(limit >= 1 && limit <= 10_000))
      throw new InvalidArgumentError(`pageAggregatesMax: ${limit} is not from 1 to 10,000`);
    for (let after = options.after; ; ) {
      const request = {
        limit,
        ...(type !== undefined && { type: textOf(type, "type") }),
        ...(after !== undefined && { after: splitAggregate(after) }),
      };
      const { aggregates } = await this.#connection.unary(EventStore.method.listAggregates, request, options);
      for (const info of aggregates) yield infoOf(info);
      if (aggregates.length < limit) return;
      after = aggregateText(aggregates.at(-1)!.aggregate!);
    }
  }
  /** Errors: NotFoundError, InvalidArgumentError */
  async state(aggregate: string, options: StateOptions = {}): Promise<AggregateState> {
    const { version, upTo, limit } = options;
    const { json } = await this.#connection.unary(
      EventStore.method.getState,
      {
        aggregate: splitAggregate(aggregate),
        ...(version !== undefined && { version: toUint64(version, "version") }),
        ...(upTo !== undefined && { upTo: toUint64(upTo, "upTo") }),
        ...(limit !== undefined && { limit: toUint64(limit, "limit") }),
      },
      options,
    );
    return JSON.parse(json) as AggregateState;
  }

  /** Of a version that exists. Errors: NotFoundError, InvalidArgumentError, ... */
  async putSnapshot(snapshot: NewSnapshot & { version: number }, options?: CallOptions): Promise<void> {
    const request = snapshotMessage(snapshot, "snapshot");
    await this.#connection.unary(EventStore.method.putSnapshot, request, options, "append");
  }
  /** The latest, or the newest at or before a version, or as of a position. Returns: nothing, where there is none */
  async snapshot(
    aggregate: string,
    options: { atOrBefore?: number | undefined; upTo?: number | undefined } & AtLeast & CallOptions = {},
  ): Promise<RecordedSnapshot | undefined> {
    const { atOrBefore, upTo } = options;
    const { snapshot } = await this.#connection.unary(
      EventStore.method.getSnapshot,
      {
        aggregate: splitAggregate(aggregate),
        ...(atOrBefore !== undefined && { atOrBefore: toUint64(atOrBefore, "atOrBefore") }),
        ...(upTo !== undefined && { upTo: toUint64(upTo, "upTo") }),
      },
      options,
    );
    return snapshot && new RecordedSnapshot(snapshot);
  }
  async snapshots(aggregate: string, options: AtLeast & CallOptions = {}): Promise<RecordedSnapshot[]> {
    const request = { aggregate: splitAggregate(aggregate) };
    return (await this.#connection.unary(EventStore.method.listSnapshots, request, options)).snapshots.map(
      (snapshot) => new RecordedSnapshot(snapshot),
    );
  }

  /** A named subscription that workers share; begins behind `after` (0: with the first event; "now"). Needs the scope `admin`. Errors: AlreadyExistsError, InvalidArgumentError */
  async createGroup(name: string, options: CreateGroupOptions & IfAbsent & CallOptions = {}): Promise<GroupInfo> {
    const { query, after = 0, settings, ifAbsent = false } = options;
    return groupInfoOf(
      await this.#connection.change(
        Groups.method.createGroup,
        {
          name: textOf(name, "name"),
          ...(query && { query: query.message() }),
          ...(after === "now" ? { fromNow: true } : { after: toUint64(after, "after") }),
          ...(settings && { settings }),
          ifAbsent,
        },
        options,
      ),
    );
  }
  async dropGroup(name: string, options?: CallOptions): Promise<void> {
    await this.#connection.change(Groups.method.dropGroup, { name: textOf(name, "name") }, options);
  }
  /** In order of name. */
  async groups(options?: CallOptions): Promise<GroupInfo[]> {
    return (await this.#connection.unary(Groups.method.listGroups, {}, options)).groups.map(groupInfoOf);
  }
  /** A worker of a group. It joins when it is first asked for an event. */
  work(group: string, options: WorkerOptions = {}): GroupWorker {
    return new GroupWorker(this.#connection, textOf(group, "group"), options);
  }

  /**
   * Asks an aggregate of the server's application a command, by its logical name. `timeoutMs`: where it is given, the aggregate has no longer either.
   *
   * Errors: InvalidArgumentError (nobody hosts the type, there is no such command, or the payload is none of it); OutcomeUnknownError (the same again
   * tells, where it has a commandId)
   */
  async ask(
    aggregate: string,
    command: string,
    payload: Command = {},
    options: AskOptions = {},
  ): Promise<CommandAnswer> {
    return ask(this.#connection, aggregate, command, payload, options);
  }
  /** What the server's application hosts. */
  async kinds(options?: CallOptions): Promise<HostedKinds> {
    return kinds(this.#connection, options);
  }

  /** How payloads are read: what `evershard types` registered, as the store's file TYPES has it; empty: nothing. */
  async types(options?: CallOptions): Promise<Uint8Array> {
    return (await this.#connection.unary(EventStore.method.getTypes, {}, options)).types;
  }
}

function infoOf({ aggregate, version, lastPosition, shard }: AggregateInfoMessage): AggregateInfo {
  return {
    aggregate: aggregateText(aggregate!),
    version: toNumber(version),
    lastPosition: toNumber(lastPosition),
    shard,
  };
}
