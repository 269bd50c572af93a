// Long work: a call that says how far it is, and at the end what came of it.
import { encode } from "./connection.js";
import { UnavailableError } from "./errors.js";
import { toNumber } from "./ids.js";
/** Returns: the last message. Never tried again: it may have been done in part. */
export async function work(connection, method, request, { signal, timeoutMs, onProgress } = {}) {
    const scope = connection.scope(signal);
    try {
        let last;
        const deadline = timeoutMs === undefined ? undefined : Date.now() + timeoutMs;
        for await (const message of connection.stream(method, encode(method.input, request), { signal: scope.signal, deadline })) {
            last = message;
            const { progress } = message;
            if (progress)
                onProgress?.(toNumber(progress.done), toNumber(progress.total));
        }
        if (!last)
            throw new UnavailableError("the work ended without a result");
        return last;
    }
    finally {
        scope.end();
    }
}
