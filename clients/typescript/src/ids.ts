// Ids and numbers: aggregate ids as text, event ids as UUIDs, 64-bit numbers as numbers. docs/internals/ids.md has the rules and the vectors.

import { randomUUID } from "node:crypto";

import { InvalidArgumentError, TooLargeError } from "./errors.js";

const typeBytesMax = 128;
const valueBytesMax = 512;
const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * The parts of an aggregate id such as `order-1`, split at the first `-`. Bytes are read as UTF-8.
 * Errors: InvalidArgumentError, TooLargeError
 */
export function splitAggregate(text: string | Uint8Array): { type: string; value: string } {
  const id = textOf(typeof text === "object" ? decoded(text) : text, "aggregate id");
  const dash = id.indexOf("-");
  if (dash < 0) throw new InvalidArgumentError(`aggregate id ${JSON.stringify(id)} has no '-' between type and value`);
  const parts = { type: id.slice(0, dash), value: id.slice(dash + 1) };
  check("aggregate type", parts.type, typeBytesMax);
  check("aggregate value", parts.value, valueBytesMax);
  return parts;
}

function decoded(bytes: Uint8Array): string {
  try {
    return strict.decode(bytes);
  } catch {
    throw new InvalidArgumentError(`aggregate id ${JSON.stringify(new TextDecoder().decode(bytes))} is not UTF-8`);
  }
}

/** An aggregate id of its parts. Errors: InvalidArgumentError, TooLargeError */
export function aggregateId(type: string, value: string): string {
  if (type.includes("-")) throw new InvalidArgumentError(`aggregate type ${JSON.stringify(type)} contains a '-'`);
  splitAggregate(`${type}-${value}`);
  return `${type}-${value}`;
}

export function aggregateText(id: { type: string; value: string }): string {
  return `${id.type}-${id.value}`;
}

function check(what: string, text: string, bytesMax: number): void {
  if (text === "") throw new InvalidArgumentError(`${what} is empty`);
  if (text.includes("\0")) throw new InvalidArgumentError(`${what} ${JSON.stringify(text)} contains a NUL`);
  const bytes = Buffer.byteLength(text);
  if (bytes > bytesMax) throw new TooLargeError(`${what} has ${bytes} bytes, the most are ${bytesMax}`);
}

/** No half of a surrogate pair is in it: it can be written as UTF-8. As String.isWellFormed, which Node 18 does not have. */
export function isUtf8(text: string): boolean {
  return !/\p{Surrogate}/u.test(text);
}

/** Text that goes over the wire as it is; half of a surrogate pair would silently become U+FFFD. Errors: InvalidArgumentError */
export function textOf(value: string, what: string): string {
  if (typeof value !== "string")
    throw new InvalidArgumentError(`${what}: must be a string, is ${JSON.stringify(value)}`);
  if (!isUtf8(value))
    throw new InvalidArgumentError(`${what}: ${JSON.stringify(value)} is not UTF-8: half of a surrogate pair`);
  return value;
}

/** A random UUID (version 4). */
export function newId(): string {
  return randomUUID();
}

/** The 16 bytes of a UUID. Errors: InvalidArgumentError */
export function uuidBytes(text: string, what: string): Uint8Array {
  if (typeof text !== "string" || !/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text))
    throw new InvalidArgumentError(`${what}: ${JSON.stringify(text)} is no UUID`);
  return new Uint8Array(Buffer.from(text.replaceAll("-", ""), "hex"));
}

export function uuidText(bytes: Uint8Array): string {
  const hex = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** A number the server gave. Positions are counted from 1: at a million events a second, 2^53 is 285 years away; it is never rounded. */
export function toNumber(value: bigint): number {
  const number = Number(value);
  if (!Number.isSafeInteger(number)) throw new RangeError(`${value} is more than a number holds exactly`);
  return number;
}

/** Errors: InvalidArgumentError */
export function toUint64(value: number, what: string): bigint {
  if (!Number.isSafeInteger(value) || value < 0)
    throw new InvalidArgumentError(`${what}: ${String(value)} is no whole number from 0 to 2^53 - 1`);
  return BigInt(value);
}
