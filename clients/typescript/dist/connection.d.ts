import { type DescMessage, type DescMethodBiDiStreaming, type DescMethodServerStreaming, type DescMethodUnary, type MessageInitShape, type MessageShape } from "@bufbuild/protobuf";
import { type ClientDuplexStream } from "@grpc/grpc-js";
import { type Door } from "./doors.js";
import { CancelledError, EvershardError } from "./errors.js";
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
export type AtLeastField = {
    atLeast?: {
        position: bigint;
        timeoutMs: number;
    };
};
/** Bytes of a message. Errors: InvalidArgumentError: a number out of range, a value of another type */
export declare function encode<Desc extends DescMessage>(schema: Desc, init: MessageInitShape<Desc>): Uint8Array;
export declare function decode<Desc extends DescMessage>(schema: Desc, bytes: Uint8Array): MessageShape<Desc>;
export declare class Connection {
    #private;
    readonly timeoutMs: number;
    readonly unavailableTimeoutMs: number;
    readonly onRetry: ConnectOptions["onRetry"];
    /** Connects with the first call. Errors: InvalidArgumentError */
    constructor(address: string | readonly string[], options: ConnectOptions);
    /** Ends what is under way with CancelledError. */
    close(): void;
    get closed(): boolean;
    /** The greatest position that any answer told. */
    get seen(): number;
    see(position: number): void;
    /** Of a read that begins, or goes on as of a watermark: what one node may be waited for, `leftMs` in all. */
    atLeast(asked: number | undefined, leftMs: number): AtLeastField;
    /** A node that has not come so far in its time is left alone, where there are others. */
    elsewhere(error: unknown): boolean;
    /** The next try goes to another door, where there is one. */
    failed(door: Door | undefined, error: unknown): void;
    worked(door: Door, answer: object): void;
    pick(): Promise<Door>;
    /** As Doors says. */
    shardAndNode(first: string | Uint8Array): {
        shard: number | undefined;
        node: number;
    };
    doorOf(node: number): Door | undefined;
    /** One request, one answer, tried again where the connection or the server is not there. `request`: encoded once, for all tries. */
    unary<I extends DescMessage, O extends DescMessage>(method: DescMethodUnary<I, O>, request: MessageInitShape<I> | Uint8Array, options?: AtLeast & CallOptions, kind?: "read" | "append" | "change", first?: string | Uint8Array): Promise<MessageShape<O>>;
    /** Waits until a call on the door is sent, or fails, at once. Errors: UnavailableError: not in time, so nothing has arrived */
    connected(door: Door, deadline: number, signal: AbortSignal): Promise<void>;
    /** What must not be done twice: not sent again where it may have arrived. Errors: OutcomeUnknownError */
    change<I extends DescMessage, O extends DescMessage>(method: DescMethodUnary<I, O>, request: MessageInitShape<I>, options?: CallOptions): Promise<MessageShape<O>>;
    /**
     * One request, many answers, once; leaving the loop ends the call. With `stallMs`, an answer that does not come in that time is a broken
     * connection; only the time counts in which somebody waits for it.
     */
    stream<I extends DescMessage, O extends DescMessage>(method: DescMethodServerStreaming<I, O>, request: Uint8Array, options: {
        signal: AbortSignal;
        deadline?: number | undefined;
        stallMs?: number | undefined;
    }): AsyncGenerator<MessageShape<O>, void, void>;
    /** Many requests, many answers, as bytes; once. Its errors are for failure(). */
    duplex(door: Door, method: DescMethodBiDiStreaming): ClientDuplexStream<Uint8Array, Uint8Array>;
    /** Aborted with the caller's signal or when the client is closed; to be ended, so that a long-lived signal gathers no listeners. */
    scope(signal?: AbortSignal): {
        signal: AbortSignal;
        end(): void;
        abort(): void;
    };
}
/** The positions that an answer shows to be there. */
export declare function seenIn(answer: object): unknown[];
export declare function cancelled(signal: AbortSignal): CancelledError;
/** What a call of gRPC ended with. */
export declare function failure(error: unknown, signal: AbortSignal): EvershardError;
/** Errors: UnavailableError: not in time */
export declare function within<T>(promise: Promise<T>, ms: number | undefined): Promise<T>;
