// What will never work is told at once: why no connection is made, in plain words, and when that is final. Decisions, without a clock or a connection.

import { InvalidArgumentError, UnavailableError, type EvershardError } from "./errors.js";

type Words = readonly (readonly [parts: readonly string[], words: string])[];

const atOnce: Words = [
  [
    ["certificate_verify_failed", "self-signed", "self signed", "unable to verify", "unable to get local issuer"],
    "its certificate is not signed by anybody who is trusted here",
  ],
  [["hostname verification", "altnames", "altname_invalid"], "its certificate is made out to another name"],
  [["wrong_version_number", "wrong version number"], "it does not speak TLS"],
  [["handshake failed"], "the TLS handshake fails: it does not speak TLS, or its certificate is not trusted here"],
  [
    ["http1.x", "failed parsing http/2", "protocol error"],
    "it speaks HTTP/1, not gRPC: the HTTP door has a port of its own",
  ],
];
const inAMoment: Words = [
  [["connection refused", "econnrefused", "no such file or directory", "enoent"], "nobody listens there"],
  [["errors resolving", "dns resolution failed", "name resolution failed"], "there is no host of that name"],
  [
    ["socket closed", "connection reset", "econnreset", "last error: failed to connect ("],
    "it closes the connection at once: it may want TLS",
  ],
];
const momentMs = 1_000; // a server that is just being started again

/** As gRPC, or this client, says it where there was no connection to send a call over. */
export function neverSent(text: string): boolean {
  return /^(no connection to |failed to connect to all addresses|(DNS|Name) resolution failed|errors resolving |connections to all backends|No connection established)/.test(
    text,
  );
}

/** Of what gRPC says where no connection was made. Nothing: it is nothing that has to be mended first. */
export function wordsOf(text: string): string | undefined {
  if (text.startsWith("no connection to ") || !neverSent(text)) return undefined;
  const lower = text.toLowerCase();
  return [...atOnce, ...inAMoment].find(([parts]) => parts.some((part) => lower.includes(part)))?.[1];
}

/**
 * Of the addresses of one client. Once anybody has answered, a server that cannot be reached is waited for, as one that is being started again. Before
 * that, what no time mends is final when every address says so: at once, or, of what a start may look like, after a second. Times are milliseconds.
 */
export class ConnectFaults {
  readonly #addresses: number;
  readonly #since = new Map<number, number>();
  readonly #final = new Map<number, EvershardError>();
  #heard = false;

  constructor(addresses: number) {
    this.#addresses = addresses;
  }

  /** A server answered. */
  heard(): void {
    this.#heard = true;
  }
  /** What the call at this address ended with, or that it is final. */
  failed(number: number, address: string, error: EvershardError, now: number): EvershardError {
    if (error.told) this.heard();
    const words = this.#heard ? undefined : wordsOf(error.message);
    if (words === undefined) {
      this.#since.delete(number);
      this.#final.delete(number);
      return error;
    }
    const since = this.#since.get(number) ?? now;
    this.#since.set(number, since);
    if (atOnce.some(([, one]) => one === words) || now - since >= momentMs)
      this.#final.set(number, new UnavailableError(`no connection to ${address}: ${words}`, { lasting: true }));
    return this.final ?? error;
  }
  /** No address will ever work. */
  get final(): EvershardError | undefined {
    return this.#heard || this.#final.size < this.#addresses ? undefined : [...this.#final.values()][0];
  }
}

/** HOST:PORT; without a port 7420. Errors: InvalidArgumentError */
export function wholeAddress(text: string): string {
  if (/^(unix|unix-abstract|dns|ipv4|ipv6):/.test(text)) return text; // gRPC's own
  const bracketed = /^\[([^[\]]+)\](?::(.*))?$/s.exec(text);
  let host = text;
  let port: string | undefined;
  if (bracketed) [, host, port] = bracketed as unknown as [string, string, string | undefined];
  else if (text.split(":").length === 2) [host, port] = text.split(":") as [string, string];
  if (host === "" || (bracketed ? /[\s/]/ : /[\s/[\]]/).test(host))
    throw new InvalidArgumentError(`${JSON.stringify(text)} is no address: HOST:PORT, [IPV6]:PORT or unix:PATH`);
  if (port !== undefined && !(/^\d+$/.test(port) && Number(port) > 0 && Number(port) < 65_536))
    throw new InvalidArgumentError(`${JSON.stringify(text)} is no address: its port is no number from 1 to 65535`);
  return `${host.includes(":") ? `[${host}]` : host}:${port ?? 7_420}`;
}
