// What went wrong, one class a code, so that a caller can decide by `instanceof` what to do.

import { fromBinary } from "@bufbuild/protobuf";
import { BinaryReader } from "@bufbuild/protobuf/wire";
import { Metadata, status, type StatusObject } from "@grpc/grpc-js";

import { RecordedEvent } from "./event.js";
import {
  ErrorCode,
  ErrorSchema,
  ExpectedVersion_Kind,
  type Error as ErrorMessage,
} from "./gen/evershard/v1/store_pb.js";
import { neverSent } from "./connect_faults.js";
import { aggregateText, toNumber } from "./ids.js";

/** What an append expects of an aggregate; a number is its version. */
export type ExpectedVersion = "any" | "none" | "exists" | number;

/** As on the command line and in every other client. `unknown`: what is no answer of this server, or of a newer one. */
export type Code =
  | "version_conflict"
  | "condition_failed"
  | "duplicate_event"
  | "not_found"
  | "invalid_argument"
  | "invalid_query"
  | "too_large"
  | "wrong_shard"
  | "fenced"
  | "unavailable"
  | "overloaded"
  | "timeout"
  | "corruption"
  | "io"
  | "cancelled"
  | "unauthenticated"
  | "permission_denied"
  | "already_exists"
  | "unknown";

/** The values that decided it; which of them are there, the classes say. */
export interface Details {
  aggregate?: string;
  expected?: ExpectedVersion;
  actual?: number;
  condition?: number;
  position?: number;
  shard?: number;
  offset?: number;
  conflicts?: RecordedEvent[];
  retryAfterMs?: number;
  lasting?: boolean;
  /** Of a schedule whose outcome is unknown. */
  scheduleId?: string;
}

/** Everything this package throws. */
export class EvershardError extends Error {
  readonly code: Code = "unknown";
  readonly details: Details;
  /** The same request may succeed later. The client has tried again already, where that is safe, until its time was over. */
  readonly retryable: boolean = false;
  /** Of an append: it may be stored, or not. */
  readonly outcomeUnknown: boolean = false;
  /** The server said it; else it happened on the way. */
  told = false;

  constructor(message: string, details: Details = {}, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
    this.details = details;
  }
}

/** An aggregate is not at the expected version: read it again and decide again. */
export class VersionConflictError extends EvershardError {
  override readonly code = "version_conflict";
  get aggregate(): string | undefined {
    return this.details.aggregate;
  }
  get expected(): ExpectedVersion | undefined {
    return this.details.expected;
  }
  get actual(): number | undefined {
    return this.details.actual;
  }
}

/** An event matches an append condition: read again and decide again. */
export class ConditionFailedError extends EvershardError {
  override readonly code = "condition_failed";
  /** Which, from 0, in the append's order. */
  get condition(): number | undefined {
    return this.details.condition;
  }
  /** Of the first event that matches. */
  get position(): number | undefined {
    return this.details.position;
  }
  /** The first of the events that match, as many as `conflictsMax` asked for and had room. */
  get conflicts(): RecordedEvent[] {
    return this.details.conflicts ?? [];
  }
}

/** An event id is stored already, by another request. */
export class DuplicateEventError extends EvershardError {
  override readonly code = "duplicate_event";
  /** Where. */
  get position(): number | undefined {
    return this.details.position;
  }
}

export class NotFoundError extends EvershardError {
  override readonly code = "not_found";
}
/** What was to be created has a name that is taken. With `ifAbsent` one of the same definition is given as it is. */
export class AlreadyExistsError extends EvershardError {
  override readonly code = "already_exists";
}
export class InvalidArgumentError extends EvershardError {
  override readonly code = "invalid_argument";
}
/**
 * The server's store is another fork than the one that was followed: it was restored, or is another copy. Everything up to the subscription's
 * `watermark` is of the fork that was followed; of what the store has now, events in front of it may be others.
 */
export class ForkChangedError extends InvalidArgumentError {}
export class InvalidQueryError extends EvershardError {
  override readonly code = "invalid_query";
}
/** Over a limit, which the message names. */
export class TooLargeError extends EvershardError {
  override readonly code = "too_large";
}
export class WrongShardError extends EvershardError {
  override readonly code = "wrong_shard";
  override readonly retryable = true;
}
export class FencedError extends EvershardError {
  override readonly code = "fenced";
  override readonly retryable = true;
}

/** Not now: no connection, or the server cannot. */
export class UnavailableError extends EvershardError {
  override readonly code = "unavailable";
  override readonly retryable: boolean;
  override readonly outcomeUnknown: boolean;
  constructor(message: string, details: Details = {}, options: ErrorOptions & { outcomeUnknown?: boolean } = {}) {
    super(message, details, options);
    this.outcomeUnknown = options.outcomeUnknown ?? false;
    this.retryable = !this.lasting;
  }
  /** Until somebody mends it: trying again alone changes nothing. */
  get lasting(): boolean {
    return this.details.lasting ?? false;
  }
}

/** A bounded queue is full. */
export class OverloadedError extends EvershardError {
  override readonly code = "overloaded";
  override readonly retryable = true;
  get retryAfterMs(): number | undefined {
    return this.details.retryAfterMs;
  }
}

/** Not in time. */
export class TimeoutError extends EvershardError {
  override readonly code = "timeout";
  override readonly outcomeUnknown: boolean;

  constructor(message: string, details: Details = {}, options: ErrorOptions & { outcomeUnknown?: boolean } = {}) {
    super(message, details, options);
    this.outcomeUnknown = options.outcomeUnknown ?? true;
  }
}
/** No answer says whether it is stored, or done. Of an append time is over: send the same again, with the same ids, to know. */
export class OutcomeUnknownError extends TimeoutError {
  /** Of schedule(): what it can be asked for by, or scheduled with again. */
  get scheduleId(): string | undefined {
    return this.details.scheduleId;
  }
}

/** Damaged data was found; it is never served. */
export class CorruptionError extends EvershardError {
  override readonly code = "corruption";
}
/** The store has failed for good; the outcome of what was under way is unknown. */
export class IoError extends EvershardError {
  override readonly code = "io";
  override readonly outcomeUnknown = true;
}
/** By its signal, or because the client was closed; `cause` is the signal's reason. An append that was under way may be stored. */
export class CancelledError extends EvershardError {
  override readonly code = "cancelled";
}
/** No token, or one that is not known. */
export class UnauthenticatedError extends EvershardError {
  override readonly code = "unauthenticated";
}
/** A token whose scopes do not reach so far. */
export class PermissionDeniedError extends EvershardError {
  override readonly code = "permission_denied";
}

const classes = {
  [ErrorCode.UNSPECIFIED]: EvershardError,
  [ErrorCode.VERSION_CONFLICT]: VersionConflictError,
  [ErrorCode.CONDITION_FAILED]: ConditionFailedError,
  [ErrorCode.DUPLICATE_EVENT]: DuplicateEventError,
  [ErrorCode.NOT_FOUND]: NotFoundError,
  [ErrorCode.INVALID_ARGUMENT]: InvalidArgumentError,
  [ErrorCode.INVALID_QUERY]: InvalidQueryError,
  [ErrorCode.TOO_LARGE]: TooLargeError,
  [ErrorCode.WRONG_SHARD]: WrongShardError,
  [ErrorCode.FENCED]: FencedError,
  [ErrorCode.UNAVAILABLE]: UnavailableError,
  [ErrorCode.OVERLOADED]: OverloadedError,
  [ErrorCode.TIMEOUT]: TimeoutError,
  [ErrorCode.CORRUPTION]: CorruptionError,
  [ErrorCode.IO]: IoError,
  [ErrorCode.CANCELLED]: CancelledError,
  [ErrorCode.UNAUTHENTICATED]: UnauthenticatedError,
  [ErrorCode.PERMISSION_DENIED]: PermissionDeniedError,
  [ErrorCode.ALREADY_EXISTS]: AlreadyExistsError,
} satisfies Record<ErrorCode, new (message: string, details?: Details) => EvershardError>;

/** What the server said. */
export function errorOf(message: ErrorMessage): EvershardError {
  const details: Details = {};
  if (message.aggregate) details.aggregate = aggregateText(message.aggregate);
  if (message.expected) details.expected = expectedOf(message.expected);
  if (message.actual !== undefined) details.actual = toNumber(message.actual);
  if (message.condition !== undefined) details.condition = message.condition;
  if (message.position !== undefined) details.position = toNumber(message.position);
  if (message.shard !== undefined) details.shard = message.shard;
  if (message.offset !== undefined) details.offset = toNumber(message.offset);
  if (message.conflicts.length > 0) details.conflicts = message.conflicts.map((event) => new RecordedEvent(event));
  if (message.retryAfterMs !== undefined) details.retryAfterMs = message.retryAfterMs;
  if (message.lasting) details.lasting = true;
  const Class: new (message: string, details?: Details) => EvershardError = classes[message.code] ?? EvershardError;
  const error = new Class(message.message, details);
  error.told = true;
  return error;
}

export function expectedOf(version: { kind: ExpectedVersion_Kind; number: bigint } | undefined): ExpectedVersion {
  switch (version?.kind) {
    case ExpectedVersion_Kind.NONE:
      return "none";
    case ExpectedVersion_Kind.EXISTS:
      return "exists";
    case ExpectedVersion_Kind.EXACTLY:
      return toNumber(version.number);
    default:
      return "any";
  }
}

/** A call's status. Without an Error in its details the server did not speak: the connection broke, or what lies between. */
export function errorOfStatus({ code, details: text, metadata }: StatusObject): EvershardError {
  const said = errorIn(metadata);
  // A store that refuses who was answered by another fork names its own.
  if (said?.code === ErrorCode.INVALID_ARGUMENT && metadata.get("evershard-fork").length > 0) {
    const error = new ForkChangedError(said.message);
    error.told = true;
    return error;
  }
  if (said) return errorOf(said);
  switch (code) {
    case status.UNAVAILABLE: // before there was a connection, nothing can have been stored
      return new UnavailableError(text, {}, { outcomeUnknown: !neverSent(text) });
    case status.INTERNAL: // a stream that was reset,
    case status.CANCELLED: // or cut off by a server that stops
      return new UnavailableError(`the connection broke: ${text}`, {}, { outcomeUnknown: true });
    case status.DEADLINE_EXCEEDED: // nor while it was waited for
      return new TimeoutError(
        text,
        {},
        { outcomeUnknown: !/\bwaiting for (name resolution|metadata filters|LB pick)/i.test(text) },
      );
    case status.RESOURCE_EXHAUSTED:
      return new TooLargeError(text);
    case status.INVALID_ARGUMENT:
      return new InvalidArgumentError(text);
    case status.UNAUTHENTICATED:
      return new UnauthenticatedError(text);
    case status.PERMISSION_DENIED:
      return new PermissionDeniedError(text);
    default:
      return new EvershardError(`${status[code]}: ${text}`);
  }
}

/** The status details: a google.rpc.Status, whose field 3 is an Any (1 type, 2 value). */
function errorIn(metadata: Metadata): ErrorMessage | undefined {
  const [bytes] = metadata.get("grpc-status-details-bin");
  if (!(bytes instanceof Uint8Array)) return undefined;
  try {
    for (const any of fieldsOf(bytes, 3)) {
      const [type] = fieldsOf(any, 1);
      if (new TextDecoder().decode(type) !== "type.googleapis.com/evershard.v1.Error") continue;
      return fromBinary(ErrorSchema, fieldsOf(any, 2)[0] ?? new Uint8Array());
    }
  } catch {
    // somebody else's details: the status itself has to do
  }
  return undefined;
}

function fieldsOf(message: Uint8Array, wanted: number): Uint8Array[] {
  const reader = new BinaryReader(message);
  const found: Uint8Array[] = [];
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag();
    if (field === wanted) found.push(reader.bytes());
    else reader.skip(type, field);
  }
  return found;
}
