// Long work: a call that says how far it is, and at the end what came of it.

import type { DescMessage, DescMethodServerStreaming, MessageInitShape, MessageShape } from "@bufbuild/protobuf";

import { encode, type CallOptions, type Connection } from "./connection.js";
import { UnavailableError } from "./errors.js";
import type { WorkProgress } from "./gen/evershard/v1/service_pb.js";
import { toNumber } from "./ids.js";

/** `timeoutMs`: none without it: long work takes as long as it takes. `signal` stops it. */
export interface WorkOptions extends CallOptions {
  /** About twice a second, in the work's own unit. */
  onProgress?: ((done: number, total: number) => void) | undefined;
}

/** `each` is called for every message. Returns: the last one. Never tried again: it may have been done in part. */
export async function work<I extends DescMessage, O extends DescMessage>(
  connection: Connection,
  method: DescMethodServerStreaming<I, O>,
  request: MessageInitShape<I>,
  { signal, timeoutMs, onProgress }: WorkOptions = {},
  each?: (message: MessageShape<O>) => void,
): Promise<MessageShape<O>> {
  const scope = connection.scope(signal);
  try {
    let last: MessageShape<O> | undefined;
    const deadline = timeoutMs === undefined ? undefined : Date.now() + timeoutMs;
    for await (const message of connection.stream(method, encode(method.input, request), {
      signal: scope.signal,
      deadline,
    })) {
      last = message;
      each?.(message);
      const { progress } = message as { progress?: WorkProgress };
      if (progress) onProgress?.(toNumber(progress.done), toNumber(progress.total));
    }
    if (!last) throw new UnavailableError("the work ended without a result");
    return last;
  } finally {
    scope.end();
  }
}
