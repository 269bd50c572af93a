// What is removed from a store's history, for good, and the record of it. See docs/removal.md.

import type { DescMethodServerStreaming, MessageInitShape } from "@bufbuild/protobuf";

import type { AtLeast, CallOptions, Connection } from "./connection.js";
import { EvershardError, InvalidArgumentError, OutcomeUnknownError, TimeoutError, UnavailableError } from "./errors.js";
import type { JsonValue } from "./event.js";
import {
  Retention as Service,
  RetentionPolicyKind as Kind,
  type RetentionOrderSchema,
  type RetentionResponseSchema,
  type RetentionPolicy as PolicyMessage,
} from "./gen/evershard/v1/retention_pb.js";
import { splitAggregate, textOf, toNumber, toUint64 } from "./ids.js";
import { timestampText } from "./timestamp.js";
import { work, type WorkOptions } from "./work.js";

/** Who wants it and why: kept in the log. */
export interface RetentionReason {
  by?: string | undefined;
  reason?: string | undefined;
}

export interface RetentionOptions extends RetentionReason, WorkOptions {
  /** Says what would go, changes nothing, records nothing. */
  dryRun?: boolean | undefined;
  /** Of records that are written again; 0, absent: as fast as it goes. */
  bytesPerSecond?: number | undefined;
}

export interface TruncateOptions extends RetentionOptions {
  /** Also where no snapshot stands for what goes: the aggregate's state cannot be made any more. */
  uncovered?: boolean | undefined;
}

/** What was done, or would be. */
export interface RetentionResult {
  /** Its name in the log; empty: nothing was to be done, or a dry run. */
  readonly operation: string;
  readonly aggregates: number;
  /** That are gone now and were not before. */
  readonly events: number;
  readonly snapshots: number;
  /** Of the journal, written again. */
  readonly records: number;
  readonly bytesBefore: number;
  /** The disk has them back after a vacuum. */
  readonly bytesAfter: number;
  /** Of one aggregate: its version. */
  readonly version: number;
  /** The same: its events below are gone. */
  readonly before: number;
  /** The version of the snapshot that stands for them. */
  readonly coveredBy?: number;
  readonly coveredRevision: number;
}

/** Time to live by a rule: events of a type, one by one; of aggregates of a type what a snapshot stands for, or the whole. */
export interface RetentionPolicy {
  readonly name: string;
  readonly kind: "events" | "truncate" | "remove";
  /** Of events, or of aggregates. */
  readonly type: string;
  readonly keepSeconds: number;
  /** Of events: also where no snapshot stands for them. */
  readonly uncovered?: boolean;
}

/** One step, as the log has it. */
export interface RetentionEntry {
  readonly position: number;
  /** In the log, from 1. */
  readonly number: number;
  readonly at: string;
  /** The event's type: $TruncationOrdered, $RemovalDone, ... */
  readonly what: string;
  readonly content: Record<string, JsonValue>;
}

export interface RetentionLogOptions extends AtLeast, CallOptions {
  /** A number in the log; exclusive. */
  after?: number | undefined;
  /** Absent: all. */
  limit?: number | undefined;
}

const kinds = { events: Kind.EVENTS, truncate: Kind.TRUNCATE, remove: Kind.REMOVE } as const;
const pageMax = 1_000;

/**
 * What is removed is removed for good. All but the policies and the log need the scope `admin`. `signal` stops the work at the next safe point, and the
 * same again does what is left. Errors of what removes: OutcomeUnknownError (its end was not heard: the same again tells).
 */
export class Retention {
  readonly #connection: Connection;
  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** Removes an aggregate's events below `before`; its version stays. Errors: NotFoundError, InvalidArgumentError */
  async truncate(aggregate: string, before: number, options: TruncateOptions = {}): Promise<RetentionResult> {
    const request = {
      aggregate: splitAggregate(aggregate),
      before: toUint64(before, "before"),
      uncovered: options.uncovered ?? false,
      order: orderOf(options),
    };
    return this.#remove(Service.method.truncateAggregate, request, options);
  }
  /** Removes all of an aggregate's events and snapshots. It is hidden until its next event. Errors: NotFoundError, InvalidArgumentError */
  async remove(aggregate: string, options: RetentionOptions = {}): Promise<RetentionResult> {
    return this.#remove(
      Service.method.removeAggregate,
      { aggregate: splitAggregate(aggregate), order: orderOf(options) },
      options,
    );
  }
  /** Destroys a subject's key: nobody reads its payloads any more, in backups neither. Errors: NotFoundError (it has none), InvalidArgumentError */
  async erase(subject: string, options: RetentionOptions = {}): Promise<RetentionResult> {
    return this.#remove(
      Service.method.eraseSubject,
      { subject: textOf(subject, "subject"), order: orderOf(options) },
      options,
    );
  }
  /** Finishes what was broken off, applies all policies as of now, removes expired snapshots. */
  async apply(options: RetentionOptions = {}): Promise<RetentionResult> {
    return this.#remove(Service.method.applyRetention, { order: orderOf(options) }, options);
  }

  /** Creates or replaces. Errors: InvalidArgumentError */
  async setPolicy(policy: RetentionPolicy, options: RetentionReason & CallOptions = {}): Promise<void> {
    const kind = kinds[policy.kind];
    if (kind === undefined)
      throw new InvalidArgumentError(`kind: ${JSON.stringify(policy.kind)} is none of events, truncate and remove`);
    const message = {
      name: textOf(policy.name, "name"),
      kind,
      type: textOf(policy.type, "type"),
      keepSeconds: toUint64(policy.keepSeconds, "keepSeconds"),
      uncovered: policy.uncovered ?? false,
    };
    await this.#connection.change(
      Service.method.setRetentionPolicy,
      { policy: message, order: orderOf(options) },
      options,
    );
  }
  /** Errors: NotFoundError */
  async dropPolicy(name: string, options: RetentionReason & CallOptions = {}): Promise<void> {
    await this.#connection.change(
      Service.method.dropRetentionPolicy,
      { name: textOf(name, "name"), order: orderOf(options) },
      options,
    );
  }
  async policies(options: AtLeast & CallOptions = {}): Promise<RetentionPolicy[]> {
    return (await this.#connection.unary(Service.method.listRetentionPolicies, {}, options)).policies.map(policyOf);
  }

  /** What was done, in order, fetched as it is taken. */
  async *log(options: RetentionLogOptions = {}): AsyncGenerator<RetentionEntry, void, void> {
    let left = options.limit ?? Number.POSITIVE_INFINITY;
    for (let after = toUint64(options.after ?? 0, "after"); left > 0; ) {
      const limit = Math.min(left, pageMax);
      const { entries } = await this.#connection.unary(Service.method.readRetentionLog, { after, limit }, options);
      for (const { position, number, atUs, what, json } of entries) {
        const content = JSON.parse(new TextDecoder().decode(json)) as Record<string, JsonValue>;
        yield { position: toNumber(position), number: toNumber(number), at: timestampText(atUs), what, content };
        after = number;
      }
      left -= entries.length;
      if (entries.length < limit) return;
    }
  }

  async #remove<I extends DescMethodServerStreaming["input"]>(
    method: DescMethodServerStreaming<I, typeof RetentionResponseSchema>,
    request: MessageInitShape<I>,
    options: RetentionOptions,
  ): Promise<RetentionResult> {
    try {
      const { result } = await work(this.#connection, method, request, options);
      if (!result) throw new UnavailableError("the server ended without saying what was done");
      const { $typeName: _, $unknown: __, coveredBy, ...figures } = result;
      return {
        operation: figures.operation,
        aggregates: toNumber(figures.aggregates),
        events: toNumber(figures.events),
        snapshots: toNumber(figures.snapshots),
        records: toNumber(figures.records),
        bytesBefore: toNumber(figures.bytesBefore),
        bytesAfter: toNumber(figures.bytesAfter),
        version: toNumber(figures.version),
        before: toNumber(figures.before),
        ...(coveredBy !== undefined && { coveredBy: toNumber(coveredBy) }),
        coveredRevision: figures.coveredRevision,
      };
    } catch (error) {
      if (!options.dryRun && (error instanceof UnavailableError || error instanceof TimeoutError) && !error.told) {
        throw new OutcomeUnknownError(
          `its end was not heard, it may be ordered or done; the same again tells: ${error.message}`,
          {},
          { cause: error },
        );
      }
      throw error;
    }
  }
}

function orderOf({
  by = "",
  reason = "",
  dryRun = false,
  bytesPerSecond = 0,
}: RetentionOptions): MessageInitShape<typeof RetentionOrderSchema> {
  return {
    by: textOf(by, "by"),
    reason: textOf(reason, "reason"),
    dryRun,
    bytesPerSecond: toUint64(bytesPerSecond, "bytesPerSecond"),
  };
}

function policyOf({ name, kind, type, keepSeconds, uncovered }: PolicyMessage): RetentionPolicy {
  const known = (Object.keys(kinds) as (keyof typeof kinds)[]).find((one) => kinds[one] === kind);
  if (!known) throw new EvershardError(`the policy ${name} is of a kind that this client does not know`);
  return { name, kind: known, type, keepSeconds: toNumber(keepSeconds), uncovered };
}
