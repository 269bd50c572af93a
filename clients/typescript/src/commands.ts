// Commands to the aggregates that a server's application hosts. See docs/aggregates-advanced.md, "From other languages".

import { createFileRegistry, fromBinary, type FileRegistry } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";

import type { CallOptions, Connection } from "./connection.js";
import { CorruptionError, InvalidArgumentError } from "./errors.js";
import type { JsonValue } from "./event.js";
import { Aggregates as Service, type HostedType as HostedTypeMessage } from "./gen/evershard/v1/asks_pb.js";
import { splitAggregate, textOf, toNumber } from "./ids.js";

/** Bytes, as the command's codec writes them, or what its JSON says. */
export type Command = Uint8Array | JsonValue;

export interface AskOptions extends CallOptions {
  /** The same again gives the stored reply. Such a command is asked again where a connection breaks. */
  commandId?: string | undefined;
}

/** What became of a command. A rejection is a rule's answer, not an error: nothing was written. */
export type CommandAnswer =
  | {
      readonly outcome: "replied";
      /** Of a command that was asked with JSON what that says, else bytes; `undefined`: it says that it is done, and no more. */
      readonly reply: JsonValue | Uint8Array | undefined;
      /** This is the reply that was stored with the command's id. */
      readonly duplicate: boolean;
      /** Of the aggregate as the command left it. */
      readonly version: number;
      /** Of the command's last event; 0: it wrote none. */
      readonly position: number;
    }
  | { readonly outcome: "rejected"; readonly rejection: string; readonly version: number };

/** How a type is written. */
export interface HostedType {
  readonly payloadFormat: number;
  /** The full name of its Protobuf message; empty: the application has a codec of its own. */
  readonly message: string;
}

export interface HostedCommand {
  /** Logical. */
  readonly name: string;
  readonly type: HostedType;
  /** Absent: it says that it is done, and no more. */
  readonly reply?: HostedType;
  /** It can only look. */
  readonly query: boolean;
}

export interface HostedEvent {
  readonly name: string;
  readonly type: HostedType;
  /** Read, and not written any more. */
  readonly old: boolean;
}

export interface HostedKind {
  readonly type: string;
  readonly state: HostedType;
  readonly commands: readonly HostedCommand[];
  readonly events: readonly HostedEvent[];
}

/** What the server's application hosts; of a server that hosts nothing, nothing. */
export interface HostedKinds {
  readonly kinds: readonly HostedKind[];
  /** A google.protobuf.FileDescriptorSet of every message that is named. */
  readonly descriptors: Uint8Array;
  /** The same, for @bufbuild/protobuf: its messages are made, written and read with it. */
  readonly registry: FileRegistry;
}

export async function ask(
  connection: Connection,
  aggregate: string,
  command: string,
  payload: Command,
  options: AskOptions,
): Promise<CommandAnswer> {
  const isBytes = payload instanceof Uint8Array;
  const request = {
    aggregate: splitAggregate(aggregate),
    command: textOf(command, "command"),
    commandId: options.commandId === undefined ? "" : textOf(options.commandId, "commandId"),
    timeoutMs: options.timeoutMs === undefined ? 0 : Math.max(1, Math.min(Math.ceil(options.timeoutMs), 0xffff_ffff)),
    payload: isBytes
      ? ({ case: "bytes", value: payload } as const)
      : ({ case: "json", value: jsonOf(payload) } as const),
  };
  const { outcome } = request.commandId
    ? await connection.unary(Service.method.ask, request, options, "append")
    : await connection.unary(Service.method.ask, request, options, "change");
  if (outcome.case === "rejected")
    return { outcome: "rejected", rejection: outcome.value.reason, version: toNumber(outcome.value.version) };
  if (outcome.case !== "replied")
    throw new CorruptionError("the server answered with an outcome that is not known here");
  const { reply, json, duplicate, version, position } = outcome.value;
  connection.see(toNumber(position));
  return {
    outcome: "replied",
    reply: isBytes ? reply : json !== "" ? (JSON.parse(json) as JsonValue) : reply.length > 0 ? reply : undefined,
    duplicate,
    version: toNumber(version),
    position: toNumber(position),
  };
}

export async function kinds(connection: Connection, options?: CallOptions): Promise<HostedKinds> {
  const answer = await connection.unary(Service.method.listKinds, {}, options);
  return {
    kinds: answer.kinds.map(({ type, state, commands, events }) => ({
      type,
      state: typeOf(state),
      commands: commands.map(({ name, type, reply, query }) => ({
        name,
        type: typeOf(type),
        ...(reply && { reply: typeOf(reply) }),
        query,
      })),
      events: events.map(({ name, type, old }) => ({ name, type: typeOf(type), old })),
    })),
    descriptors: answer.descriptors,
    registry: createFileRegistry(fromBinary(FileDescriptorSetSchema, answer.descriptors)),
  };
}

const typeOf = (type: HostedTypeMessage | undefined): HostedType => ({
  payloadFormat: type?.payloadFormat ?? 0,
  message: type?.message ?? "",
});

function jsonOf(payload: unknown): string {
  const json: string | undefined = JSON.stringify(payload);
  if (json === undefined) throw new InvalidArgumentError("the payload is no JSON");
  return json;
}
