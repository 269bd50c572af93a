// Append: what is to be written whole or not at all, and what acknowledges it.

import type { MessageInitShape } from "@bufbuild/protobuf";

import { encode } from "./connection.js";
import { InvalidArgumentError, type ExpectedVersion } from "./errors.js";
import { encodePayload, eventMessage, type NewEvent, type Payload } from "./event.js";
import type { EventSchema } from "./gen/evershard/v1/event_pb.js";
import {
  Ack,
  AppendRequestSchema,
  ExpectedVersion_Kind,
  type AppendConditionSchema,
  type AppendResponse,
  type ExpectationSchema,
  type ExpectedVersionSchema,
  type SnapshotSchema,
} from "./gen/evershard/v1/store_pb.js";
import { aggregateText, newId, splitAggregate, textOf, toNumber, toUint64, uuidBytes } from "./ids.js";
import type { Query } from "./query.js";

/** No event that matches stands between `after` (exclusive; 0 without it) and the append. */
export interface Condition {
  query: Query;
  after?: number | undefined;
}

/** A snapshot to be written; with an append it is of the version the append leaves. */
export interface NewSnapshot {
  aggregate: string;
  /** Alone: required. With an append: absent, or the version it leaves. */
  version?: number | undefined;
  payload: Payload;
  payloadFormat?: number | undefined;
  /** A reader that knows another one replays instead. */
  schemaRevision?: number | undefined;
  /** How many copies beside the latest are kept. */
  keep?: number | undefined;
  /** Hides, and later removes, a copy that was kept; never the latest. */
  ttlS?: number | undefined;
  /** Whose data the payload is: it is sealed under a key of theirs, which can be destroyed. */
  subject?: string | undefined;
}

export interface Append {
  events: Iterable<NewEvent>;
  /** By aggregate; there is no default: an aggregate that is not named is not checked. */
  expect?: Readonly<Record<string, ExpectedVersion>> | undefined;
  /** All of them are required. */
  failIf?: Condition | Iterable<Condition> | undefined;
  snapshots?: Iterable<NewSnapshot> | undefined;
  /** A command's id and its reply, stored with its events: the same command again gives the stored reply. */
  command?: { aggregate: string; id: Uint8Array | string; reply?: Uint8Array } | undefined;
  /**
   * A UUID that names the request, so that another process can send it again: events without an id get theirs from it. Absent: the events' ids
   * name it, which are made once for all tries where they are not given.
   */
  requestId?: string | undefined;
  /** How many of the events that make a condition fail come with the error. 0 */
  conflictsMax?: number | undefined;
  /** `ordered`: when positions are known (the default); `durable`: as soon as it will survive. In one process both are the same. */
  ack?: "ordered" | "durable" | undefined;
}

/** The same for every try of the same append, but for `duplicate` and `watermark`. */
export interface Appended {
  firstPosition: number;
  lastPosition: number;
  /** Of each aggregate it wrote to, after it. */
  versions: Record<string, number>;
  /** It was stored already: an earlier try got through. */
  duplicate: boolean;
  /** For `atLeast`: reads there see this append. */
  watermark: number;
}

/** The bytes of an append: the same for each try; and what its shard follows from, where that is known here. Errors: InvalidArgumentError, TooLargeError */
export function encodeAppend(append: Append): { bytes: Uint8Array; first: string | Uint8Array | undefined } {
  const named = append.requestId !== undefined;
  const { events, expectations, conditions, first } = appendMessage(append, !named);
  const bytes = encode(AppendRequestSchema, {
    ...(named && { requestId: uuidBytes(append.requestId!, "requestId") }),
    events,
    expectations,
    conditions,
    snapshots: [...(append.snapshots ?? [])].map((snapshot, i) => snapshotMessage(snapshot, `snapshots[${i}]`)),
    ...(append.command && {
      command: {
        aggregate: splitAggregate(append.command.aggregate),
        id: typeof append.command.id === "string" ? new TextEncoder().encode(append.command.id) : append.command.id,
        ...(append.command.reply && { reply: append.command.reply }),
      },
    }),
    ack: append.ack === "durable" ? Ack.DURABLE : Ack.ORDERED,
    conflictsMax: append.conflictsMax ?? 0,
  });
  const id = events[0]?.id as Uint8Array | undefined;
  return { bytes, first: first ?? (id?.length === 16 ? id : undefined) };
}

/** Events, expectations and conditions. `makeIds`: of events that have none. `first`: the aggregate of the first event */
export function appendMessage(
  append: Pick<Append, "events" | "expect" | "failIf">,
  makeIds: boolean,
): {
  events: MessageInitShape<typeof EventSchema>[];
  expectations: MessageInitShape<typeof ExpectationSchema>[];
  conditions: MessageInitShape<typeof AppendConditionSchema>[];
  first: string | undefined;
} {
  const events = [...append.events];
  const conditions = append.failIf === undefined ? [] : "query" in append.failIf ? [append.failIf] : [...append.failIf];
  return {
    events: events.map((event, i) => eventMessage(event, makeIds ? newId() : "", `events[${i}]`)),
    expectations: Object.entries(append.expect ?? {}).map(([aggregate, version]) => ({
      aggregate: splitAggregate(aggregate),
      version: expectation(version, aggregate),
    })),
    conditions: conditions.map(({ query, after = 0 }, i) => ({
      query: query.message(),
      after: toUint64(after, `failIf[${i}].after`),
    })),
    first: events[0]?.aggregate,
  };
}

function expectation(version: ExpectedVersion, aggregate: string): MessageInitShape<typeof ExpectedVersionSchema> {
  switch (version) {
    case "any":
      return { kind: ExpectedVersion_Kind.ANY };
    case "none":
      return { kind: ExpectedVersion_Kind.NONE };
    case "exists":
      return { kind: ExpectedVersion_Kind.EXISTS };
  }
  if (typeof version !== "number")
    throw new InvalidArgumentError(
      `expect["${aggregate}"]: ${JSON.stringify(version)} is none of any, none, exists and a number`,
    );
  return { kind: ExpectedVersion_Kind.EXACTLY, number: toUint64(version, `expect["${aggregate}"]`) };
}

export function snapshotMessage(snapshot: NewSnapshot, what: string): MessageInitShape<typeof SnapshotSchema> {
  const payload = encodePayload(snapshot.payload, `${what}.payload`);
  return {
    aggregate: splitAggregate(snapshot.aggregate),
    version: toUint64(snapshot.version ?? 0, `${what}.version`),
    payload: payload.bytes,
    payloadFormat: snapshot.payloadFormat ?? payload.format,
    schemaRevision: snapshot.schemaRevision ?? 0,
    ...(snapshot.keep !== undefined && { keep: snapshot.keep }),
    ...(snapshot.ttlS !== undefined && { ttlS: toUint64(snapshot.ttlS, `${what}.ttlS`) }),
    ...(snapshot.subject !== undefined && { subject: textOf(snapshot.subject, `${what}.subject`) }),
  };
}

export function appendedOf(response: AppendResponse): Appended {
  return {
    firstPosition: toNumber(response.firstPosition),
    lastPosition: toNumber(response.lastPosition),
    versions: Object.fromEntries(
      response.versions.map(({ aggregate, version }) => [aggregateText(aggregate!), toNumber(version)]),
    ),
    duplicate: response.duplicate,
    watermark: toNumber(response.watermark),
  };
}
