// Connection: the gRPC channels of a store, its calls as promises and async iterables, failures as EvershardError.

import { X509Certificate } from "node:crypto";
import { createSecureContext } from "node:tls";

import {
  create,
  fromBinary,
  isMessage,
  toBinary,
  type DescMessage,
  type DescMethod,
  type DescMethodBiDiStreaming,
  type DescMethodServerStreaming,
  type DescMethodUnary,
  type MessageInitShape,
  type MessageShape,
} from "@bufbuild/protobuf";
import {
  Client as Channel,
  compressionAlgorithms,
  connectivityState,
  credentials,
  Metadata,
  type ClientDuplexStream,
  type ServiceError,
} from "@grpc/grpc-js";

import { wholeAddress } from "./connect_faults.js";
import { CallFailed, Doors, type Door } from "./doors.js";
import {
  CancelledError,
  CorruptionError,
  errorOfStatus,
  EvershardError,
  InvalidArgumentError,
  UnavailableError,
} from "./errors.js";
import { GroupInfoSchema } from "./gen/evershard/v1/groups_pb.js";
import { EventStore } from "./gen/evershard/v1/service_pb.js";
import { forkKey, History, ledKey } from "./history.js";
import { toUint64 } from "./ids.js";
import { retrying, sleep } from "./retry.js";

/** PEM. `root` absent: the system's own; `cert` and `key`: for a server that asks clients for a certificate. */
export interface Tls {
  root?: Uint8Array | string | undefined;
  cert?: Uint8Array | string | undefined;
  key?: Uint8Array | string | undefined;
  /** What the server's certificate is made out to, where that is not the address. */
  serverName?: string | undefined;
}

export interface ConnectOptions {
  token?: string | undefined;
  /** `true`: with the system's roots. Absent: none, as a server on loopback or a Unix socket has it. */
  tls?: Tls | true | undefined;
  /** Sends a token without TLS to other machines. */
  insecure?: boolean | undefined;
  /** How long a call may take with all its tries. 30,000 */
  timeoutMs?: number | undefined;
  /** How long, from the first time on, a call is tried again that a server answers as `unavailable`. 5,000 */
  unavailableTimeoutMs?: number | undefined;
  /** Of what comes in. 64 MiB */
  receiveBytesMax?: number | undefined;
  /** Of what goes out. 20 MiB, as the server takes it */
  sendBytesMax?: number | undefined;
  /** Asks a silent server whether it is there, so that idle subscriptions live and dead ones end. 20,000; of several 5,000, and 3,000 later it is gone */
  keepaliveMs?: number | undefined;
  /** Of a cluster: learns its members, and sends each append to the node that decides it. `false` behind a load balancer. `true` */
  followShards?: boolean | undefined;
  /** Every read waits for what this client has seen, on whatever node, unless it says itself, by `atLeast`, what it waits for. `true` */
  readOwnWrites?: boolean | undefined;
  /** What it has seen already: another client's `seen`. */
  seen?: number | undefined;
  /** Of what is sent, and of the pages that come. */
  compression?: "gzip" | undefined;
  /** Told before each further try: for logs. */
  onRetry?: ((error: EvershardError, attempt: number) => void) | undefined;
}

export interface CallOptions {
  /** Ends the call with CancelledError. */
  signal?: AbortSignal | undefined;
  /** Instead of the connection's. */
  timeoutMs?: number | undefined;
}

/** Waits until the server's watermark has reached a position: reads what was written, on any node. */
export interface AtLeast {
  /** Absent: what this client has seen; 0: nothing. */
  atLeast?: number | undefined;
  /** Then it is a TimeoutError. The call's own time */
  atLeastTimeoutMs?: number | undefined;
}

/** What a request of a read says of it. */
export type AtLeastField = { atLeast?: { position: bigint; timeoutMs: number } };

/** Bytes of a message. Errors: InvalidArgumentError: a number out of range, a value of another type */
export function encode<Desc extends DescMessage>(schema: Desc, init: MessageInitShape<Desc>): Uint8Array {
  try {
    return toBinary(schema, create(schema, init));
  } catch (cause) {
    if (cause instanceof EvershardError) throw cause;
    throw new InvalidArgumentError(cause instanceof Error ? cause.message : String(cause), {}, { cause });
  }
}

export function decode<Desc extends DescMessage>(schema: Desc, bytes: Uint8Array): MessageShape<Desc> {
  try {
    return fromBinary(schema, new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length));
  } catch (cause) {
    throw new CorruptionError(`the server sent ${bytes.length} bytes that are no ${schema.typeName}`, {}, { cause });
  }
}

const asBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
const asBytes = (bytes: Buffer): Uint8Array => bytes;
const pathOf = (method: DescMethod): string => `/${method.parent.typeName}/${method.name}`;

function isThisMachine(address: string): boolean {
  return address.startsWith("unix:") || /^(dns:(\/\/\/)?)?(localhost|127(\.\d+){3}|\[::1\])(:\d+)?$/.test(address);
}

/** HOST:PORT,HOST:PORT, or a list of them; each once. Errors: InvalidArgumentError */
function addressesOf(given: string | readonly string[]): string[] {
  const found = [given].flat().flatMap((text) => text.split(",").map((one) => one.trim()));
  if (found.length === 0 || found.includes(""))
    throw new InvalidArgumentError(
      `${JSON.stringify(given)} has an empty address: HOST:PORT, or several, HOST:PORT,HOST:PORT`,
    );
  return [...new Set(found.map(wholeAddress))];
}

export class Connection {
  readonly timeoutMs: number;
  readonly unavailableTimeoutMs: number;
  readonly sendBytesMax: number;
  readonly onRetry: ConnectOptions["onRetry"];
  readonly #doors: Doors;
  readonly #history: History;
  readonly #readOwnWrites: boolean;
  #seen: number;
  readonly #token = new Metadata();
  readonly #closing = new AbortController();

  /** Connects with the first call. Errors: InvalidArgumentError */
  constructor(address: string | readonly string[], options: ConnectOptions) {
    this.timeoutMs = options.timeoutMs ?? 30_000;
    this.unavailableTimeoutMs = options.unavailableTimeoutMs ?? 5_000;
    this.sendBytesMax = options.sendBytesMax ?? 20 << 20;
    this.onRetry = options.onRetry;
    this.#readOwnWrites = options.readOwnWrites ?? true;
    this.#seen = options.seen ?? 0;
    if (options.token !== undefined) {
      try {
        this.#token.set("authorization", `Bearer ${options.token}`);
      } catch (cause) {
        throw new InvalidArgumentError("the token is no header value", {}, { cause });
      }
    }
    if (options.compression) this.#token.set("evershard-compression", options.compression);
    const addresses = addressesOf(address);
    this.#history = new History(addresses.length > 1);
    this.#doors = new Doors(addresses, {
      history: this.#history,
      channel: (one, several) => this.#channelTo(one, several, options),
      members: (door, deadline) => this.#members(door, deadline),
      followShards: options.followShards ?? true,
    });
  }

  #channelTo(address: string, several: boolean, options: ConnectOptions): Channel {
    const { token, tls, insecure = false } = options;
    if (token !== undefined && !tls && !insecure && !isThisMachine(address)) {
      throw new InvalidArgumentError(`a token would go to ${address} in the clear: use tls, or say insecure: true`);
    }
    try {
      return new Channel(address, tls ? secure(tls === true ? {} : tls) : credentials.createInsecure(), {
        "grpc.max_receive_message_length": options.receiveBytesMax ?? 64 << 20,
        "grpc.max_send_message_length": this.sendBytesMax,
        "grpc.keepalive_time_ms": options.keepaliveMs ?? (several ? 1_000 : 20_000),
        "grpc.keepalive_timeout_ms": several ? 1_500 : 10_000,
        "grpc.keepalive_permit_without_calls": 1,
        "grpc.initial_reconnect_backoff_ms": 100,
        "grpc.max_reconnect_backoff_ms": 1_000,
        "grpc.dns_min_time_between_resolutions_ms": 1_000,
        "grpc.use_local_subchannel_pool": 1, // closing one client is nothing to the others
        "grpc.enable_retries": 0, // retry.ts knows what is safe
        ...(tls && tls !== true && tls.serverName !== undefined && { "grpc.ssl_target_name_override": tls.serverName }),
        ...(options.compression && {
          "grpc.default_compression_algorithm": compressionAlgorithms[options.compression],
        }),
      });
    } catch (cause) {
      throw new InvalidArgumentError(cause instanceof Error ? cause.message : String(cause), {}, { cause });
    }
  }

  /** Of a call: who it is, and which history it goes on with. */
  #metadata(): Metadata {
    const all = this.#token.clone();
    for (const [key, value] of Object.entries(this.#history.metadata)) all.set(key, value);
    return all;
  }
  /** The fork of the store that answered this client; empty: nobody has said. */
  get fork(): string {
    return this.#history.fork;
  }
  /** Whose order the messages of a stream follow, before one of them is taken. Errors: as History.hearLed() */
  hearLed(led: string): void {
    this.#history.hearLed(led);
  }
  /** What an answer says of the history that it is of, before it is taken. */
  #hear(metadata: Metadata | undefined): void {
    if (!metadata) return;
    this.#history.hearFork(textIn(metadata, forkKey));
    this.#history.hearLed(textIn(metadata, ledKey));
  }

  /** Ends what is under way with CancelledError. */
  close(): void {
    this.#closing.abort(new Error("the client was closed"));
    this.#doors.close();
  }
  get closed(): boolean {
    return this.#closing.signal.aborted;
  }

  /** The greatest position that any answer told. */
  get seen(): number {
    return this.#seen;
  }
  see(position: number): void {
    this.#seen = Math.max(this.#seen, position);
  }
  #told(answer: object): void {
    for (const told of seenIn(answer)) {
      if (typeof told === "bigint" && told <= Number.MAX_SAFE_INTEGER) this.see(Number(told));
    }
  }

  /** Of a read that begins, or goes on as of a watermark: what one node may be waited for, `leftMs` in all. */
  atLeast(asked: number | undefined, leftMs: number): AtLeastField {
    const position = asked ?? (this.#readOwnWrites && this.#seen > 0 ? this.#seen : undefined);
    return position === undefined
      ? {}
      : { atLeast: { position: toUint64(position, "atLeast"), timeoutMs: this.#doors.waitAtOne(leftMs) } };
  }
  /** A node that has not come so far in its time is left alone, where there are others. */
  elsewhere(error: unknown): boolean {
    return this.#doors.several && error instanceof EvershardError && error.code === "timeout" && error.told;
  }
  /** The next try goes to another door, where there is one. Returns: the error, or that no address will ever work */
  failed<E>(door: Door | undefined, failed: E): E | EvershardError {
    if (!door || !(failed instanceof EvershardError)) return failed;
    const error = this.#doors.fault(door, failed);
    if ((error.retryable && error.code !== "overloaded") || this.elsewhere(error)) this.#doors.failed(door);
    return error;
  }
  worked(door: Door, answer: object): void {
    this.#doors.worked(door);
    this.#told(answer);
  }
  pick(): Promise<Door> {
    return this.#doors.pick();
  }
  /** As Doors says. */
  shardAndNode(first: string | Uint8Array): { shard: number | undefined; node: number } {
    return this.#doors.shardAndNode(first);
  }
  doorOf(node: number): Door | undefined {
    return this.#doors.doorOf(node);
  }

  /** One request, one answer, tried again where the connection or the server is not there. `request`: encoded once, for all tries. */
  async unary<I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>,
    request: MessageInitShape<I> | Uint8Array,
    options: AtLeast & CallOptions = {},
    kind: "read" | "append" | "change" = "read",
    first?: string | Uint8Array,
  ): Promise<MessageShape<O>> {
    const deadline = Date.now() + (options.timeoutMs ?? this.timeoutMs);
    const waits =
      !(request instanceof Uint8Array) && method.input.fields.some(({ localName }) => localName === "atLeast");
    const waitsUntil = Math.min(deadline, Date.now() + (options.atLeastTimeoutMs ?? Infinity));
    // The same bytes for each try, but for how long a server may wait.
    let bytes =
      request instanceof Uint8Array
        ? request
        : encode(method.input, {
            ...request,
            ...(waits && this.atLeast(options.atLeast, waitsUntil - Date.now())),
          } as MessageInitShape<I>);
    const scope = this.scope(options.signal);
    let tried = false;
    const attempt = async (): Promise<MessageShape<O>> => {
      // What its own node refused goes to any: the map may be old.
      const door = (first !== undefined && !tried && this.#doors.home(first)) || (await this.#doors.pick());
      tried = true;
      await this.connected(door, deadline, scope.signal);
      if (waits)
        bytes = encode(method.input, {
          ...(request as object),
          ...this.atLeast(options.atLeast, waitsUntil - Date.now()),
        } as MessageInitShape<I>);
      try {
        if (method.name === "PutSnapshot" && this.#doors.several) await this.#comeSoFar(door, deadline, scope.signal);
        const answer = decode(
          method.output,
          await this.#once(door, method, bytes, waits ? deadline + 500 : deadline, scope.signal),
        );
        this.worked(door, answer);
        return answer;
      } catch (error) {
        throw this.failed(door, error);
      }
    };
    const again = (error: EvershardError) => waits && this.elsewhere(error) && Date.now() < waitsUntil;
    try {
      return await retrying(
        {
          kind,
          several: this.#doors.several,
          deadline,
          unavailableTimeoutMs: this.unavailableTimeoutMs,
          signal: scope.signal,
          onRetry: this.onRetry,
          again,
        },
        attempt,
      );
    } finally {
      scope.end();
    }
  }

  /** Waits until a call on the door is sent, or fails, at once. Errors: UnavailableError: not in time, so nothing has arrived */
  async connected(door: Door, deadline: number, signal: AbortSignal): Promise<void> {
    const { IDLE, CONNECTING } = connectivityState;
    const channel = door.channel.getChannel();
    for (
      let pause = 1;
      [IDLE, CONNECTING].includes(channel.getConnectivityState(true));
      pause = Math.min(pause * 2, 20)
    ) {
      if (Date.now() >= deadline) {
        this.#doors.failed(door);
        throw new UnavailableError(`no connection to ${door.address} in time`);
      }
      await sleep(pause, signal);
    }
  }

  /** What must not be done twice: not sent again where it may have arrived. Errors: OutcomeUnknownError */
  change<I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>,
    request: MessageInitShape<I>,
    options: CallOptions = {},
  ): Promise<MessageShape<O>> {
    return this.unary(method, request, options, "change");
  }

  /** A snapshot may be of a version so new that this node has not heard of it. */
  async #comeSoFar(door: Door, deadline: number, signal: AbortSignal): Promise<void> {
    const behind = this.atLeast(undefined, deadline - Date.now());
    if (behind.atLeast)
      await this.#once(door, EventStore.method.head, encode(EventStore.method.head.input, behind), deadline, signal);
  }

  async #members(door: Door, deadline: number): Promise<MessageShape<typeof EventStore.method.members.output>> {
    const { input, output } = EventStore.method.members;
    return new Promise((resolve, reject) => {
      let told: Metadata | undefined;
      const call = door.channel.makeUnaryRequest(
        pathOf(EventStore.method.members),
        asBuffer,
        asBytes,
        encode(input, {}),
        this.#token,
        { deadline },
        (error, answer) => {
          try {
            if (!error && told) this.#history.hearMet(textIn(told, forkKey), textIn(told, ledKey), door.number === 0);
            if (!error && answer) resolve(decode(output, answer));
            else reject(new CallFailed(error?.code ?? 0, failure(error, this.#closing.signal)));
          } catch (cause) {
            reject(cause);
          }
        },
      );
      call.on("metadata", (metadata: Metadata) => (told = metadata));
    });
  }

  #once(door: Door, method: DescMethod, bytes: Uint8Array, deadline: number, signal: AbortSignal): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(cancelled(signal));
      let told: Metadata | undefined;
      const cancel = () => call.cancel();
      const call = door.channel.makeUnaryRequest(
        pathOf(method),
        asBuffer,
        asBytes,
        bytes,
        this.#metadata(),
        { deadline },
        (error, answer) => {
          signal.removeEventListener("abort", cancel);
          try {
            if (error || !answer) throw failure(error, signal);
            this.#hear(told);
            resolve(answer);
          } catch (cause) {
            reject(cause);
          }
        },
      );
      call.on("metadata", (metadata: Metadata) => (told = metadata));
      signal.addEventListener("abort", cancel, { once: true });
    });
  }

  /**
   * One request, many answers, once; leaving the loop ends the call. With `stallMs`, an answer that does not come in that time is a broken
   * connection; only the time counts in which somebody waits for it.
   */
  async *stream<I extends DescMessage, O extends DescMessage>(
    method: DescMethodServerStreaming<I, O>,
    request: Uint8Array,
    options: {
      signal: AbortSignal;
      deadline?: number | undefined;
      stallMs?: number | undefined;
      /** Told which fork the answers are of, before the first; empty: nobody has said. */
      onFork?: ((fork: string) => void) | undefined;
    },
  ): AsyncGenerator<MessageShape<O>, void, void> {
    const { signal, deadline, stallMs, onFork } = options;
    if (signal.aborted) throw cancelled(signal);
    const door = await this.#doors.pick();
    if (signal.aborted) throw cancelled(signal);
    await this.connected(door, deadline ?? Date.now() + this.timeoutMs, signal);
    const call = door.channel.makeServerStreamRequest(
      pathOf(method),
      asBuffer,
      asBytes,
      request,
      this.#metadata(),
      deadline === undefined ? {} : { deadline },
    );
    call.on("error", () => {}); // the iterator tells it too
    let told: Metadata | undefined;
    call.on("metadata", (metadata: Metadata) => (told = metadata));
    const cancel = () => call.cancel();
    signal.addEventListener("abort", cancel, { once: true });
    const answers = call[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>;
    try {
      for (;;) {
        let next: IteratorResult<Uint8Array>;
        try {
          next = await within(answers.next(), stallMs);
        } catch (error) {
          throw failure(error, signal);
        }
        if (next.done) return;
        if (signal.aborted) throw cancelled(signal); // what was received before it is not given after it
        if (told) {
          this.#hear(told);
          onFork?.(textIn(told, forkKey));
          told = undefined;
        }
        const answer = decode(method.output, next.value);
        this.worked(door, answer);
        yield answer;
      }
    } catch (error) {
      throw this.failed(door, error);
    } finally {
      signal.removeEventListener("abort", cancel);
      call.cancel();
    }
  }

  /** Many requests, many answers, as bytes; once. Its errors are for failure(). */
  duplex(door: Door, method: DescMethodBiDiStreaming): ClientDuplexStream<Uint8Array, Uint8Array> {
    const call = door.channel.makeBidiStreamRequest(pathOf(method), asBuffer, asBytes, this.#metadata(), {});
    call.on("error", () => {});
    // At several addresses a server that serves another fork refuses the call.
    call.on("metadata", (told: Metadata) => this.#history.several || this.#history.hearFork(textIn(told, forkKey)));
    return call;
  }

  /** Aborted with the caller's signal or when the client is closed; to be ended, so that a long-lived signal gathers no listeners. */
  scope(signal?: AbortSignal): { signal: AbortSignal; end(): void; abort(): void } {
    const controller = new AbortController();
    const sources = [this.#closing.signal, ...(signal ? [signal] : [])];
    const abort = (event: Event) => controller.abort((event.target as AbortSignal).reason);
    for (const source of sources) {
      if (source.aborted) controller.abort(source.reason);
      source.addEventListener("abort", abort, { once: true });
    }
    return {
      signal: controller.signal,
      abort: () => controller.abort(),
      end: () => {
        for (const source of sources) source.removeEventListener("abort", abort);
      },
    };
  }
}

function textIn(metadata: Metadata, key: string): string {
  const [value] = metadata.get(key);
  return typeof value === "string" ? value : "";
}

/** The positions that an answer shows to be there. */
export function seenIn(answer: object): unknown[] {
  // A group's own position is where somebody told it to begin.
  if (isMessage(answer, GroupInfoSchema)) return [answer.head];
  const { kind, events, watermark, lastPosition, position } = answer as {
    [field: string]: unknown;
    events?: { position: bigint }[];
  };
  // A subscription's watermark may be no more than what was asked for, beyond the head.
  return [kind === undefined ? watermark : events?.at(-1)?.position, lastPosition, position];
}

/** Looks at the files now: gRPC would find out with each connection, and try again. Errors: what OpenSSL says */
function secure({ root, cert, key }: Tls): ReturnType<typeof credentials.createSsl> {
  const pem = (text: Uint8Array | string | undefined): Buffer | null =>
    text === undefined ? null : Buffer.from(text as string);
  if (root !== undefined) new X509Certificate(pem(root)!);
  createSecureContext({
    ...(cert !== undefined && { cert: pem(cert)! }),
    ...(key !== undefined && { key: pem(key)! }),
  });
  return credentials.createSsl(pem(root), pem(key), pem(cert));
}

export function cancelled(signal: AbortSignal): CancelledError {
  const { reason } = signal;
  return new CancelledError(reason instanceof Error ? reason.message : "cancelled", {}, { cause: reason });
}

/** What a call of gRPC ended with. */
export function failure(error: unknown, signal: AbortSignal): EvershardError {
  if (signal.aborted) return cancelled(signal);
  if (error instanceof EvershardError) return error;
  const { code, details, metadata } = error as ServiceError;
  if (typeof code === "number") return errorOfStatus({ code, details, metadata: metadata ?? new Metadata() });
  return new UnavailableError(`the connection broke: ${String(error)}`, {}, { cause: error, outcomeUnknown: true });
}

/** Errors: UnavailableError: not in time */
export async function within<T>(promise: Promise<T>, ms: number | undefined): Promise<T> {
  if (ms === undefined) return promise;
  let timer: NodeJS.Timeout | undefined;
  try {
    return await Promise.race([
      promise,
      new Promise<never>((_, reject) => {
        timer = setTimeout(
          () => reject(new UnavailableError(`nothing was heard for ${ms} ms`, {}, { outcomeUnknown: true })),
          ms,
        );
      }),
    ]);
  } finally {
    clearTimeout(timer);
    promise.catch(() => {});
  }
}
