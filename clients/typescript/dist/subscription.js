// Subscription: a read that never ends, without a gap or a double over broken connections.
import { encode } from "./connection.js";
import { CancelledError, EvershardError, UnavailableError } from "./errors.js";
import { RecordedEvent } from "./event.js";
import { EventStore, SubscribeRequestSchema, SubscribeResponse_Kind as Kind } from "./gen/evershard/v1/service_pb.js";
import { toNumber, toUint64 } from "./ids.js";
import { backoffMs, sleep } from "./retry.js";
const kinds = { [Kind.EVENTS]: "events", [Kind.CAUGHT_UP]: "caught_up", [Kind.FELL_BEHIND]: "fell_behind", [Kind.HEARTBEAT]: "heartbeat" };
const awayAfterMs = 1_000; // a shorter break is nobody's business
export class Subscription {
    /** Of the last item that was taken. */
    watermark;
    /** Why the server is, while it has been for a second. `undefined`: it is there. */
    away;
    #connection;
    #query;
    #options;
    #head;
    constructor(connection, query, options, head) {
        this.#connection = connection;
        this.#query = query;
        this.#options = options;
        this.#head = head;
    }
    /** The events alone. */
    async *events() {
        for await (const item of this)
            if (item.kind === "events")
                yield* item.events;
    }
    /** Tries to connect until it is cancelled. Errors: what trying again does not help, such as InvalidQueryError, UnauthenticatedError */
    async *[Symbol.asyncIterator]() {
        const { heartbeatMs = 10_000 } = this.#options;
        const scope = this.#connection.scope(this.#options.signal);
        const { signal } = scope;
        let at = this.#options.after;
        try {
            for (let failed = 0, brokenAt = 0;; ++failed) {
                try {
                    at ??= await this.#head({ signal }); // "now" is once, not whenever a connection is made
                    const request = this.#request(at, heartbeatMs);
                    for await (const answer of this.#connection.stream(EventStore.method.subscribe, request, { signal, stallMs: heartbeatMs * 3 || undefined })) {
                        failed = 0;
                        this.#tellAway(undefined);
                        const item = itemOf(answer);
                        if (!item)
                            continue;
                        at = this.watermark = Math.max(at, item.watermark); // another node than before may be behind what was given
                        yield { ...item, watermark: at };
                    }
                    throw new UnavailableError("the server ended the subscription");
                }
                catch (error) {
                    if (!(error instanceof EvershardError) || !(error.retryable || error.code === "timeout"))
                        throw error;
                    if (failed === 0)
                        brokenAt = Date.now();
                    if (Date.now() - brokenAt >= awayAfterMs)
                        this.#tellAway(error);
                    this.#connection.onRetry?.(error, failed + 1);
                    await sleep(backoffMs(failed, error), signal);
                }
            }
        }
        catch (error) {
            if (!(error instanceof CancelledError && signal.aborted))
                throw error;
        }
        finally {
            scope.end();
        }
    }
    #tellAway(why) {
        const changed = (why === undefined) !== (this.away === undefined);
        this.away = why;
        if (changed)
            this.#options.onAway?.(why);
    }
    #request(after, heartbeatMs) {
        const { pageEventsMax } = this.#options;
        return encode(SubscribeRequestSchema, {
            query: this.#query.message(),
            after: toUint64(after, "after"),
            heartbeatMs,
            ...(pageEventsMax !== undefined && { pageEventsMax }),
        });
    }
}
/** Nothing, where it is of a kind that only a newer client knows. */
function itemOf({ kind, events, watermark }) {
    if (kind === Kind.UNSPECIFIED || !(kind in kinds))
        return undefined;
    const name = kinds[kind];
    return name === "events" ? { kind: name, events: events.map((event) => new RecordedEvent(event)), watermark: toNumber(watermark) } : { kind: name, watermark: toNumber(watermark) };
}
