// Scheduled appends: events that are stored at a later time. See protocol/v1/scheduled.proto.

import { appendMessage, type Append, type Condition } from "./append.js";
import { encode, type AtLeast, type CallOptions, type Connection } from "./connection.js";
import {
  errorOf,
  EvershardError,
  expectedOf,
  InvalidArgumentError,
  OutcomeUnknownError,
  type ExpectedVersion,
} from "./errors.js";
import { GivenEvent } from "./event.js";
import {
  ScheduledAppends as Service,
  ScheduleRequestSchema,
  ScheduledState,
  type ScheduledAppend as Message,
} from "./gen/evershard/v1/scheduled_pb.js";
import type { AppendRequest } from "./gen/evershard/v1/store_pb.js";
import { aggregateText, newId, textOf, toNumber, toUint64 } from "./ids.js";
import { Query } from "./query.js";
import { microseconds, timestampText } from "./timestamp.js";

/** What is to be appended, and when: either `due` or `afterMs`. What it expects, and what it may fail by, is checked then. */
export interface Schedule extends Pick<Append, "events" | "expect" | "failIf"> {
  /** A Date, RFC 3339 text, or microseconds since 1970. */
  due?: Date | string | bigint | undefined;
  /** From now, by the server's clock. */
  afterMs?: number | undefined;
  /** Names it, for later and for retries: the same again is scheduled once, from whichever process. At most 200 bytes. Absent: a random one. */
  id?: string | undefined;
  /** One of this id that still waits is replaced. */
  replace?: boolean | undefined;
}

/** How a scheduled append is. */
export interface ScheduledAppend {
  readonly id: string;
  /** `refused`: its expectations or conditions did not hold when it was due, or it cannot be stored. */
  readonly state: "pending" | "appended" | "refused" | "cancelled" | string;
  /** Absent: its subject was erased. */
  readonly due?: string;
  readonly scheduledAt: string;
  /** Absent: it waits. */
  readonly settledAt?: string;
  /** What is stored when it is due. Absent: its subject was erased. */
  readonly append?: ScheduledEvents;
  /** Of the event that scheduled it. */
  readonly position: number;
  /** Of its own events; absent: none were stored. */
  readonly firstPosition?: number;
  readonly lastPosition?: number;
  /** Of one that was refused: why. */
  readonly refusal?: EvershardError;
  /** Of an answer to schedule(): it was scheduled already. */
  readonly duplicate: boolean;
}

export interface ScheduledEvents {
  readonly events: readonly GivenEvent[];
  readonly expect: Readonly<Record<string, ExpectedVersion>>;
  readonly failIf: readonly Required<Condition>[];
}

export interface ScheduledOptions extends AtLeast, CallOptions {
  /** Also those that were made, refused or cancelled, in order of id. Without it those that wait, in order of when they are due. */
  all?: boolean | undefined;
  limit?: number | undefined;
}

const pageMax = 100; // each has an append with it, whose payloads may be large

export async function schedule(
  connection: Connection,
  order: Schedule,
  options: CallOptions = {},
): Promise<ScheduledAppend> {
  const { due, afterMs, replace = false } = order;
  if ((due === undefined) === (afterMs === undefined))
    throw new InvalidArgumentError("either due, a time, or afterMs, how long until then, is needed");
  const id = order.id === undefined ? newId() : textOf(order.id, "id");
  if (id === "") throw new InvalidArgumentError("id: is empty; leave it out, and one is made");
  const { events, expectations, conditions } = appendMessage(order, false); // events get their ids from the schedule's
  const request = encode(ScheduleRequestSchema, {
    id,
    when:
      due === undefined
        ? { case: "afterUs", value: toUint64(afterMs!, "afterMs") * 1_000n }
        : { case: "dueUs", value: microseconds(due, "due") },
    append: { events, expectations, conditions },
    replace,
  });
  try {
    return scheduledOf(await connection.unary(Service.method.schedule, request, options, "append"));
  } catch (error) {
    if (error instanceof OutcomeUnknownError) error.details.scheduleId = id;
    throw error;
  }
}

export async function cancelScheduled(
  connection: Connection,
  id: string,
  options: CallOptions = {},
): Promise<ScheduledAppend> {
  const { cancel } = Service.method;
  const request = encode(cancel.input, { id: textOf(id, "id") });
  return scheduledOf(await connection.unary(cancel, request, options, "append"));
}

export async function getScheduled(
  connection: Connection,
  id: string,
  options: AtLeast & CallOptions = {},
): Promise<ScheduledAppend> {
  return scheduledOf(await connection.unary(Service.method.get, { id: textOf(id, "id") }, options));
}

export async function* listScheduled(
  connection: Connection,
  options: ScheduledOptions = {},
): AsyncGenerator<ScheduledAppend, void, void> {
  const { all = false } = options;
  let left = options.limit ?? Infinity;
  for (let after = ""; left > 0; ) {
    const request = { all, after, limit: Math.min(left, pageMax) };
    const page = await connection.unary(Service.method.list, request, options);
    for (const one of page.scheduled) yield scheduledOf(one);
    left -= page.scheduled.length;
    after = page.next;
    if (after === "") return;
  }
}

const states: Record<number, string> = {
  [ScheduledState.PENDING]: "pending",
  [ScheduledState.APPENDED]: "appended",
  [ScheduledState.REFUSED]: "refused",
  [ScheduledState.CANCELLED]: "cancelled",
};

export function scheduledOf(m: Message): ScheduledAppend {
  return {
    id: m.id,
    state: states[m.state] ?? `state ${m.state}`,
    ...(m.append && { due: timestampText(m.dueUs) }),
    scheduledAt: timestampText(m.scheduledUs),
    ...(m.settledUs !== 0n && { settledAt: timestampText(m.settledUs) }),
    ...(m.append && { append: eventsOf(m.append) }),
    position: toNumber(m.position),
    ...(m.firstPosition !== 0n && {
      firstPosition: toNumber(m.firstPosition),
      lastPosition: toNumber(m.lastPosition),
    }),
    ...(m.refusal && { refusal: errorOf(m.refusal) }),
    duplicate: m.duplicate,
  };
}

function eventsOf({ events, expectations, conditions }: AppendRequest): ScheduledEvents {
  return {
    events: events.map((event) => new GivenEvent(event)),
    expect: Object.fromEntries(
      expectations.map(({ aggregate, version }) => [aggregateText(aggregate!), expectedOf(version)]),
    ),
    failIf: conditions.map(({ query, after }) => ({ query: Query.from(query), after: toNumber(after) })),
  };
}
