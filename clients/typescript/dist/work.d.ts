import type { DescMessage, DescMethodServerStreaming, MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import { type CallOptions, type Connection } from "./connection.js";
/** `timeoutMs`: none without it: long work takes as long as it takes. `signal` stops it. */
export interface WorkOptions extends CallOptions {
    /** About twice a second, in the work's own unit. */
    onProgress?: ((done: number, total: number) => void) | undefined;
}
/** Returns: the last message. Never tried again: it may have been done in part. */
export declare function work<I extends DescMessage, O extends DescMessage>(connection: Connection, method: DescMethodServerStreaming<I, O>, request: MessageInitShape<I>, { signal, timeoutMs, onProgress }?: WorkOptions): Promise<MessageShape<O>>;
