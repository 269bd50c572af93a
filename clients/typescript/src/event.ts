// Events: as given to an append, and as the store gives them back.

import type { MessageInitShape } from "@bufbuild/protobuf";

import { InvalidArgumentError } from "./errors.js";
import {
  EventState,
  type Event as GivenMessage,
  type EventSchema,
  type RecordedEvent as Message,
} from "./gen/evershard/v1/event_pb.js";
import { aggregateText, isUtf8, splitAggregate, textOf, toNumber, uuidBytes, uuidText } from "./ids.js";
import { microseconds, timestampText } from "./timestamp.js";

/** How a payload is to be read; from 1000 on they are the user's. */
export const PayloadFormat = { unspecified: 0, json: 1, protobuf: 2, text: 3, encrypted: 4 } as const;

/** Bytes as they are (format unspecified), a string as UTF-8 (text), anything else as JSON. `payloadFormat` says otherwise. */
export type Payload = Uint8Array | string | JsonValue;
export type JsonValue =
  | null
  | boolean
  | number
  | string
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue | undefined };

/** An event to be appended. */
export interface NewEvent {
  /** Absent: a tagged event without an aggregate. */
  aggregate?: string | undefined;
  type: string;
  tags?: Iterable<string> | undefined;
  /** Further aggregates it concerns. */
  also?: Iterable<string> | undefined;
  payload?: Payload | undefined;
  payloadFormat?: number | undefined;
  /** Absent: none, which is not the same as empty. */
  metadata?: Payload | undefined;
  /** A UUID. Absent: a random one, made once for all tries. */
  id?: string | undefined;
  /** A Date, RFC 3339 text, or microseconds since 1970. Absent: the server's time when it is appended. */
  occurredAt?: Date | string | bigint | undefined;
  /** Whose data the payload is: it is sealed under a key of theirs, which can be destroyed. Absent: nobody's. */
  subject?: string | undefined;
}

/** Bytes and the format they have by themselves. Errors: InvalidArgumentError */
export function encodePayload(payload: Payload | undefined, what: string): { bytes: Uint8Array; format: number } {
  if (payload === undefined) return { bytes: new Uint8Array(), format: PayloadFormat.unspecified };
  if (payload instanceof Uint8Array) return { bytes: payload, format: PayloadFormat.unspecified };
  if (typeof payload === "string") {
    if (!isUtf8(payload)) throw new InvalidArgumentError(`${what}: half of a surrogate pair is no UTF-8`);
    return { bytes: new TextEncoder().encode(payload), format: PayloadFormat.text };
  }
  let json: string | undefined;
  try {
    json = JSON.stringify(payload);
  } catch (cause) {
    throw new InvalidArgumentError(`${what}: cannot be written as JSON`, {}, { cause });
  }
  if (json === undefined) throw new InvalidArgumentError(`${what}: a ${typeof payload} cannot be written as JSON`);
  return { bytes: new TextEncoder().encode(json), format: PayloadFormat.json };
}

/** `id`: for an event that has none; empty: the server makes one. Errors: InvalidArgumentError, TooLargeError */
export function eventMessage(event: NewEvent, id: string, what: string): MessageInitShape<typeof EventSchema> {
  const payload = encodePayload(event.payload, `${what}.payload`);
  const given = event.id ?? id;
  return {
    ...(given !== "" && { id: uuidBytes(given, `${what}.id`) }),
    ...(event.aggregate !== undefined && { aggregate: splitAggregate(event.aggregate) }),
    type: textOf(event.type, `${what}.type`),
    tags: [...(event.tags ?? [])].map((tag, i) => textOf(tag, `${what}.tags[${i}]`)),
    also: [...(event.also ?? [])].map(splitAggregate),
    payload: payload.bytes,
    payloadFormat: event.payloadFormat ?? payload.format,
    ...(event.metadata !== undefined && { metadata: encodePayload(event.metadata, `${what}.metadata`).bytes }),
    ...(event.occurredAt !== undefined && { occurredAtUs: microseconds(event.occurredAt, `${what}.occurredAt`) }),
    ...(event.subject !== undefined && { subject: textOf(event.subject, `${what}.subject`) }),
  };
}

/** What an event and a snapshot have in common: bytes, and how to read them. */
export abstract class Stored {
  abstract readonly payload: Uint8Array;
  /** See PayloadFormat. */
  abstract readonly payloadFormat: number;

  /** The payload, parsed as JSON whatever its format says. Numbers beyond 2^53 are rounded, as JSON.parse does. Errors: SyntaxError */
  json<T = unknown>(): T {
    return JSON.parse(this.text()) as T;
  }
  /** The payload as text. Errors: TypeError: it is not UTF-8 */
  text(): string {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(this.payload);
  }
}

/** An event as it was given, to be stored later. It can be given again: it is a NewEvent. */
export class GivenEvent extends Stored implements NewEvent {
  /** Absent: the store makes one. */
  readonly id: string | undefined;
  readonly aggregate: string | undefined;
  readonly type: string;
  readonly tags: string[];
  readonly also: string[];
  readonly payload: Uint8Array;
  readonly payloadFormat: number;
  /** Absent: none, which is not the same as empty. */
  readonly metadata: Uint8Array | undefined;
  /** Absent: the server's time when it is appended. */
  readonly occurredAt: string | undefined;
  readonly subject: string | undefined;

  constructor(message: GivenMessage) {
    super();
    this.id = message.id.length === 16 ? uuidText(message.id) : undefined;
    this.aggregate = message.aggregate && aggregateText(message.aggregate);
    this.type = message.type;
    this.tags = message.tags;
    this.also = message.also.map(aggregateText);
    this.payload = message.payload.slice();
    this.payloadFormat = message.payloadFormat;
    this.metadata = message.metadata?.slice();
    this.occurredAt = message.occurredAtUs === undefined ? undefined : timestampText(message.occurredAtUs);
    this.subject = message.subject === "" ? undefined : message.subject;
  }

  /** As an append takes it; payload and metadata as JSON where they are, else as base64. */
  toJSON(): Record<string, unknown> {
    return {
      ...(this.id !== undefined && { id: this.id }),
      ...(this.aggregate !== undefined && { aggregate: this.aggregate }),
      type: this.type,
      ...(this.tags.length > 0 && { tags: this.tags }),
      ...(this.also.length > 0 && { also: this.also }),
      ...(this.payload.length > 0 && shown("payload", this.payload, this.payloadFormat <= PayloadFormat.json)),
      payload_format: this.payloadFormat,
      ...(this.metadata && shown("metadata", this.metadata, true)),
      ...(this.occurredAt !== undefined && { occurred_at: this.occurredAt }),
      ...(this.subject !== undefined && { subject: this.subject }),
    };
  }
}

/** An event as stored. */
export class RecordedEvent extends Stored {
  /** In the global order, dense, from 1. */
  readonly position: number;
  readonly shard: number;
  /** In its shard, ascending, from 1. */
  readonly offset: number;
  readonly id: string;
  /** Such as `order-1`. */
  readonly aggregate: string | undefined;
  /** In its aggregate's stream, dense, from 1; 0 without an aggregate. */
  readonly seqNr: number;
  readonly type: string;
  readonly tags: string[];
  readonly also: string[];
  readonly payload: Uint8Array;
  readonly payloadFormat: number;
  /** Absent: none, which is not the same as empty. */
  readonly metadata: Uint8Array | undefined;
  /** UTC with microseconds, such as `2026-01-31T12:00:00.000000Z`. */
  readonly occurredAt: string;
  /** `removed`: only its id, aggregate, number and place are kept; `erased`: all but the payload. */
  readonly state: "live" | "removed" | "erased";
  /** Its number in its append, from 0, and how many events that has. */
  readonly appendIndex: number;
  readonly appendEvents: number;
  /** Of a sealed payload: whose data it is; else empty. */
  readonly subject: string;

  constructor(message: Message) {
    super();
    this.position = toNumber(message.position);
    this.shard = message.shard;
    this.offset = toNumber(message.offset);
    this.id = uuidText(message.id);
    this.aggregate = message.aggregate && aggregateText(message.aggregate);
    this.seqNr = toNumber(message.seqNr);
    this.type = message.type;
    this.tags = message.tags;
    this.also = message.also.map(aggregateText);
    this.payload = message.payload.slice(); // so that one event that is kept does not keep its whole page
    this.payloadFormat = message.payloadFormat;
    this.metadata = message.metadata?.slice();
    this.occurredAt = timestampText(message.occurredAtUs);
    this.state =
      message.state === EventState.REMOVED ? "removed" : message.state === EventState.ERASED ? "erased" : "live";
    this.appendIndex = message.appendIndex;
    this.appendEvents = message.appendEvents || 1;
    this.subject = message.subject;
  }

  /** As the command line shows it; payload and metadata as JSON where they are, else as base64. */
  toJSON(): Record<string, unknown> {
    return {
      position: this.position,
      shard: this.shard,
      offset: this.offset,
      id: this.id,
      ...(this.aggregate !== undefined && { aggregate: this.aggregate, seq_nr: this.seqNr }),
      type: this.type,
      ...(this.tags.length > 0 && { tags: this.tags }),
      ...(this.also.length > 0 && { also: this.also }),
      ...(this.payload.length > 0 && shown("payload", this.payload, this.payloadFormat <= PayloadFormat.json)),
      payload_format: this.payloadFormat,
      ...(this.metadata && shown("metadata", this.metadata, true)),
      occurred_at: this.occurredAt,
      ...(this.subject !== "" && { subject: this.subject }),
      ...(this.state !== "live" && { state: this.state }),
    };
  }
}

function shown(name: string, bytes: Uint8Array, maybeJson: boolean): Record<string, unknown> {
  if (maybeJson) {
    try {
      return { [name]: JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes)) };
    } catch {
      // not JSON
    }
  }
  return { [name]: Buffer.from(bytes).toString("base64"), [`${name}_encoding`]: "base64" };
}
